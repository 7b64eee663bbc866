// SPDX-License-Identifier: MIT
// js/lib/repl.js - weft repl: reads what somebody types, runs it, and prints what it is worth.
// host: replSpare(), replRun(text, name, isAsync), isTTY(fd), write(fd, text)
//
//     PROMPT --line--> COLLECT --the text is not ended--> PROMPT (...)
//                         '----it is ended--> RUN --value, error, ctrl-c--> PROMPT
//
// Lines wait while a text runs, which it does until what it awaits has come. Timers and fibers go on all the time: what they print on
// a terminal comes above the line that is being typed, and what nobody catches is printed, too. Input that is no terminal is read in the
// same way, without prompts, and the program then ends as any script does.
(function (host, need) {
    'use strict';
    const { prepare } = need('repl_text');
    const { inspect } = need('inspect');
    const { nodeError } = need('node_error');
    const then = Promise.prototype.then;
    const INTERRUPTED = /^InternalError: interrupted\b.*by the program$/m;
    const FRAME = /^(?:\x1b\[\d+m)* +at /; // eslint-disable-line no-control-regex
    const OWN_FRAME = / at (?:replCheck \(native\)|(?:(?:async )?<\w+> \()?(?:REPL\d+:|repl:)|.*weft:internal\/repl)/;
    const HELP = {
        '.break': 'Forget what is typed of a text that is not ended', '.clear': 'The same',
        '.editor': 'Type several lines: ctrl-d runs them, ctrl-c forgets them', '.exit': 'End', '.help': 'This list',
        '.load': 'Run the text of a file', '.save': 'Write what was run to a file',
    };

    const isTerminal = host.isTTY(0) && host.isTTY(1);
    const hasColors = () => isTerminal && globalThis.process.stdout.hasColors?.();
    const print = (text) => void host.write(1, `${text}\n`);

    let editor; // of a terminal
    let history;
    let lines = []; // that have come, and wait
    let hasEnded = false; // there will be no more
    let text = ''; // lines of a text that is not ended
    let isCollecting = false; // .editor
    let run; // what is running: {}
    let isWarned = false; // the last key was a ctrl-c on an empty line
    let isStopped = false; // a run was ended by ctrl-c, which is still to be told
    let count = 0;
    const done = []; // texts that were run, for .save

    // ---- _ and _error ----

    const last = { _: undefined, _error: undefined };

    function offerLast(name, what) {
        let isTaken = false;
        Object.defineProperty(globalThis, name, {
            configurable: true,
            get: () => last[name],
            set(value) {
                last[name] = value;
                if (!isTaken)
                    print(`${what} assignment to ${name} now disabled.`);
                isTaken = true;
            },
        });
        return (value) => {
            if (!isTaken)
                last[name] = value;
        };
    }
    let setLast, setLastError;

    // ---- Printing ----

    function showValue(value) {
        setLast(value);
        try {
            print(inspect(value, { colors: hasColors(), showProxy: true }));
        } catch (error) {
            showError(error);
        }
    }

    // A stack without our own frames: those below the text, and those of the library.
    function withoutOurs(shown) {
        const kept = [];
        let isBelow = false;
        for (const line of shown.split('\n')) {
            const isFrame = FRAME.test(line);
            isBelow = isFrame && (isBelow || OWN_FRAME.test(line));
            if (!isBelow && !(isFrame && line.includes('weft:internal/')))
                kept.push(line);
            else if (line.endsWith(' {'))
                kept.push(`${kept.pop()} {`);
        }
        return kept.join('\n');
    }

    function showError(error) {
        setLastError(error);
        let shown;
        try {
            shown = withoutOurs(inspect(error, { colors: hasColors() }));
            if (host.typeTag(error) === 'Error')
                shown = shown.replace(/^\[([^]*?)\](?=$| \{)/, '$1');
        } catch {
            shown = host.plainError(error) ?? 'a value that cannot be shown';
        }
        const isMarked = isTerminal && error === interruptedBy; // the terminal has shown ^C
        print(`${isMarked ? '\n' : ''}Uncaught${/^[^\n]*:\n/.test(shown) ? ':\n' : ' '}${shown}`);
    }

    // ---- Running ----

    let interruptedBy; // the last error of this kind

    function interruption() {
        interruptedBy = nodeError(Error, 'ERR_SCRIPT_EXECUTION_INTERRUPTED', 'Script execution was interrupted by `SIGINT`');
        return Object.assign(interruptedBy, { stack: '' });
    }

    // Nothing of the error's own may run: it could throw another one.
    const isInterruption = (error) => host.typeTag(error) === 'Error' && INTERRUPTED.test(host.plainError(error));

    function finish(mine, show, value) {
        if (run !== mine)
            return; // ctrl-c came first
        run = undefined;
        goOn(); // first of all: there may be no memory left to show anything
        show(value);
    }

    // Whether the text is ended. isWhole: nothing will come after it.
    function runText(typed, isWhole) {
        host.replSpare();
        const name = `REPL${count + 1}`;
        const { code, isAsync, error } = prepare(typed, name);
        if (code === undefined && error === undefined && !isWhole)
            return false;
        count++;
        if (code === undefined) {
            showError(error ?? new SyntaxError('Unexpected end of input'));
            return true;
        }
        done.push(typed.replace(/\n$/, ''));
        const mine = run = {};
        editor?.release(); // it is the text's now, and of what that starts
        const [hasThrown, value] = host.replRun(code, name, isAsync);
        if (hasThrown && isInterruption(value)) {
            isStopped = isTerminal;
            finish(mine, showError, interruption());
        } else if (hasThrown || !isAsync) {
            finish(mine, hasThrown ? showError : showValue, value);
        } else {
            then.call(value, (result) => finish(mine, showValue, result.value), (reason) => finish(mine, showError, reason));
        }
        return true;
    }

    // ---- Commands ----

    function load(file) {
        let loaded;
        try {
            loaded = need('fs').readFileSync(file, 'utf8');
            if (/\.[cm]?ts$/.test(file))
                loaded = need('strip_types').strip(loaded, file);
        } catch (error) {
            print(`Failed to load: ${error.message}`);
            return;
        }
        runText(loaded, true);
    }

    function save(file) {
        try {
            need('fs').writeFileSync(file, `${done.join('\n')}\n`);
            print(`Session saved to: ${file}`);
        } catch (error) {
            print(`Failed to save: ${error.message}`);
        }
    }

    const commands = {
        '.break': () => {},
        '.clear': () => {},
        '.exit': () => globalThis.process.exit(),
        '.help': () => print(Object.keys(HELP).map((name) => `${name.padEnd(10)}${HELP[name]}`).join('\n')),
        '.load': (file) => (file === '' ? print('Which file? .load FILE') : load(file)),
        '.save': (file) => (file === '' ? print('Which file? .save FILE') : save(file)),
        '.editor': () => {
            isCollecting = true;
            print('// Several lines: ctrl-d runs them, ctrl-c forgets them');
        },
    };

    // Whether the line is a command; numbers begin with a dot, too.
    function command(line) {
        const [, name, rest] = line.match(/^\s*(\.[a-zA-Z]\w*)\s*(.*?)\s*$/) ?? [];
        if (name === undefined || (text !== '' && !Object.hasOwn(commands, name)))
            return false;
        text = '';
        if (Object.hasOwn(commands, name))
            commands[name](rest);
        else
            print('No such command; .help lists them');
        return true;
    }

    // ---- Lines ----

    function takeLine(line) {
        if (isCollecting) {
            text += `${line}\n`;
            return;
        }
        if (command(line))
            return;
        const typed = `${text}${line}\n`;
        text = ''; // also if something goes wrong
        if (typed.trim() !== '' && !runText(typed, false))
            text = typed;
    }

    function endCollecting() {
        const typed = text;
        isCollecting = false;
        text = '';
        if (typed.trim() !== '')
            runText(typed, true);
    }

    // The next line that waits, or a new one. Each has a callback of the loop to itself: what it puts off comes before the next.
    let isDue = false;
    function goOn() {
        if (isDue || run !== undefined)
            return;
        need('timers').setImmediate(() => {
            isDue = false;
            if (run === undefined)
                step();
        });
        isDue = true;
    }

    function step() {
        if (lines.length > 0)
            takeLine(lines.shift());
        else if (hasEnded && text !== '')
            endCollecting();
        else if (editor && !editor.isReading)
            editor.read(prompt(), onLine);
        if (lines.length > 0 || (hasEnded && text !== '') || (editor && !editor.isReading))
            goOn();
    }

    const prompt = () => (isCollecting ? '' : text === '' ? '> ' : '... ');

    function onLine(line) {
        isWarned = false;
        if (line === undefined) {
            if (!isCollecting)
                globalThis.process.exit();
            endCollecting();
        } else {
            if (editor.remember(line))
                history.add(line);
            lines.push(line);
        }
        goOn();
    }

    // ---- A terminal ----

    function onInterrupt() {
        if (isStopped) {
            isStopped = false;
        } else if (run !== undefined) {
            run = undefined;
            showError(interruption());
            goOn();
        } else if (editor.isReading) {
            breakLine();
        }
    }

    function breakLine() {
        const isNothing = editor.isEmpty && text === '' && !isCollecting;
        if (isNothing && isWarned) {
            editor.clear();
            globalThis.process.exit();
        }
        isWarned = isNothing;
        isCollecting = false;
        text = '';
        editor.clear(isNothing ? '(To exit, press Ctrl+C again or Ctrl+D or type .exit)\n' : '');
        editor.setPrompt(prompt());
    }

    // What is printed while somebody types comes above the line.
    function printAbove() {
        const { write } = host;
        let isDue = false, isAtStart = true;
        host.write = (fd, data) => {
            const isSeen = fd === 1 || (fd === 2 && host.isTTY(2));
            if (!isSeen)
                return write(fd, data);
            editor.hide();
            const result = write(fd, data);
            isAtStart = typeof data === 'string' ? data === '' ? isAtStart : data.endsWith('\n') : data.at?.(-1) === 10;
            if (!isDue && editor.isReading) {
                isDue = true;
                need('timers').setImmediate(() => {
                    isDue = false;
                    isAtStart || write(1, '\n');
                    editor.show();
                });
            }
            return result;
        };
    }

    function startTerminal() {
        const { process } = globalThis;
        const { watch } = need('signal_watch');
        const { LineEditor } = need('line_editor');
        history = need('repl_history').open(process.env, (told) => print(told));
        const names = Object.keys(HELP);
        editor = new LineEditor({ history: history.lines, complete: (typed) => need('repl_complete').complete(typed, names) });
        process.on('exit', () => editor.release());
        watch(['SIGINT'], onInterrupt, 'signal', true);
        watch(['SIGCONT', 'SIGWINCH'], () => editor.resume());
        for (const name of ['SIGTERM', 'SIGHUP']) {
            const stop = watch([name], () => {
                editor.release();
                stop();
                process.kill(process.pid, name);
            });
        }
        printAbove();
        print(`weft ${process.versions.weft}; .help lists commands, ctrl-d ends`);
        process.stdin.on('data', (bytes) => editor.feed(bytes));
        process.stdin.on('end', () => process.exit());
        process.stdin.on('error', () => process.exit(1)); // the terminal is gone
        goOn();
    }

    // ---- A pipe or a file ----

    function startPlain() {
        const { StringDecoder } = need('string_decoder');
        const decoder = new StringDecoder('utf8');
        let rest = '';
        const feed = (piece) => {
            const parts = (rest + piece).split('\n');
            rest = parts.pop();
            for (const line of parts)
                lines.push(line.replace(/\r$/, ''));
            goOn();
        };
        const { stdin } = globalThis.process;
        stdin.on('data', (bytes) => feed(decoder.write(bytes)));
        stdin.on('end', () => {
            rest += decoder.end();
            if (rest !== '')
                feed('\n');
            hasEnded = true;
            goOn();
        });
        stdin.on('error', (error) => {
            print(`Cannot read: ${error.message}`);
            globalThis.process.exit(1);
        });
    }

    function start() {
        need('module').addScript('', '[repl]');
        delete globalThis.__filename;
        delete globalThis.__dirname;
        setLast = offerLast('_', 'Expression');
        setLastError = offerLast('_error', 'Error');
        host.takeError = (error) => {
            const isOne = isInterruption(error);
            isStopped ||= isOne && isTerminal;
            host.replSpare();
            goOn();
            showError(isOne ? interruption() : error);
        };
        if (isTerminal)
            startTerminal();
        else
            startPlain();
    }

    return { start };
})
