// Random programs on streams of node:stream, always the same ones: what is told, in which order, and what the streams say of
// themselves in between has to be Node's. One line a program, a sum of its log; with a number as argument the log itself.
'use strict';
const { Readable, Writable, Duplex, Transform, PassThrough, pipeline, finished, addAbortSignal, compose, promises } = require('node:stream');

const COUNT = 300;
let seed;
const random = (limit) => {
    seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff;
    return (seed >>> 8) % limit;
};
const pick = (...list) => list[random(list.length)];
const oneIn = (count) => random(count) === 0;

const properties = ['readable', 'readableFlowing', 'readableLength', 'readableEnded', 'readableDidRead', 'readableAborted',
    'writable', 'writableLength', 'writableEnded', 'writableFinished', 'writableNeedDrain', 'writableCorked',
    'destroyed', 'closed', 'errored'];
const events = ['data', 'end', 'close', 'error', 'drain', 'finish', 'prefinish', 'pipe', 'unpipe', 'resume', 'pause', 'readable'];
const stateOf = (stream) => properties.map((name) => {
    const value = stream[name];
    return typeof value === 'boolean' ? Number(value) : value === undefined ? '.' : value instanceof Error ? 'E' : value ?? '-';
}).join('');

function show(value) {
    if (value instanceof Error)
        return `${value.name}:${value.code ?? ''}:${value.message.split(' Received')[0]}${value.cause ? `<${show(value.cause)}>` : ''}`;
    if (Buffer.isBuffer(value))
        return `B(${value})`;
    return typeof value === 'object' && value !== null ? value.label ?? value.constructor.name : String(value);
}

class Program {
    lines = [];
    streams = [];
    isObject = oneIn(3);
    left = random(6); // chunks that are to be read

    log(...parts) {
        if (this.lines.length < 2000)
            this.lines.push(parts.map(show).join(' '));
    }

    later(fn) {
        [(each) => each(), process.nextTick, (each) => Promise.resolve().then(each), setImmediate, queueMicrotask][random(5)](fn);
    }

    attempt(what, fn) {
        try {
            const result = fn();
            if (typeof result !== 'object' && result !== undefined)
                this.log(what, result);
        } catch (error) {
            this.log(what, 'threw', error);
        }
    }

    value() {
        if (this.isObject && oneIn(2))
            return { n: 1 };
        return pick('a', 'bc', 'def', Buffer.from('xy'), 'longer text', new Uint8Array([65, 66]), '');
    }

    // Calls back, now or later, sometimes with an error.
    answer(callback, message, chance, ...values) {
        this.later(() => callback(oneIn(chance) ? new Error(message) : null, ...values));
    }

    common() {
        const program = this, options = { objectMode: this.isObject };
        if (oneIn(2))
            options.highWaterMark = pick(0, 1, 3, 5, 16);
        if (oneIn(6))
            options.autoDestroy = false;
        if (oneIn(10))
            options.emitClose = false;
        if (oneIn(6))
            options.construct = (callback) => {
                program.log('construct');
                program.answer(callback, 'construct', 5);
            };
        if (oneIn(4))
            options.destroy = (error, callback) => {
                program.log('_destroy', error);
                program.later(() => callback(oneIn(5) ? new Error('destroy') : error));
            };
        return options;
    }

    reading() {
        const program = this;
        return {
            read(size) {
                program.log('_read', size);
                const count = pick(0, 1, 1, 1, 2, 3);
                program.later(() => {
                    for (let i = 0; i < count; i++) {
                        if (program.left-- <= 0) {
                            program.log('push null', this.push(null));
                            break;
                        }
                        program.log('push', this.push(program.value()));
                    }
                });
                if (oneIn(25))
                    throw new Error('read throws');
            },
        };
    }

    writing() {
        const program = this;
        const options = {
            write(chunk, encoding, callback) {
                program.log('_write', chunk, encoding);
                program.answer(callback, 'write', 15);
                if (oneIn(30))
                    callback();
            },
        };
        if (oneIn(3))
            options.writev = (chunks, callback) => {
                program.log('_writev', chunks.length, chunks.allBuffers);
                program.answer(callback, 'writev', 15);
            };
        if (oneIn(2))
            options.final = (callback) => {
                program.log('_final');
                program.answer(callback, 'final', 10);
            };
        if (oneIn(4))
            options.decodeStrings = false;
        return options;
    }

    transforming() {
        const program = this;
        const options = {
            transform(chunk, encoding, callback) {
                program.log('_transform', chunk);
                program.later(() => {
                    if (oneIn(3))
                        this.push(program.value());
                    callback(oneIn(15) ? new Error('transform') : null, oneIn(3) ? undefined : chunk);
                });
            },
        };
        if (oneIn(2))
            options.flush = (callback) => {
                program.log('_flush');
                program.answer(callback, 'flush', 10, oneIn(2) ? 'tail' : undefined);
            };
        return options;
    }

    make(kind) {
        switch (kind) {
        case 'r': return new Readable({ ...this.common(), ...this.reading() });
        case 'w': return new Writable({ ...this.common(), ...this.writing() });
        case 'd': return new Duplex({ ...this.common(), ...this.reading(), ...this.writing(), ...oneIn(3) ? { allowHalfOpen: false } : {},
            ...oneIn(8) ? pick({ readable: false }, { writable: false }) : {} });
        case 't': return new Transform({ ...this.common(), ...this.transforming() });
        case 'p': return new PassThrough(this.common());
        default: return Readable.from(pick([1, 2, 3], ['a', Promise.resolve('b'), 'c'], 'text', new Set(['x', 'y'])),
            oneIn(2) ? { highWaterMark: 2 } : {});
        }
    }

    listen(stream, name) {
        stream.label = name;
        for (const event of events) {
            if ((event === 'data' || event === 'readable') && !oneIn(3) || event === 'error' && oneIn(12))
                continue;
            if (event !== 'readable') {
                stream.on(event, (value) => this.log(name, event, value, stateOf(stream)));
                continue;
            }
            stream.on(event, () => {
                this.log(name, event, stateOf(stream));
                for (let chunk, i = 0; i < 50 && (chunk = stream.read(pick(undefined, undefined, 1, 2, 100))) !== null; i++)
                    this.log(name, 'got', chunk);
            });
        }
        this.streams.push(stream);
    }

    connect() {
        const { streams } = this;
        switch (random(5)) {
        case 0:
            this.attempt('pipeline', () => pipeline(...streams, (error) => this.log('pipeline done', error)));
            break;
        case 1:
            for (let i = 1; i < streams.length; i++)
                this.attempt('pipe', () => streams[i - 1].pipe(streams[i], oneIn(4) ? { end: false } : undefined));
            break;
        case 2:
            for (const target of streams.slice(1))
                this.attempt('pipe', () => streams[0].pipe(target));
            break;
        case 3: {
            const parts = streams.slice(), log = (...words) => this.log(...words);
            if (oneIn(2))
                parts.splice(1, 0, async function* (source) {
                    for await (const chunk of source) {
                        log('generator', chunk);
                        yield chunk;
                    }
                });
            if (oneIn(3))
                parts.push(async (source) => {
                    let count = 0;
                    for await (const chunk of source)
                        count += Number(chunk !== null);
                    return count;
                });
            promises.pipeline(...parts).then((value) => this.log('pipeline good', value), (error) => this.log('pipeline bad', error));
            break;
        }
        default:
            if (streams.every((stream) => stream.readable || stream.writable))
                this.attempt('compose', () => this.listen(compose(...streams), 'c'));
        }
    }

    watch(stream) {
        if (oneIn(3))
            finished(stream, pick({}, { readable: false }, { writable: false }, { error: false }),
                (error) => this.log(stream, 'finished', error, stateOf(stream)));
        if (oneIn(6) && stream.readable)
            this.iterate(stream);
        if (oneIn(8)) {
            const controller = new AbortController();
            addAbortSignal(controller.signal, stream);
            this.later(() => this.later(() => controller.abort()));
        }
    }

    async iterate(stream) {
        try {
            for await (const chunk of stream) {
                this.log(stream, 'iterated', chunk);
                if (oneIn(6))
                    break;
                if (oneIn(3))
                    await null;
            }
            this.log(stream, 'iteration over');
        } catch (error) {
            this.log(stream, 'iteration', error);
        }
    }

    step() {
        const stream = this.streams[random(this.streams.length)];
        const can = oneIn(3) ? ['destroy', 'destroyWith', 'destroyCall'] : [];
        if (typeof stream.read === 'function')
            can.push('read', 'resume', 'pause', 'push', 'unshift', 'setEncoding', 'once', 'on', 'off', 'forget', 'unpipe');
        if (typeof stream.write === 'function')
            can.push('write', 'write', 'writeCall', 'end', 'endCall', 'endWith', 'cork', 'uncork');
        const what = can[random(can.length)];
        this.log('>', stream, what);
        this.attempt(what, () => this.perform(stream, what));
        this.log(stateOf(stream));
    }

    perform(stream, what) {
        const told = (name) => (error) => this.log(stream, name, error);
        const extra = stream.extra ??= (chunk) => this.log(stream, 'extra', chunk);
        const steps = {
            read: () => show(stream.read(pick(undefined, 0, 2))),
            resume: () => stream.resume(),
            pause: () => stream.pause(),
            push: () => stream.push(oneIn(4) ? null : this.value()),
            unshift: () => stream.unshift(this.value()),
            setEncoding: () => this.isObject || stream.setEncoding(pick('utf8', 'hex')),
            once: () => stream.once('readable', () => this.log(stream, 'readable once')),
            on: () => stream.on('data', extra),
            off: () => stream.off('data', extra),
            forget: () => stream.removeAllListeners('readable'),
            unpipe: () => stream.unpipe(oneIn(2) ? undefined : this.streams[random(this.streams.length)]),
            write: () => stream.write(this.value()),
            writeCall: () => stream.write(this.value(), told('written')),
            end: () => stream.end(),
            endCall: () => stream.end(told('ended')),
            endWith: () => stream.end(this.value(), told('ended with it')),
            cork: () => stream.cork(),
            uncork: () => stream.uncork(),
            destroy: () => stream.destroy(),
            destroyWith: () => stream.destroy(new Error('by hand')),
            destroyCall: () => stream.destroy(null, told('destroyed')),
        };
        return steps[what]();
    }

    async run() {
        for (const [i, kind] of [...pick('r', 'w', 'd', 't', 'p', 'rw', 'rt', 'rtw', 'fw', 'fpw', 'rpw', 'ptw', 'rdw', 'rww', 'fd')].entries())
            this.listen(this.make(kind), `${kind}${i}`);
        if (this.streams.length > 1)
            this.connect();
        for (const stream of this.streams)
            this.watch(stream);
        for (let count = 2 + random(14); count > 0; count--) {
            this.step();
            if (oneIn(3))
                this.later(() => this.step());
            await new Promise(setImmediate);
        }
        for (let i = 0; i < 20; i++)
            await new Promise(setImmediate);
        for (const stream of this.streams) {
            this.log(stream, stateOf(stream));
            stream.removeAllListeners();
            stream.on('error', () => {}).destroy();
        }
        const { lines } = this;
        this.lines = [];
        this.log = () => {};
        return lines;
    }
}

let current;
process.on('uncaughtException', (error) => current.log('uncaught', error));
process.on('unhandledRejection', (error) => current.log('unhandled', error));

function sum(lines) {
    let value = 7;
    for (const line of lines)
        for (let i = 0; i < line.length; i++)
            value = (Math.imul(value, 31) + line.charCodeAt(i)) >>> 0;
    return value;
}

async function main() {
    const chosen = process.argv[2];
    for (let n = chosen ? Number(chosen) : 0; n < (chosen ? Number(chosen) + 1 : COUNT); n++) {
        seed = n * 7919 + 13;
        current = new Program();
        const lines = await current.run();
        await new Promise(setImmediate);
        console.log(chosen ? lines.join('\n') : `${n}: ${lines.length} lines, ${sum(lines)}`);
    }
}
main();
