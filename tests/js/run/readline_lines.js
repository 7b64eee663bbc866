// node:readline: lines, questions, iteration, ends; over streams in memory and over files.
'use strict';
const readline = require('node:readline');
const promises = require('node:readline/promises');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { PassThrough, Writable, Readable } = require('node:stream');
const { promisify } = require('node:util');
console.log(Object.keys(readline).join(), Object.keys(promises).join());
const later = () => new Promise((resolve) => { setImmediate(resolve); });
const sink = () => {
    const output = new Writable({ write(chunk, encoding, callback) { output.text += chunk; callback(); } });
    output.text = '';
    return output;
};
const watch = (reader) => {
    for (const event of ['line', 'close', 'pause', 'resume', 'error'])
        reader.on(event, (value) => console.log(' ', event, JSON.stringify(value instanceof Error ? value.message : value)));
    return reader;
};
const trap = (fn) => {
    try {
        console.log(fn());
    } catch (error) {
        console.log(error.name, error.code, error.message);
    }
};
const steps = {
    async lines() {
        const input = new PassThrough();
        const reader = watch(readline.createInterface({ input }));
        console.log(reader.terminal, reader.line, reader.closed, reader instanceof readline.Interface);
        input.write('one\ntwo\r\nthree\rfour five');
        await later();
        input.write(' and more\n\n');
        await later();
        input.end('no end');
        await later();
        console.log(reader.closed);
    },
    async cut() {
        const input = new PassThrough();
        watch(readline.createInterface({ input, crlfDelay: Infinity }));
        for (const part of [Buffer.from([0xe2, 0x82]), Buffer.from([0xac]), 'x\r', '\ny', '\r', 'z\n', '\n']) {
            input.write(part);
            await later();
        }
        input.end();
        await later();
    },
    async pausing() {
        const input = new PassThrough();
        const reader = watch(readline.createInterface({ input }));
        reader.pause();
        reader.pause();
        input.write('a\nb\n');
        await later();
        console.log('paused', input.isPaused());
        reader.resume();
        await later();
        reader.write('by hand\n');
        reader.close();
        reader.close();
        input.write('never\n');
        await later();
        trap(() => reader.question('?', () => {}));
    },
    async questions() {
        const input = new PassThrough(), output = sink();
        const reader = watch(readline.createInterface({ input, output, prompt: '$ ' }));
        reader.question('Name? ', (answer) => {
            console.log('answer', answer);
            reader.question('Again? ', (second) => console.log('second', second));
        });
        input.write('Ann\nBob\nCid\n');
        await later();
        reader.prompt();
        reader.setPrompt('# ');
        reader.prompt();
        const controller = new AbortController();
        reader.question('Gone? ', { signal: controller.signal }, () => console.log('never'));
        controller.abort();
        input.write('a line\n');
        await later();
        const asked = promisify(reader.question).bind(reader)('Later? ');
        input.write('yes\n');
        console.log(await asked, JSON.stringify(output.text), reader.getPrompt());
        reader.close();
    },
    async promised() {
        const input = new PassThrough(), output = sink();
        const reader = promises.createInterface({ input, output });
        const first = reader.question('One? ');
        input.write('1\n');
        console.log(await first);
        await reader.question('Two? ', { signal: AbortSignal.abort() }).catch((error) => console.log(error.name, error.code));
        const controller = new AbortController();
        const second = reader.question('Three? ', { signal: controller.signal });
        controller.abort();
        await second.catch((error) => console.log(error.name, error.message));
        reader.close();
        await reader.question('Four? ').catch((error) => console.log(error.code));
        console.log(JSON.stringify(output.text));
        const moves = new promises.Readline(output);
        await moves.clearLine(0).cursorTo(3, 4).moveCursor(-1, 2).clearScreenDown().commit();
        moves.cursorTo(1).rollback();
        await moves.commit();
        console.log(JSON.stringify(output.text.slice(-30)));
    },
    async iterated() {
        const seen = [];
        for await (const line of readline.createInterface({ input: Readable.from(['a\nb', 'c\n\nd']) }))
            seen.push(line);
        console.log(seen);
        const reader = watch(readline.createInterface({ input: Readable.from(['1\n2\n3\n4\n']) }));
        for await (const line of reader) {
            console.log('got', line);
            if (line === '2')
                break;
        }
        console.log(reader.closed);
        const many = readline.createInterface({ input: Readable.from(Array.from({ length: 5000 }, (unused, i) => `${i}\n`)) });
        let count = 0;
        for await (const line of many)
            count += Number(line) === count ? 1 : NaN;
        console.log(count);
    },
    async file() {
        const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'weft-rl-'));
        const file = path.join(dir, 'f');
        fs.writeFileSync(file, Array.from({ length: 30000 }, (unused, i) => `line ${i} äöü`).join('\n'));
        let count = 0, last;
        for await (const line of readline.createInterface({ input: fs.createReadStream(file), crlfDelay: Infinity })) {
            count++;
            last = line;
        }
        console.log(count, last);
        const handle = await fs.promises.open(file);
        count = 0;
        for await (const line of handle.readLines())
            count += line.length;
        console.log(count, handle.fd);
        await new Promise((resolve) => {
            const missing = readline.createInterface({ input: fs.createReadStream('/nothing/at/all') });
            missing.on('error', (error) => console.log(error.code)).on('close', () => {
                console.log('closed');
                resolve();
            });
            missing.input.on('close', () => missing.close());
        });
        fs.rmSync(dir, { recursive: true });
    },
    async signal() {
        const controller = new AbortController();
        watch(readline.createInterface({ input: new PassThrough(), signal: controller.signal }));
        controller.abort();
        await later();
        watch(readline.createInterface({ input: new PassThrough(), signal: AbortSignal.abort() }));
        await later();
    },
    async wrong() {
        trap(() => readline.createInterface({ input: new PassThrough(), completer: 5 }));
        trap(() => readline.createInterface({ input: new PassThrough(), historySize: -1 }));
        trap(() => readline.createInterface({ input: new PassThrough(), signal: 5 }));
        trap(() => readline.cursorTo(sink(), 'a', 1));
        trap(() => readline.cursorTo(sink(), NaN));
        trap(() => readline.clearLine(sink(), 0, 5));
    },
    async cursor() {
        const output = sink();
        readline.cursorTo(output, 1);
        readline.cursorTo(output, 1, 2);
        readline.moveCursor(output, 1, -1);
        readline.moveCursor(output, 0, 0, () => console.log('moved'));
        readline.clearLine(output, -1);
        readline.clearLine(output, 1);
        readline.clearScreenDown(output, () => console.log('cleared'));
        await later();
        console.log(JSON.stringify(output.text));
    },
    async keys() {
        const input = new PassThrough();
        readline.emitKeypressEvents(input);
        input.on('keypress', (typed, key) => console.log(JSON.stringify(typed), JSON.stringify(key)));
        input.write('aB1 \r\t\x7f\x03');
        input.write('\x1b[A\x1b[1;5C\x1bOP\x1b[3~\x1b[Z\x1bx€😀');
        await later();
    },
};
(async () => {
    for (const name of Object.keys(steps)) {
        console.log(`== ${name}`);
        await steps[name]();
        await later();
    }
})();
