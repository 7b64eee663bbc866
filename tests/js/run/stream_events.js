// Every event of streams in its order, with ticks and immediates in between.
'use strict';
const { Readable, Writable, Duplex, Transform, PassThrough, pipeline, finished, addAbortSignal } = require('node:stream');
const all = ['data', 'readable', 'end', 'close', 'error', 'drain', 'pipe', 'unpipe', 'pause', 'resume', 'prefinish', 'finish'];
function brief(v) {
    if (v instanceof Error)
        return `${v.name}/${v.code}/${v.message}`;
    if (Buffer.isBuffer(v))
        return `<${v}>`;
    return typeof v === 'string' ? `"${v}"` : typeof v === 'object' && v ? v.constructor.name : String(v);
}
let say;
function watch(name, stream, events = all.filter((e) => e !== 'data' && e !== 'readable')) {
    for (const e of events) stream.on(e, (...v) => say(`${name}.${e} ${v.slice(0, 1).map(brief).join()}`));
    return stream;
}
const ticks = (n, name = 'tick') => { if (n > 0) process.nextTick(() => { say(`${name} ${n}`); ticks(n - 1, name); }); };
const later = () => new Promise((r) => setImmediate(r));
const scenarios = {
    async flow() {
        const r = watch('r', new Readable({ read() { say('read'); } }));
        r.on('data', (c) => say(`data ${brief(c)}`));
        ticks(4);
        r.push('a');
        r.push('b');
        await later();
        r.push('c');
        say('pushed');
        r.push(null);
        ticks(4);
    },
    async flowSync() {
        let n = 0;
        const r = watch('r', new Readable({ read() { say(`read ${n}`); this.push(n < 3 ? `p${n++}` : null); } }));
        r.on('data', (c) => say(`data ${brief(c)}`));
        ticks(6);
    },
    async flowAsync() {
        let n = 0;
        const r = watch('r', new Readable({ highWaterMark: 2, read() { say(`read ${n}`);
            setImmediate(() => this.push(n < 3 ? `p${n++}` : null)); } }));
        r.on('data', (c) => say(`data ${brief(c)}`));
    },
    async readableEvent() {
        let n = 0;
        const r = watch('r', new Readable({ read() { say(`read ${n}`); this.push(n < 3 ? `p${n++}` : null); } }));
        r.on('readable', () => { say(`readable ${r.readableLength}`); let c; while ((c = r.read()) !== null) say(`got ${c}`); });
        ticks(6);
    },
    async readableAsync() {
        let n = 0;
        const r = watch('r', new Readable({ highWaterMark: 4, read() { say(`read ${n}`);
            setImmediate(() => this.push(n < 3 ? `p${n++}` : null)); } }));
        r.on('readable', () => { say(`readable ${r.readableLength}`); let c; while ((c = r.read(1)) !== null) say(`got ${c}`); });
    },
    async pauseResume() {
        let n = 0;
        const r = watch('r', new Readable({ read() { this.push(n < 4 ? `p${n++}` : null); } }));
        r.on('data', (c) => { say(`data ${brief(c)}`); r.pause(); setImmediate(() => { say(`paused ${r.isPaused()}`);
            r.resume(); }); });
    },
    async objects() {
        const r = watch('r', new Readable({ objectMode: true, highWaterMark: 2, read() { say('read'); } }));
        say(r.push({ a: 1 }));
        say(r.push(0));
        say(r.push(''));
        say(r.readableLength);
        say(brief(r.read()));
        say(r.read(0));
        say(r.read());
        say(brief(r.read()));
        say(r.read());
        r.push(null);
        r.on('data', () => say('data'));
    },
    async encodings() {
        const r = new Readable({ read() {}, encoding: 'utf8' });
        r.push(Buffer.from([0xe2, 0x82]));
        r.push(Buffer.from([0xac, 0x41]));
        say(r.readableLength, r.readableEncoding);
        say(r.read());
        r.setEncoding('hex');
        r.push('xyz');
        say(r.read());
        r.unshift('00');
        say(r.read());
        r.push(Buffer.from([0xe2]));
        r.push(null);
        r.setEncoding('utf8');
        say(r.read());
    },
    async write() {
        const w = watch('w', new Writable({ highWaterMark: 3, write(c, e, cb) { say(`write ${brief(c)} ${e}`); cb(); } }));
        say(w.write('a', () => say('cb a')));
        say(w.write('bcd', () => say('cb b')));
        say(w.writableNeedDrain);
        ticks(4);
        w.end('x', () => say('end cb'));
        say([w.writable, w.writableEnded, w.writableFinished]);
    },
    async writeAsync() {
        const w = watch('w', new Writable({ highWaterMark: 3, write(c, e, cb) { say(`write ${brief(c)}`); setImmediate(cb); } }));
        for (const x of ['a', 'b', 'c', 'd']) say(w.write(x, () => say(`cb ${x}`)));
        say(w.writableLength);
        w.end(() => say('end cb'));
    },
    async writev() {
        const w = watch('w', new Writable({ writev(cs, cb) { say(`writev ${cs.map((c) => c.chunk)}`); setImmediate(cb); } }));
        w.cork();
        for (const x of ['a', 'b', 'c']) w.write(x, () => say(`cb ${x}`));
        say(w.writableCorked);
        process.nextTick(() => w.uncork());
        w.write('d');
        w.end();
    },
    async final() {
        const w = watch('w', new Writable({ write(c, e, cb) { cb(); }, final(cb) { say('final'); setImmediate(cb); } }));
        w.write('a');
        w.end(() => say('end cb'));
        ticks(3);
    },
    async finalError() {
        const w = watch('w', new Writable({ write(c, e, cb) { cb(); }, final(cb) { cb(new Error('no')); } }));
        w.end((e) => say(`end cb ${brief(e)}`));
    },
    async writeError() {
        const w = watch('w', new Writable({ write(c, e, cb) { cb(new Error('bad')); } }));
        say(w.write('a', (e) => say(`cb a ${brief(e)}`)));
        say(w.write('b', (e) => say(`cb b ${brief(e)}`)));
        w.end((e) => say(`end ${brief(e)}`));
        ticks(3);
    },
    async writeErrorAsync() {
        const w = watch('w', new Writable({ write(c, e, cb) { setImmediate(cb, new Error('bad')); } }));
        w.write('a', (e) => say(`cb a ${brief(e)}`));
        w.write('b', (e) => say(`cb b ${brief(e)}`));
        w.end((e) => say(`end ${brief(e)}`));
    },
    async writeThrows() {
        const w = watch('w', new Writable({ write() { throw new Error('thrown'); } }));
        try { w.write('a'); } catch (e) { say(`caught ${brief(e)}`); } say(w.destroyed);
    },
    async afterEnd() {
        const w = watch('w', new Writable({ write(c, e, cb) { cb(); } }));
        w.end();
        say(w.write('x', (e) => say(`cb ${brief(e)}`)));
        w.end((e) => say(`end2 ${brief(e)}`));
    },
    async afterDestroy() {
        const w = watch('w', new Writable({ write(c, e, cb) { cb(); } }));
        w.destroy();
        say(w.write('x', (e) => say(`cb ${brief(e)}`)));
        w.end((e) => say(`end ${brief(e)}`));
        await later();
        w.end('x', (e) => say(`end3 ${brief(e)}`));
    },
    async endTwice() {
        const w = watch('w', new Writable({ write(c, e, cb) { cb(); } }));
        w.end('a', (e) => say(`end1 ${brief(e)}`));
        w.end((e) => say(`end2 ${brief(e)}`));
        await later();
        w.end((e) => say(`end3 ${brief(e)}`));
    },
    async destroyBuffered() {
        const w = watch('w', new Writable({ write(c, e, cb) { say('write'); setImmediate(cb); } }));
        w.write('a', (e) => say(`cb a ${brief(e)}`));
        w.write('b', (e) => say(`cb b ${brief(e)}`));
        w.end((e) => say(`end ${brief(e)}`));
        w.destroy();
        ticks(3);
    },
    async destroyError() {
        const r = watch('r', new Readable({ read() {}, destroy(e, cb) { say(`_destroy ${brief(e)}`); setImmediate(cb, e); } }));
        r.push('a');
        r.destroy(new Error('x'));
        r.destroy(new Error('y'), (e) => say(`second ${brief(e)}`));
        say([r.destroyed, r.closed, brief(r.errored), r.readable]);
        say(r.push('b'));
    },
    async destroyThrows() {
        const r = watch('r', new Readable({ read() {}, destroy() { throw new Error('in destroy'); } }));
        r.destroy();
    },
    async readThrows() {
        const r = watch('r', new Readable({ read() { throw new Error('in read'); } }));
        r.resume();
    },
    async noAutoDestroy() {
        const r = watch('r', new Readable({ autoDestroy: false, read() {} }));
        r.push('a');
        r.push(null);
        r.resume();
        await later();
        say(r.destroyed);
        r.push('more');
    },
    async pushAfterEnd() {
        const r = watch('r', new Readable({ read() {} }));
        r.push(null);
        r.push('x');
        r.unshift('y');
    },
    async badChunk() {
        const r = watch('r', new Readable({ read() {} }));
        say(r.push(5));
        const w = watch('w', new Writable({ write(c, e, cb) { cb(); } }));
        for (const v of [5, null, undefined, {}]) try { w.write(v); } catch (e) { say(brief(e)); }
    },
    async construct() {
        const w = watch('w', new Writable({ construct(cb) { say('construct'); setImmediate(() => { say('constructed'); cb();
            }); }, write(c, e, cb) { say(`write ${brief(c)}`); cb(); } }));
        w.write('a', () => say('cb'));
        w.end();
        ticks(3);
    },
    async constructError() {
        const r = watch('r', new Readable({ construct(cb) { cb(new Error('cannot')); }, read() { say('read'); } }));
        r.on('data', () => {});
    },
    async constructThrows() {
        const r = watch('r', new Readable({ construct() { throw new Error('cannot'); }, read() { say('read'); } }));
        r.resume();
    },
    async constructDestroyed() {
        const r = watch('r', new Readable({ construct(cb) { say('construct'); setImmediate(cb); }, read() { say('read'); },
            destroy(e, cb) { say('_destroy'); cb(e); } }));
        r.destroy(new Error('early'));
        r.resume();
    },
    async pipe() {
        let n = 0;
        const r = watch('r', new Readable({ read() { this.push(n < 3 ? `p${n++}` : null); } }));
        const w = watch('w', new Writable({ highWaterMark: 2, write(c, e, cb) { say(`write ${brief(c)}`); setImmediate(cb); } }));
        r.pipe(w);
        ticks(4);
    },
    async pipeTwo() {
        const r = watch('r', new Readable({ read() {} }));
        const a = watch('a', new Writable({ highWaterMark: 1, write(c, e, cb) { say(`a ${brief(c)}`); setImmediate(cb);
            } })), b = watch('b', new Writable({ highWaterMark: 1, write(c, e, cb) { say(`b ${brief(c)}`);
            setImmediate(() => setImmediate(cb)); } }));
        r.pipe(a);
        r.pipe(b);
        r.push('1');
        r.push('2');
        await later();
        r.unpipe(a);
        r.push('3');
        r.push(null);
    },
    async pipeError() {
        const r = watch('r', new Readable({ read() {} }));
        const w = watch('w', new Writable({ write(c, e, cb) { cb(new Error('sink')); } }));
        r.pipe(w);
        r.push('x');
        r.push('y');
    },
    async pipeEnded() {
        const r = watch('r', new Readable({ read() {} }));
        r.push(null);
        r.resume();
        await later();
        await later();
        const w = watch('w', new Writable({ write(c, e, cb) { cb(); } }));
        r.pipe(w);
    },
    async pipeNoEnd() {
        const r = watch('r', new Readable({ read() {} }));
        const w = watch('w', new Writable({ write(c, e, cb) { say(`write ${brief(c)}`); cb(); } }));
        r.pipe(w, { end: false });
        r.push('x');
        r.push(null);
    },
    async transform() {
        const t = watch('t', new Transform({ transform(c, e, cb) { say(`transform ${brief(c)}`);
            cb(null, `${c}`.toUpperCase()); }, flush(cb) { say('flush'); cb(null, '!'); } }));
        t.on('data', (c) => say(`data ${brief(c)}`));
        t.write('a');
        t.write('b');
        t.end('c');
        ticks(5);
    },
    async transformBack() {
        const t = watch('t', new Transform({ readableHighWaterMark: 1, writableHighWaterMark: 1, transform(c, e, cb) {
            say(`transform ${brief(c)}`); this.push(c); this.push(c); cb(); } }));
        say(t.write('a'));
        say(t.write('b'));
        say(t.write('c'));
        await later();
        say(brief(t.read()));
        await later();
        t.on('data', (c) => say(`data ${brief(c)}`));
        t.end();
    },
    async transformError() {
        const t = watch('t', new Transform({ transform(c, e, cb) { cb(new Error('t')); } }));
        t.write('a', (e) => say(`cb ${brief(e)}`));
        t.end();
    },
    async passThrough() {
        const t = watch('t', new PassThrough());
        t.end('abc');
        await later();
        t.on('readable', () => { let c; while ((c = t.read(2)) !== null) say(`got ${brief(c)}`); });
    },
    async duplex() {
        const d = watch('d', new Duplex({ read() {}, write(c, e, cb) { say(`write ${brief(c)}`); cb(); } }));
        d.push('in');
        d.push(null);
        d.end('out');
        d.on('data', (c) => say(`data ${brief(c)}`));
        ticks(4);
    },
    async duplexHalf() {
        const d = watch('d', new Duplex({ allowHalfOpen: false, read() {}, write(c, e, cb) { cb(); } }));
        d.push(null);
        d.resume();
    },
    async duplexOpen() {
        const d = watch('d', new Duplex({ read() {}, write(c, e, cb) { cb(); } }));
        d.push(null);
        d.resume();
        await later();
        await later();
        say([d.readableEnded, d.writableEnded, d.destroyed]);
        d.end();
    },
    async finishedOk() {
        const r = new Readable({ read() {} });
        finished(r, (e) => say(`finished ${brief(e)}`));
        r.on('close', () => say('close')).on('end', () => say('end'));
        r.push(null);
        r.resume();
    },
    async finishedEarly() {
        const r = new Readable({ read() {} });
        finished(r, (e) => say(`finished ${brief(e)}`));
        r.destroy();
    },
    async finishedLate() {
        const r = new Readable({ read() {} });
        r.destroy(new Error('gone'));
        r.on('error', () => say('error'));
        await later();
        finished(r, (e) => say(`finished ${brief(e)}`));
        ticks(2);
    },
    async finishedWrite() {
        const w = new Writable({ write(c, e, cb) { cb(); } });
        finished(w, (e) => say(`finished ${brief(e)}`));
        w.on('finish', () => say('finish')).on('close', () => say('close'));
        w.end();
    },
    async finishedOff() {
        const w = new Writable({ write(c, e, cb) { cb(); } });
        const off = finished(w, (e) => say(`finished ${brief(e)}`));
        off();
        w.end();
    },
    async pipelineOk() {
        let n = 0;
        const r = watch('r', new Readable({ read() { this.push(n < 3 ? `p${n++}` : null); } }));
        const w = watch('w', new Writable({ write(c, e, cb) { say(`write ${brief(c)}`); cb(); } }));
        pipeline(r, new PassThrough(), w, (e) => say(`done ${brief(e)}`));
    },
    async pipelineFails() {
        const r = watch('r', new Readable({ read() {} }));
        const t = watch('t', new PassThrough());
        const w = watch('w', new Writable({ write(c, e, cb) { setImmediate(cb, new Error('w')); } }));
        pipeline(r, t, w, (e) => say(`done ${brief(e)}`));
        r.push('x');
    },
    async pipelineSource() {
        const r = watch('r', new Readable({ read() {} }));
        const w = watch('w', new Writable({ write(c, e, cb) { cb(); } }));
        pipeline(r, w, (e) => say(`done ${brief(e)}`));
        r.destroy(new Error('src'));
    },
    async pipelineClose() {
        const r = watch('r', new Readable({ read() {} }));
        const w = watch('w', new Writable({ write(c, e, cb) { cb(); } }));
        pipeline(r, w, (e) => say(`done ${brief(e)}`));
        r.destroy();
    },
    async pipelineFunctions() {
        pipeline(async function* () { yield 'a'; yield 'b'; }, async function* (s) {
            for await (const c of s) yield `${c}`.toUpperCase(); }, async (s) => { let t = '';
            for await (const c of s) t += c; return t; }, (e, v) => say(`done ${brief(e)} ${v}`));
    },
    async iterate() {
        let n = 0;
        const r = watch('r', new Readable({ read() { this.push(n < 3 ? `p${n++}` : null); } }));
        for await (const c of r) say(`got ${brief(c)}`);
        say('after');
    },
    async iterateBreak() {
        let n = 0;
        const r = watch('r', new Readable({ objectMode: true, read() { this.push(n++); } }));
        for await (const c of r) { say(`got ${c}`); if (c === 2) break; } say(`after ${r.destroyed}`);
    },
    async iterateError() {
        const r = watch('r', new Readable({ read() {} }));
        r.push('a');
        setImmediate(() => r.destroy(new Error('late')));
        try { for await (const c of r) say(`got ${brief(c)}`); } catch (e) { say(`caught ${brief(e)}`); }
    },
    async iterateDestroyed() {
        const r = watch('r', new Readable({ read() {} }));
        setImmediate(() => r.destroy());
        try { for await (const c of r) say(`got ${brief(c)}`); } catch (e) { say(`caught ${brief(e)}`); }
    },
    async from() {
        const r = watch('r', Readable.from(['a', 'b', 3]));
        for await (const c of r) say(`got ${brief(c)}`);
        const s = watch('s', Readable.from((async function* () { try { yield 1; yield 2; } finally { say('left'); } })()));
        for await (const c of s) { say(c); break; }
    },
    async fromFails() {
        const r = watch('r', Readable.from((async function* () { yield 1; throw new Error('gen'); })()));
        r.on('data', (c) => say(`data ${c}`));
    },
    async operators() {
        say(await Readable.from([1, 2, 3, 4]).filter((x) => x % 2).map(async (x) => x * 10).toArray());
        say(await Readable.from([1, 2, 3]).reduce((a, b) => a + b, 0));
        say(await Readable.from([1, 2, 3]).take(2).toArray());
        say(await Readable.from([1, 2, 3]).drop(2).toArray());
        say(await Readable.from([1, 2]).flatMap((x) => [x, x]).toArray());
        say(await Readable.from([1, 2]).some((x) => x > 1), await Readable.from([1, 2]).every((x) => x > 1));
        say(await Readable.from([1, 2]).find((x) => x > 1));
    },
    async abort() {
        const c = new AbortController();
        const r = watch('r', addAbortSignal(c.signal, new Readable({ read() {} })));
        c.abort();
        await later();
        const w = watch('w', new Writable({ signal: AbortSignal.abort(), write() {} }));
    },
    async readSizes() {
        const r = new Readable({ highWaterMark: 4, read(n) { say(`_read ${n}`); } });
        r.push('abcdefgh');
        say(brief(r.read(3)));
        say(brief(r.read(10)));
        say(r.readableHighWaterMark);
        say(brief(r.read(0)));
        say(brief(r.read()));
        r.push('xy');
        r.push(null);
        say(brief(r.read(5)));
    },
    async removeReadable() {
        const r = watch('r', new Readable({ read() {} }));
        const l = () => say('readable');
        r.on('readable', l);
        r.on('data', (c) => say(`data ${brief(c)}`));
        say(r.readableFlowing);
        r.push('a');
        await later();
        r.removeListener('readable', l);
        await later();
        say(r.readableFlowing);
        r.push('b');
    },
    async multi() {
        const w = watch('w', new Writable({ write(c, e, cb) { cb(); cb(); } }));
        w.write('a');
    },
    async drainInWrite() {
        const w = watch('w', new Writable({ highWaterMark: 1, write(c, e, cb) { process.nextTick(cb); } }));
        let n = 0;
        const go = () => { while (n < 3) { n++; if (!w.write('x')) break; } if (n >= 3) w.end(); };
        w.on('drain', go);
        go();
    },
};
(async () => {
    const only = process.argv[2]; // one of them, or all
    for (const name of Object.keys(scenarios)) {
        if (only && only !== name)
            continue;
        console.log(`== ${name}`);
        say = (...v) => console.log(' ', v.map((x) => Array.isArray(x) ? x.join() : String(x)).join(' '));
        try { await scenarios[name](); } catch (e) { say(`THREW ${e.stack}`); }
        for (let i = 0; i < 12; i++) await later();
    }
})();
