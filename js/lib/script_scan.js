// SPDX-License-Identifier: MIT
// js/lib/script_scan.js - the tokens of a text of JavaScript or TypeScript, for those who change it before the engine reads it.
//
// A token is { type, value, start, end, newline }: 'name' (keywords too), 'private', 'number', 'string', 'template', 'regex',
// 'mark', 'end', or 'open' for what begins and does not end: its value is 'string', 'template', 'regex' or 'comment'. newline: there
// is a line terminator before it. A template without substitutions is one token; else its value is '${', and after the closing brace
// whoever reads goes on with template(). Whether a slash begins a regular expression is the reader's to say. '>' is always alone,
// since types may end with several of them.
(function () {
    'use strict';
    const ESCAPE = '\\\\u\\{[0-9a-fA-F]+\\}|\\\\u[0-9a-fA-F]{4}';
    const NAME = new RegExp(`(?:[\\p{ID_Start}$_]|${ESCAPE})(?:[\\p{ID_Continue}$\\u200c\\u200d]|${ESCAPE})*`, 'uy');
    const NUMBER = /0[xX][0-9a-fA-F_]+n?|0[oO][0-7_]+n?|0[bB][01_]+n?|(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][+-]?[\d_]+)?n?/y;
    const LINE = /[^\n\r\u2028\u2029]*/y;
    const BLANK = /[\t\v\f \u00a0\ufeff\p{Zs}]+/uy;
    // Marks of more than one letter, by the first one, the longest first.
    const MARKS = Object.create(null);
    for (const mark of ['...', '=>', '===', '!==', '**=', '&&=', '||=', '??=', '<<=', '==', '!=', '<=', '<<', '**', '++', '--', '+=',
        '-=', '*=', '/=', '%=', '&=', '|=', '^=', '&&', '||', '??', '?.'])
        (MARKS[mark[0]] ??= []).push(mark);
    // Letters of plain names: 1; digits, with which they cannot begin: 2.
    const LETTERS = new Uint8Array(128);
    for (const letter of 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ$_')
        LETTERS[letter.charCodeAt(0)] = 1;
    LETTERS.fill(2, 48, 58);
    const isLineEnd = (code) => code === 10 || code === 13 || code === 0x2028 || code === 0x2029;

    function scanner(text, at = 0) {
        const match = (pattern) => {
            pattern.lastIndex = at;
            return pattern.exec(text)?.[0];
        };

        // Past blanks and comments. Whether there was a line's end; undefined: a comment does not end.
        function skip() {
            let newline = at === 0;
            while (at < text.length) {
                const code = text.charCodeAt(at);
                if (isLineEnd(code)) {
                    newline = true;
                    at++;
                } else if (code === 47 && text[at + 1] === '/' || code === 35 && text[at + 1] === '!' && at === 0) {
                    at += match(LINE).length;
                } else if (code === 47 && text[at + 1] === '*') {
                    const end = text.indexOf('*/', at + 2);
                    if (end < 0)
                        return undefined;
                    newline ||= /[\n\r\u2028\u2029]/.test(text.slice(at, end));
                    at = end + 2;
                } else if (code === 32 || code === 9) {
                    at++;
                } else if (code > 32 && code < 128) {
                    break;
                } else {
                    const blank = match(BLANK);
                    if (blank === undefined)
                        break;
                    at += blank.length;
                }
            }
            return newline;
        }

        // The end of a string that begins here; undefined: it has none in its line.
        function stringEnd(quote) {
            for (let i = at + 1; i < text.length; i++) {
                if (text[i] === quote)
                    return i + 1;
                if (text[i] === '\\')
                    i += text[i + 1] === '\r' && text[i + 2] === '\n' ? 2 : 1;
                else if (text[i] === '\n' || text[i] === '\r')
                    return undefined;
            }
            return undefined;
        }

        function regexEnd() {
            let isClass = false;
            for (let i = at + 1; i < text.length && !isLineEnd(text.charCodeAt(i)); i++) {
                if (text[i] === '\\')
                    i++;
                else if (text[i] === '[')
                    isClass = true;
                else if (text[i] === ']')
                    isClass = false;
                else if (text[i] === '/' && !isClass) {
                    at = i + 1;
                    return at + (match(/[\p{ID_Continue}$]*/uy)?.length ?? 0);
                }
            }
            return undefined;
        }

        const token = (type, value, start, end, newline) => {
            at = end;
            return { type, value, start, end, newline };
        };
        const open = (value, start, newline) => token('open', value, start, text.length, newline);

        // The rest of a template, from behind its first quote or the brace that ends a substitution.
        function template(start = at, newline = false) {
            for (let i = at; i < text.length; i++) {
                if (text[i] === '`')
                    return token('template', '`', start, i + 1, newline);
                if (text[i] === '$' && text[i + 1] === '{')
                    return token('template', '${', start, i + 2, newline);
                if (text[i] === '\\')
                    i++;
            }
            return open('template', start, newline);
        }

        function next(mayBeRegex) {
            const newline = skip();
            const start = at;
            if (newline === undefined)
                return open('comment', start, false);
            if (at >= text.length)
                return token('end', '', start, start, newline);
            const code = text.charCodeAt(at);
            const letter = text[at];
            if (code === 34 || code === 39) {
                const end = stringEnd(letter);
                return end === undefined ? open('string', start, newline) : token('string', letter, start, end, newline);
            }
            if (letter === '`') {
                at++;
                return template(start, newline);
            }
            if (letter === '/' && mayBeRegex) {
                const end = regexEnd();
                return end === undefined ? open('regex', start, newline) : token('regex', '/', start, end, newline);
            }
            if ((code >= 48 && code <= 57) || (letter === '.' && /[0-9]/.test(text[at + 1] ?? ''))) {
                const value = match(NUMBER);
                return token('number', value, start, start + value.length, newline);
            }
            const isPrivate = letter === '#';
            const end = nameEnd(isPrivate ? start + 1 : start);
            if (end > start + (isPrivate ? 1 : 0))
                return token(isPrivate ? 'private' : 'name', text.slice(isPrivate ? start + 1 : start, end), start, end, newline);
            const mark = MARKS[letter]?.find((one) => text.startsWith(one, start)) ?? String.fromCodePoint(text.codePointAt(start));
            const isChain = mark === '?.' && /[0-9]/.test(text[start + 2] ?? ''); // a ?.5 : 1
            return token('mark', isChain ? '?' : mark, start, start + (isChain ? 1 : mark.length), newline);
        }

        // The end of a name that begins there; where it begins: there is none. With escapes it is never a keyword.
        function nameEnd(start) {
            let end = start;
            if (LETTERS[text.charCodeAt(start)] !== 2)
                while (LETTERS[text.charCodeAt(end)] > 0)
                    end++;
            const code = text.charCodeAt(end);
            if (code !== 92 && !(code >= 128))
                return end;
            NAME.lastIndex = start;
            return start + (NAME.exec(text)?.[0].length ?? 0);
        }

        return { next, template, tell: () => at, seek: (place) => { at = place; } };
    }

    // ---- All tokens of a script, where nobody parses: what a slash means is guessed by what is before it ----

    const BEFORE_VALUE = new Set(['return', 'typeof', 'instanceof', 'in', 'of', 'new', 'delete', 'void', 'throw', 'case',
        'do', 'else', 'yield', 'await', 'default', 'extends']);
    const BEFORE_STATEMENT = new Set(['if', 'while', 'for', 'with']);

    // Whether the token ends a value, so that a slash after it divides. opened: what was before the bracket that it closes.
    function endsValue(token, opened) {
        if (token === undefined)
            return false;
        if (token.type === 'name')
            return !BEFORE_VALUE.has(token.value);
        if (token.type !== 'mark')
            return token.type !== 'template' || token.value === '`';
        if (token.value === ')')
            return !(opened?.type === 'name' && BEFORE_STATEMENT.has(opened.value));
        return token.value === ']' || token.value === '}' || token.value === '++' || token.value === '--';
    }

    // { list, open, isBalanced }: open is what does not end, and list then goes up to it. Each token has its depth: how many brackets
    // are open around it.
    function tokensOf(text) {
        const scan = scanner(text);
        const list = [], brackets = [];
        const pairs = { ')': '(', ']': '[', '}': '{' };
        let last, opened, isBalanced = true;
        for (;;) {
            let token = scan.next(!endsValue(last, opened));
            const isSubstituted = token.value === '}' && token.type === 'mark' && brackets.at(-1)?.value === '${';
            if (isSubstituted) {
                brackets.pop();
                token = scan.template(token.end);
                token.start--;
            }
            if (token.type === 'open')
                return { list, open: token.value, isBalanced };
            if (token.type === 'end')
                return { list, open: brackets.length > 0 ? 'bracket' : undefined, isBalanced };
            opened = undefined;
            if (token.type === 'mark' && Object.hasOwn(pairs, token.value)) {
                const bracket = brackets.pop();
                isBalanced &&= bracket?.value === pairs[token.value];
                opened = bracket?.before;
            }
            token.depth = brackets.length;
            const isOpening = token.type === 'mark' ? '([{'.includes(token.value) : token.type === 'template' && token.value === '${';
            if (isOpening)
                brackets.push({ value: token.value, before: last });
            list.push(token);
            last = token;
        }
    }

    return { scanner, tokensOf, endsValue };
})
