// SPDX-License-Identifier: MIT
// marked: Markdown to HTML.
import { marked, Marked, Lexer } from 'marked';

console.log(marked.parse(`# Title *with* emphasis

A paragraph with **bold**, \`code\`, [a link](http://example.org "title"), ![image](x.png) and <span>html</span>.
Auto: https://example.org/?a=1&b=2

- one
- two
  1. nested
  2. list
- [x] done

> quoted
> text

| a | b |
|---|:-:|
| 1 | 2 |

\`\`\`js
const x = '<tag>';
\`\`\`

Line${'  '}
break\\
here ~~gone~~ &copy; \\*no\\*

***
[ref]: http://example.org/ref
See [ref].`));
const other = new Marked({
    renderer: { heading({ tokens, depth }) { return `<h${depth} class="x">${this.parser.parseInline(tokens)}</h${depth}>\n`; } },
    extensions: [{
        name: 'at', level: 'inline', start: (text) => text.indexOf('@'),
        tokenizer(text) {
            const match = /^@(\w+)/.exec(text);
            return match ? { type: 'at', raw: match[0], name: match[1] } : undefined;
        },
        renderer: (token) => `<a href="/u/${token.name}">@${token.name}</a>`,
    }],
});
console.log(other.parse('## Hi @ada'));
console.log(Lexer.lex('a\n\n- b').map((token) => token.type).join(), marked.parseInline('_x_'));
console.log(await marked.parse('*later*', { async: true }));
