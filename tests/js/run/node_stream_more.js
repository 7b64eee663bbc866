// node:stream beyond the classes: methods that go through a stream, streams made of others, ways to and from the web's streams.
'use strict';
const stream = require('node:stream');
const { Readable, Writable, Duplex, Transform, PassThrough, compose, finished, pipeline, addAbortSignal, duplexPair } = stream;
const later = require('node:stream/promises');
const { ReadableStream, WritableStream, TransformStream } = require('node:stream/web');
const log = (...parts) => console.log(...parts);
const show = (error) => `${error.name} ${error.code ?? ''} ${error.message.split('\n')[0]}`;
async function fails(what, fn) {
    try {
        log(what, await fn());
    } catch (error) {
        log(what, show(error));
    }
}
const steps = {
    shape() {
        for (const kind of [Readable, Writable, Duplex, Transform, PassThrough])
            log(kind.name, kind.length, Object.getPrototypeOf(kind).name, Object.keys(new kind()).filter((key) => !key.startsWith('_')).join());
        log(Object.keys(stream).sort().join());
        log(Object.keys(later).sort().join(), Object.keys(stream.promises).sort().join());
        log(['map', 'filter', 'toArray', 'take', 'reduce', 'compose'].map((name) => Readable.prototype[name].length).join());
    },
    async operators() {
        const numbers = () => Readable.from([1, 2, 3, 4, 5]);
        log(await numbers().map((n) => n * 2).toArray());
        log(await numbers().map(async (n) => n * 2, { concurrency: 2 }).filter((n) => n > 4).toArray());
        log(await numbers().drop(1).take(2).toArray(), await numbers().flatMap((n) => [n, -n]).toArray());
        log(await numbers().reduce((a, b) => a + b), await numbers().reduce((a, b) => a + b, 10), await numbers().some((n) => n > 4),
            await numbers().every((n) => n > 4), await numbers().find((n) => n > 2));
        const seen = [];
        await numbers().forEach((n) => { seen.push(n); });
        log(seen);
        let running = 0, most = 0;
        await numbers().forEach(async () => {
            most = Math.max(most, ++running);
            await new Promise(setImmediate);
            running--;
        }, { concurrency: 3 });
        log('at once', most);
        await fails('map of nothing', () => numbers().map(5));
        await fails('map throws', () => numbers().map(() => { throw new Error('no'); }).toArray());
        await fails('concurrency', () => numbers().map((n) => n, { concurrency: 0 }));
        await fails('take', () => numbers().take(-1));
        await fails('reduce of nothing', () => Readable.from([]).reduce((a) => a));
        await fails('aborted', () => numbers().toArray({ signal: AbortSignal.abort() }));
    },
    async from() {
        log(await Readable.from('text').toArray(), await Readable.from(Buffer.from('ab')).toArray(), await Readable.from(new Set([1])).toArray());
        log(await Readable.from([Promise.resolve(1), 2]).toArray());
        await fails('number', () => Readable.from(5));
        await fails('null inside', () => Readable.from([1, null]).toArray());
        const closing = Readable.from((function* () {
            try {
                yield 1;
                yield 2;
            } finally {
                log('generator closed');
            }
        })());
        for await (const value of closing) {
            log(value);
            break;
        }
        const kept = Readable.from([1, 2, 3]);
        for await (const value of kept.iterator({ destroyOnReturn: false })) {
            log('kept', value);
            break;
        }
        log(kept.destroyed, await kept.toArray());
    },
    async duplexes() {
        log(await Duplex.from([1, 2]).toArray(), await Duplex.from(Promise.resolve('p')).toArray());
        log(await Duplex.from(new Blob(['blob'])).toArray());
        const upper = Duplex.from(async function* (source) {
            for await (const chunk of source)
                yield String(chunk).toUpperCase();
        });
        upper.write('a');
        upper.end('b');
        log(await upper.toArray());
        const sink = Duplex.from(async (source) => {
            for await (const chunk of source)
                log('sink', String(chunk));
        });
        sink.end('x');
        await later.finished(sink);
        const pair = Duplex.from({ readable: Readable.from(['r']), writable: new Writable({ write(chunk, e, done) { log('w', String(chunk)); done(); } }) });
        pair.end('to the writable');
        log(await pair.toArray());
        await fails('nothing', () => Duplex.from(5));
        await fails('bad function', () => Duplex.from(() => 5));
    },
    async composed() {
        const twice = compose(new Transform({ transform(chunk, e, done) { done(null, `${chunk}${chunk}`); } }), async function* (source) {
            for await (const chunk of source)
                yield `<${chunk}>`;
        });
        twice.end('ab');
        log((await twice.toArray()).map(String));
        log(await Readable.from(['a', 'b']).compose(async function* (source) {
            for await (const chunk of source)
                yield chunk + chunk;
        }).toArray());
        const failing = compose(new PassThrough(), new Transform({ transform(chunk, e, done) { done(new Error('inside')); } }));
        failing.end('x');
        await fails('error inside', () => failing.toArray());
        await fails('not writable', () => compose(Readable.from([1]), Readable.from([2])));
        await fails('nothing', () => compose());
    },
    async pairs() {
        if (!duplexPair)
            return;
        const [one, other] = duplexPair();
        other.on('data', (chunk) => other.end(`echo ${chunk}`));
        one.end('hello');
        log(String((await one.toArray())[0]));
    },
    async toWeb() {
        const web = Readable.toWeb(Readable.from([Buffer.from('a'), Buffer.from('b')], { objectMode: false }));
        const chunks = [];
        for await (const chunk of web)
            chunks.push(chunk);
        log(chunks);
        const broken = Readable.toWeb(new Readable({ read() { this.destroy(new Error('broken')); } }));
        await fails('broken', () => broken.getReader().read());
        const source = new Readable({ read() { this.push('x'); } });
        const reader = Readable.toWeb(source).getReader();
        await reader.read();
        await reader.cancel(new Error('enough')).catch(() => {});
        source.on('error', () => {});
        log('cancelled', source.destroyed);
        const written = [];
        const writer = Writable.toWeb(new Writable({ highWaterMark: 1, write(chunk, e, done) { written.push(String(chunk)); setImmediate(done); } })).getWriter();
        await writer.write('one');
        await writer.write('two');
        await writer.close();
        log(written);
        const { readable, writable } = Duplex.toWeb(new PassThrough());
        const end = writable.getWriter();
        end.write('through');
        end.close();
        for await (const chunk of readable)
            log(Buffer.from(chunk).toString());
    },
    async fromWeb() {
        log((await Readable.fromWeb(new ReadableStream({ start(c) { c.enqueue('a'); c.enqueue('b'); c.close(); } }), { encoding: 'utf8' }).toArray()));
        await fails('errored', () => Readable.fromWeb(new ReadableStream({ start(c) { c.error(new Error('web')); } })).toArray());
        let cancelled;
        const early = Readable.fromWeb(new ReadableStream({ pull(c) { c.enqueue('x'); }, cancel(reason) { cancelled = String(reason); } }));
        for await (const chunk of early) {
            log(String(chunk));
            break;
        }
        await later.finished(early).catch(() => {});
        log('cancelled with', cancelled);
        const sink = Writable.fromWeb(new WritableStream({ write(chunk) { log('web got', String(chunk)); }, close() { log('web closed'); } }));
        sink.write('1');
        sink.end('2');
        await later.finished(sink);
        const both = Duplex.fromWeb(new TransformStream({ transform(chunk, c) { c.enqueue(`(${chunk})`); } }), { encoding: 'utf8' });
        both.end('t');
        log(await both.toArray());
        await fails('not one', () => Readable.fromWeb({}));
    },
    async pipelines() {
        await later.pipeline(new ReadableStream({ start(c) { c.enqueue('w'); c.close(); } }), async function* (source) {
            for await (const chunk of source)
                yield `${chunk}${chunk}`;
        }, new WritableStream({ write(chunk) { log('to web', String(chunk)); } }));
        log(await later.pipeline(Readable.from(['a', 'b']), async (source) => (await Readable.from(source).toArray()).join('')));
        await later.pipeline(() => ['x', 'y'], new PassThrough(), async (source) => {
            for await (const chunk of source)
                log(String(chunk));
        });
        const controller = new AbortController();
        const waiting = later.pipeline(new Readable({ read() {} }), new PassThrough(), { signal: controller.signal });
        controller.abort(new Error('reason'));
        await fails('aborted', () => waiting);
        await fails('one stream', () => later.pipeline(new PassThrough()));
        await fails('no stream', () => later.pipeline(new PassThrough(), 5));
        await fails('bad source', () => later.pipeline(() => 5, new PassThrough()));
        await fails('no callback', () => pipeline(new PassThrough(), new PassThrough()));
        const kept = new PassThrough();
        await later.pipeline(Readable.from(['x']), kept, { end: false });
        kept.end('y');
        log((await kept.toArray()).map(String));
    },
    async ends() {
        const source = Readable.from([1]);
        source.resume();
        await later.finished(source);
        log('ended', source.readableEnded, source.destroyed);
        await later.finished(source);
        const cut = new PassThrough();
        const waiting = later.finished(cut);
        cut.destroy();
        await fails('cut', () => waiting);
        await fails('no stream', () => later.finished({}));
        await fails('aborted', () => later.finished(new PassThrough(), { signal: AbortSignal.abort() }));
        const controller = new AbortController(), stopped = addAbortSignal(controller.signal, new PassThrough());
        controller.abort();
        await fails('stopped', () => later.finished(stopped));
        finished(new ReadableStream({ start(c) { c.close(); } }), (error) => log('web finished', error));
        await new Promise(setImmediate);
        log(stream.isReadable(new PassThrough()), stream.isReadable(cut), stream.isWritable(cut), stream.isDisturbed(source), stream.isErrored(stopped), stream.isReadable({}));
    },
    async arguments() {
        for (const bad of [-1, 1.5, 'x', NaN])
            await fails(`highWaterMark ${bad}`, () => new Readable({ highWaterMark: bad }));
        await fails('encoding', () => new Writable({ defaultEncoding: 'nope' }));
        await fails('write encoding', () => new PassThrough().write('x', 'nope'));
        await fails('write null', () => new PassThrough().write(null));
        await fails('write number', () => new PassThrough().write(5));
        await fails('setDefaultEncoding', () => new PassThrough().setDefaultEncoding('nope'));
        await fails('read too much', () => new PassThrough().read(2 ** 31));
        await fails('duplex mark', () => new Duplex({ readableHighWaterMark: -1 }));
        await fails('iterator options', () => new PassThrough().iterator(5));
        await fails('not implemented', () => new Readable().toArray());
        await fails('signal', () => new Readable({ signal: 5 }));
        await fails('pipe of a writable', () => later.finished(Object.assign(new Writable(), { x: new Writable().on('error', (e) => log(show(e))).pipe() }).destroy()));
    },
};
(async () => {
    for (const name of Object.keys(steps)) {
        log(`-- ${name}`);
        await steps[name]();
    }
})();
