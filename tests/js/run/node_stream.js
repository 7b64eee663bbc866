// node:stream: what comes out, and in which order. (When resume, pause, prefinish and finish are told is not compared.)
'use strict';
const { Readable, Writable, Duplex, Transform, PassThrough, pipeline, finished, Stream } = require('node:stream');
const { pipeline: pipelineLater, finished: finishedLater } = require('node:stream/promises');
const { inherits } = require('node:util');
const { EventEmitter } = require('node:events');
console.log(require('stream') === Stream, new Readable() instanceof EventEmitter, new Duplex() instanceof Writable, new Duplex() instanceof Readable,
    new Readable() instanceof Writable, Readable() instanceof Stream, new Transform() instanceof Duplex);

const watch = (name, stream) => {
    for (const event of ['end', 'close', 'error', 'drain', 'pipe', 'unpipe'])
        stream.on(event, (value) => console.log([name, event, value instanceof Error ? value.message : 'ok'].join(' ')));
    return stream;
};
const steps = {
    async data() {
        const source = watch('r', new Readable({ read() {} }));
        source.on('data', (chunk) => console.log('data', String(chunk)));
        source.push('one');
        source.push('two');
        source.push(null);
        await finishedLater(source);
        console.log(source.readableEnded, source.destroyed, source.readable);
    },
    async readable() {
        let n = 0;
        const source = watch('r', new Readable({ read() { this.push(n < 3 ? `part${n++} ` : null); } }));
        source.setEncoding('utf8');
        source.on('readable', () => {
            for (let chunk; (chunk = source.read()) !== null;)
                console.log('read', JSON.stringify(chunk));
        });
        await finishedLater(source);
    },
    async sizes() {
        const source = new Readable({ read() {} });
        source.push('abcdefgh');
        console.log(String(source.read(3)), source.readableLength, source.read(9), String(source.read()), source.read());
        source.unshift('xyz');
        console.log(String(source.read(2)), source.readableLength);
        source.destroy();
    },
    async writing() {
        const seen = [];
        const sink = watch('w', new Writable({
            highWaterMark: 4,
            write(chunk, encoding, callback) {
                seen.push(`${chunk}/${encoding}`);
                setImmediate(callback);
            },
            final(callback) {
                console.log('final');
                callback();
            },
        }));
        console.log(sink.write('ab'), sink.write('cd'), sink.writableLength, sink.writableNeedDrain);
        await new Promise((resolve) => sink.once('drain', resolve));
        sink.end('ef');
        console.log(sink.writable, sink.writableEnded, sink.writableFinished);
        await finishedLater(sink);
        console.log(seen.join(' '), sink.writableFinished, sink.destroyed);
    },
    async batch() {
        const sink = new Writable({ writev(chunks, callback) { console.log('writev', chunks.map(({ chunk }) => String(chunk)).join('|')); callback(); } });
        sink.cork();
        sink.write('a');
        sink.write('b', () => console.log('b is written'));
        sink.uncork();
        sink.end('c');
        await finishedLater(sink);
    },
    async failing() {
        const sink = watch('w', new Writable({ write(chunk, encoding, callback) { callback(new Error('no room')); } }));
        sink.write('x', (error) => console.log('callback', error.message));
        await finishedLater(sink).catch((error) => console.log('rejected', error.message));
        const source = watch('r', new Readable({ read() { throw new Error('cannot read'); } }));
        source.resume();
        await finishedLater(source).catch((error) => console.log('rejected', error.message));
        const over = watch('o', new Writable({ write(chunk, encoding, callback) { callback(); } }));
        over.end();
        over.write('late', (error) => console.log(error.code));
        await finishedLater(over).catch((error) => console.log('rejected', error.code));
    },
    async transform() {
        const upper = new Transform({
            transform(chunk, encoding, callback) { callback(null, String(chunk).toUpperCase()); },
            flush(callback) { callback(null, '!'); },
        });
        upper.write('a');
        upper.end('b');
        console.log(Buffer.concat(await upper.toArray()).toString());
        const objects = new Transform({ objectMode: true, transform(n, encoding, callback) { this.push(n); callback(null, n * 2); } });
        Readable.from([1, 2, 3]).pipe(objects);
        console.log((await objects.toArray()).join());
    },
    async piping() {
        const source = Readable.from(['a', 'b', 'c']), through = watch('t', new PassThrough({ objectMode: true }));
        const sink = new Writable({ objectMode: true, highWaterMark: 1, write(chunk, encoding, callback) { console.log('got', chunk); setImmediate(callback); } });
        source.pipe(through).pipe(sink);
        await finishedLater(sink);
    },
    async pipeline() {
        await pipelineLater(Readable.from(['x', 'y']), async function* (source) {
            for await (const chunk of source)
                yield `<${chunk}>`;
        }, new Writable({ objectMode: true, write(chunk, encoding, callback) { console.log(String(chunk)); callback(); } }));
        await new Promise((resolve) => pipeline(Readable.from(['x']), new Transform({ transform(chunk, encoding, callback) { callback(new Error('bad')); } }),
            new PassThrough(), (error) => resolve(console.log('pipeline', error.message))));
        const source = new Readable({ read() {} });
        const waiting = pipelineLater(source, new PassThrough()).catch((error) => console.log(error.code));
        source.destroy();
        await waiting;
    },
    async iteration() {
        const source = Readable.from((async function* () {
            try {
                yield 1;
                yield 2;
                yield 3;
            } finally {
                console.log('closed');
            }
        })());
        for await (const value of source) {
            console.log(value);
            if (value === 2)
                break;
        }
        console.log(source.destroyed);
        const broken = new Readable({ read() { this.destroy(new Error('broken')); } });
        try {
            for await (const chunk of broken)
                console.log(chunk);
        } catch (error) {
            console.log(error.message);
        }
    },
    async old() {
        function Doubler() {
            Transform.call(this, { decodeStrings: false });
        }
        inherits(Doubler, Transform);
        Doubler.prototype._transform = function (chunk, encoding, callback) {
            this.push(`${chunk}${chunk}`);
            callback();
        };
        const doubler = new Doubler();
        doubler.setEncoding('utf8');
        doubler.end('ab');
        console.log(await doubler.toArray());
    },
    async duplex() {
        const both = watch('d', new Duplex({
            read() { this.push('read'); this.push(null); },
            write(chunk, encoding, callback) { console.log('write', String(chunk)); callback(); },
        }));
        both.on('data', (chunk) => console.log(String(chunk)));
        both.end('w');
        await new Promise((resolve) => finished(both, resolve));
    },
    async after() {
        const source = new Readable({ read() {} });
        source.on('error', (error) => console.log(error.code));
        source.push(null);
        source.push('late');
        await new Promise((resolve) => source.on('close', resolve));
        try {
            new Writable().write(null);
        } catch (error) {
            console.log(error.code);
        }
        try {
            new Writable({ write() {} }).write(5);
        } catch (error) {
            console.log(error.code);
        }
    },
};
(async () => {
    for (const name of Object.keys(steps)) {
        console.log(`-- ${name}`);
        await steps[name]();
        await new Promise((resolve) => setTimeout(resolve, 2));
    }
})();
