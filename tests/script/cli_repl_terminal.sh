#!/usr/bin/env bash
# weft repl on a terminal: editing, history, completion, ctrl-c, and that the terminal is afterwards what it was before.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/cli_support.bash"
"$weft" run -e '' 2>/dev/null || exit 77 # JavaScript is not part of this build
command -v python3 >/dev/null || exit 77 # nobody to make a terminal
cd "$scratch/tmp"
cat >"$scratch/drive.py" <<'END'
import fcntl, os, pty, re, select, signal, struct, sys, termios, time

WEFT = sys.argv[1]
PATIENCE = 60  # seconds until what is expected will not come any more

class Terminal:
    def __init__(self, env=None, columns=80):
        self.seen = ''
        self.raw = b''
        environment = {**os.environ, 'TERM': 'xterm', 'NO_COLOR': '1', 'WEFT_HISTORY': '', **(env or {})}
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack('HHHH', 24, columns, 0, 0))
        self.before = termios.tcgetattr(slave)
        self.slave = slave
        self.pid = os.fork()
        if self.pid == 0:
            os.setsid()
            fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
            for fd in (0, 1, 2):
                os.dup2(slave, fd)
            os.close(self.master)
            os.execve(WEFT, [WEFT, 'repl'], {name: value for name, value in environment.items() if value is not None})
        self.expect('> $')

    def read(self, deadline):
        ready, _, _ = select.select([self.master], [], [], max(deadline - time.monotonic(), 0))
        if not ready:
            raise SystemExit(f'waited in vain; seen so far: {self.seen!r}')
        try:
            piece = os.read(self.master, 65536)
        except OSError:
            piece = b''
        self.raw += piece
        return piece

    # What is seen from the last expectation on, without colours and movements.
    def expect(self, pattern):
        deadline = time.monotonic() + PATIENCE
        while not re.search(pattern, self.seen):
            piece = self.read(deadline)
            if not piece:
                raise SystemExit(f'ended before {pattern!r}; seen: {self.seen!r}')
            text = self.raw.decode('utf-8', 'replace')
            self.seen = re.sub(r'\x1b\[[\d;?]*[A-Za-z]|\r', '', text)
        found = re.search(pattern, self.seen)
        self.raw, self.seen = b'', ''
        return found

    def type(self, text, pattern=None):
        os.write(self.master, text.encode() if isinstance(text, str) else text)
        return self.expect(pattern) if pattern else None

    # A line, what it prints, and the next prompt.
    def run(self, line, pattern):
        return self.type(line + '\r', r'(?s)' + pattern + r'\n.*> $')

    def ends(self, status=0):
        while True:
            ready, _, _ = select.select([self.master], [], [], 0.05)
            if ready:
                try:
                    os.read(self.master, 65536)
                except OSError:
                    pass
            done, code = os.waitpid(self.pid, os.WNOHANG)
            if done:
                break
        code = os.waitstatus_to_exitcode(code)
        assert code == status, f'status {code} instead of {status}'
        after = termios.tcgetattr(self.slave)
        assert after == self.before, 'the terminal is not what it was'
        os.close(self.master)
        os.close(self.slave)

def editing():
    t = Terminal()
    t.run('1 + 1', '2')
    t.run('1 + 3\x01\x1b[C\x1b[C\x1b[C\x1b[C\x1b[3~7', '8')           # home, right, delete
    t.run('12\x02\x02-\x05 - 1', '-13')                                 # left twice, end
    t.run('"abc def"\x17\x17x"', "'x'")                                # words before the cursor
    t.run('5 garbage\x1bb\x0b', '5')                                    # a word to the left, the rest
    t.run('garbage\x157', '7')                                          # all before the cursor
    t.run('(4)\x15\x19', '4')                                           # and back again
    t.run('\x1b[H2\x1b[F + 2\x1b[1~1 + ', '5')                          # home and end
    t.run('"ä€😀"\x1b[D\x7f.length'.replace('.length', '') + '\x05.length', '2')  # a letter of two units
    t.run('"' + 'y' * 300 + '".length', '300')                          # over several rows
    t.run('ab\x14', 'Uncaught ReferenceError: ba is not defined')       # two letters change places
    t.type('1\x0c', r'> 1$')
    t.type('\x15\x04')
    t.ends()

def lines():
    t = Terminal()
    t.type('function f() {\r', r'\.\.\. $')
    t.type('return 6\r', r'\.\.\. $')
    t.run('}', 'undefined')
    t.run('f()', '6')
    t.type('\x1b[200~let p = 1\r\tlet q = 2\r\x1b[201~', r'(?s)undefined\n.*undefined\n.*> $')
    t.run('p + q', '3')
    t.type('.editor\r', 'ctrl-d')
    t.type('const a = 1\rconst b = 2\ra +\rb\r\x04', r'(?s)\n3\n.*> $')
    t.type('.editor\r', 'ctrl-d')
    t.type('nonsense(\r')
    t.type('\x03', r'> $')
    t.type('if (true) {\r', r'\.\.\. $')
    t.type('\x03', r'> $')
    t.run('.break', '')
    t.type('.exit\r')
    t.ends()

def histories():
    file = os.path.join(os.getcwd(), 'history')
    t = Terminal({'WEFT_HISTORY': file})
    t.run('let one = "first"', 'undefined')
    t.run('2 * 21', '42')
    t.run('\x1b[A', '42')
    t.run('\x1b[A\x1b[A', 'undefined')
    t.run('typed\x1b[A\x1b[A\x1b[B\x1b[B\x15one', "'first'")
    t.type('\x04')
    t.ends()
    assert os.stat(file).st_mode & 0o777 == 0o600, 'others can read the history'
    assert open(file).read() == 'let one = "first"\n2 * 21\nlet one = "first"\none\n', open(file).read()
    t = Terminal({'WEFT_HISTORY': file})
    t.run('\x122 *\r', '42')                                            # search backwards
    t.type('\x12let', "search")
    t.type('\x07', r'> $')
    t.type('.exit\r')
    t.ends()
    t = Terminal({'WEFT_HISTORY': os.getcwd()})                         # a folder
    t.run('"goes on"', "'goes on'")
    t.type('.exit\r')
    t.ends()
    t = Terminal({'XDG_STATE_HOME': os.path.join(os.getcwd(), 'state'), 'WEFT_HISTORY': None})
    t.run('"kept"', "'kept'")
    t.type('.exit\r')
    t.ends()
    assert open('state/weft/history').read() == '"kept"\n.exit\n', 'no history in XDG_STATE_HOME'
    with open(file, 'w') as out:
        out.writelines(f'{i}\n' for i in range(2500))
    t = Terminal({'WEFT_HISTORY': file})
    t.type('.exit\r')
    t.ends()
    assert len(open(file).readlines()) == 1001, 'the history is not cut'

def completion():
    t = Terminal()
    t.run('structuredCl\t.length', '1')
    t.run('Math.hyp\t(3, 4)', '5')
    t.type('Math.a\t\t', r'(?s)acosh.*atanh.*> Math\.a$')
    t.run('\x15require("node:path/po\t").sep', "'/'")
    t.run('let trap = { get bad() { throw new Error("looked at"); }, good: { deep: 5 } }', 'undefined')
    t.run('trap.good.de\t', '5')
    t.run('trap.bad.x\t; 1\x7f\x7f\x7f\x15"whole"', "'whole'")
    t.type('.he\t\r', r'(?s)\.save.*> $')
    t.type('\x04')
    t.ends()

def interrupts():
    t = Terminal()
    t.type('some text')
    t.type('\x03', r'> $')
    t.run('1', '1')
    t.type('console.log("spins"); for (;;) try { for (;;); } catch {}\r', r'spins\n')
    t.type('\x03', r'(?s)Uncaught.*interrupted by `SIGINT`.*> $')
    t.run('"still here"', "'still here'")
    t.type('console.log("begun"); await new Promise(() => {})\r', r'begun\n')
    t.type('\x03', r'(?s)Uncaught.*interrupted by `SIGINT`.*> $')
    t.type('setTimeout(() => { console.log("spins"); for (;;); }, 1); 0\r', r'spins\n')
    t.type('\x03', r'(?s)Uncaught.*interrupted by `SIGINT`.*> $')
    t.run('"alive"', "'alive'")
    t.type('\x03', r'(?s)To exit, press Ctrl\+C again.*> $')
    t.run('2', '2')
    t.type('\x03', r'(?s)To exit, press Ctrl\+C again.*> $')
    t.type('\x03')
    t.ends()

def others():
    t = Terminal()
    t.type('setTimeout(() => console.log("from a timer"), 1); 0\r', r'from a timer\n> $')
    t.type('require("weft:go").go(() => { console.log("from a fiber"); }); 0\r', r'(?s)from a fiber\n.*> $')
    t.type('Promise.reject(new Error("nobody")); 0\r', r'(?s)Uncaught Error: nobody\n.*> $')
    t.type('unfinished', r'unfinished$')
    os.kill(t.pid, signal.SIGTERM)
    t.ends(-signal.SIGTERM)
    t = Terminal()
    t.type('setTimeout(() => process.exit(3), 1)\r')
    t.ends(3)
    t = Terminal()
    t.type(b'"\xff\xfe\x00"\r', r'(?s)\n.*> $')
    t.run('1', '1')
    t.type('process.exit(4)\r')
    t.ends(4)
    t = Terminal(columns=20)
    t.run('"' + 'wide 漢字' * 20 + '".length', '140')
    t.type('\x04')
    t.ends()

for part in (editing, lines, histories, completion, interrupts, others):
    print(part.__name__, flush=True)
    part()
END
try 0 python3 "$scratch/drive.py" "$weft"
echo "all as it should be"
