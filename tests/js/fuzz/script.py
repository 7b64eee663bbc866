# SPDX-License-Identifier: MIT
"""Random scripts: from the grammar beside this file, and from fixtures whose tokens are exchanged. The same seed gives the same script."""
import pathlib
import random
import re

HERE = pathlib.Path(__file__).resolve().parent
PRELUDE = (HERE / 'prelude.mjs').read_text('utf-8')
DEEPEST = 9  # from here on symbols take their first text
MOST = 6000  # characters that a script grows to, about
SYMBOL = re.compile(r'\$([A-Z]+)')
TOKEN = re.compile(r'''//[^\n]*|/\*.*?\*/|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`|[A-Za-z_$][\w$]*|\d[\w.]*|\s+|=>|\?\?|\*\*|.''',
                   re.S)
# What a script of exchanged tokens must not get hold of: other processes, files, and memory that anything could be written to.
FORBIDDEN = re.compile(r'child_process|weft:process|weft:ffi|\bfs\b|weft:fs|node:fs|process\.(kill|abort|chdir)|cluster|execPath|worker|repl')
# Of statements, those that are not spoilt for the same reason.
UNTOUCHED = re.compile(r'\bC\.|\bM\.|ffi|\bfs\b|\bopen\(|FileSync|Stream\(.(one|two)')

AWAIT = re.compile(r'\bawait (?!using)|(?<=for) await')
# The head of a function before its brace: of an async one the group says so.
FUNCTION = re.compile(r'(?:^|[\s(,;{])(async )?(?:(?:function\*?)? ?(?!if|for|while|switch|catch)(?:[\w$]+|\[[^]]*\])?\([^()]*\)(?: =>)?|\w+ =>|static|class[^{]*) $')
EXPRESSIONS = {'X', 'ANY', 'FN', 'OBJECT', 'ARRAY', 'ITERABLE', 'HOSTILE', 'NUMBER', 'TEXT', 'SIZE', 'JSON', 'PROMISE', 'BYTES', 'BUFFER', 'DATA',
               'CHANNEL', 'LOCK', 'REGEXP', 'SIGNAL', 'OPTIONS', 'KEY', 'PLACE', 'DISPOSABLE'}
CONFUSED = EXPRESSIONS - {'X', 'ANY'}
SEAM = re.compile(r'([;{]) ')  # where a line may end, for who cuts it down
SIMPLE = re.compile(r"[A-Za-z_][\w.]*|\d+|'[^'\\]*'|\(\w*\)")


class Grammar:
    def __init__(self, text):
        self.texts = {}
        for line in text.splitlines():
            if line and not line.startswith('#'):
                symbol, _, replacement = line.partition(': ')
                self.texts.setdefault(symbol, []).append(replacement.replace('\\n', '\n'))


class Maker:
    """One script's maker. Everything random comes from its own generator."""

    def __init__(self, grammar, corpus, seed):
        self.grammar = grammar
        self.corpus = corpus
        self.random = random.Random(seed)
        self.size = 0

    def script(self):
        """The text of a script and the options it is to be run with."""
        chance = self.random.random()
        if chance < 0.25 and self.corpus:
            body = self.spoil(self.random.choice(self.corpus), self.random.randint(1, 12))
        else:
            lines = [self.statement() for _ in range(self.random.randint(3, 30))]
            body = PRELUDE + SEAM.sub(r'\1\n', '\n'.join(lines)) + '\n'
        return body, self.options()

    def statement(self):
        text = self.expand('S', 0)
        return text if self.random.random() < 0.03 else f'try {{ {text} }} catch (e) {{ note(e); }}'

    def options(self):
        memory = self.random.choice(['4m', '6m', '8m', '16m', '32m'])
        options = [f'--max-memory={memory}', '--max-run=' + self.random.choice(['100ms', '400ms', '1s'])]
        if self.random.random() < 0.3:
            options.append('--max-stack=' + self.random.choice(['256k', '1m', '16m']))
        if self.random.random() < 0.5:
            options.append('--workers=' + self.random.choice('123'))
        return options

    def expand(self, symbol, depth, may_await=True):
        if symbol == 'SOURCE':
            return self.source(depth)
        texts = self.grammar.texts[symbol]
        is_deep = depth >= DEEPEST or self.size > MOST
        text = texts[0] if is_deep else self.random.choice(texts)
        if symbol in CONFUSED and not is_deep and self.random.random() < 0.02:
            text = '$X'  # where something else is meant
        self.size += len(text)
        if not may_await:
            text = AWAIT.sub('', text)
        places = waiting_places(text, may_await)
        text = SYMBOL.sub(lambda match: self.expand(match.group(1), depth + 1, match.start() in places), text)
        return f'({text})' if symbol in EXPRESSIONS and not SIMPLE.fullmatch(text) else text

    def source(self, depth):
        text = self.expand('S', depth + 2, False)
        if UNTOUCHED.search(text):
            text = 'note(1)'
        return repr_text(self.spoil(text, self.random.randint(0, 2)))

    def spoil(self, text, times):
        """The text with some of its tokens replaced, mostly by others of their kind, exchanged, doubled or taken out."""
        tokens = TOKEN.findall(text)
        for _ in range(times):
            if not tokens:
                break
            at = self.random.randrange(len(tokens))
            what = self.random.randrange(12)
            if what == 0:
                tokens[at] = self.expand('ANY', DEEPEST - 3, False)
            elif what == 1:
                del tokens[at:at + self.random.randint(1, 4)]
            elif what == 2:
                tokens[at:at] = tokens[at:at + self.random.randint(1, 30)]
            elif what == 3:
                tokens.insert(at, self.expand('S', DEEPEST - 4, False))
            else:
                others = TOKEN.findall(self.random.choice(self.corpus)) if what > 8 and self.corpus else tokens
                alike = [each for each in others if kind_of(each) == kind_of(tokens[at])]
                tokens[at] = self.random.choice(alike or tokens)
        return ''.join(tokens)


def kind_of(token):
    return 'a' if token[0].isalpha() else '0' if token[0].isdigit() else token[0]


def waiting_places(text, may_await):
    """Where in a text of the grammar symbols stand that may wait by await: not inside of functions that are not async."""
    places, outer, at = set(), [], 0
    for match in re.finditer(r'\$[A-Z]+|[{}]|=>(?! *\{)|function\*? ?\(|class\b', text):
        at = match.start()
        if match.group() == '{':
            outer.append(may_await)
            head = FUNCTION.search(text[:at])
            may_await = bool(head.group(1)) if head else may_await
        elif match.group() == '}':
            may_await = outer.pop() if outer else may_await
        elif match.group()[0] != '$':
            may_await = False
        elif may_await:
            places.add(at)
    return places


def repr_text(text):
    """A literal of JavaScript for any text."""
    return "'" + re.sub(r"[\\'\n\r\u2028\u2029]|(?<=[;{]) ", lambda match: f'\\u{ord(match.group()):04x}', text) + "'"


def load(folders):
    """The grammar, and the fixtures of these folders that may be spoilt."""
    corpus = []
    for folder in folders:
        for file in sorted(pathlib.Path(folder).glob('*.*js')):
            text = file.read_text('utf-8', 'replace')
            if not FORBIDDEN.search(text) and len(text) < 20000:
                corpus.append(text)
    return Grammar((HERE / 'grammar').read_text('utf-8')), corpus
