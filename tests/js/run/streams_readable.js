// Default readable streams: queueing, pulling, cancelling, erroring, and the order of it all.
const log = (...parts) => console.log(parts.join(' '));
const show = (r) => JSON.stringify(r);

async function basics() {
    const events = [];
    const stream = new ReadableStream({
        start(c) { events.push('start ' + c.desiredSize); c.enqueue('a'); events.push('after a ' + c.desiredSize); },
        pull(c) { events.push('pull ' + c.desiredSize); c.enqueue('b'); if (events.length > 6) { c.close(); } },
        cancel(reason) { events.push('cancel ' + reason); },
    }, { highWaterMark: 3 });
    events.push('made');
    await null;
    await null;
    await null;
    events.push('turned');
    const reader = stream.getReader();
    events.push('locked ' + stream.locked);
    for (;;) {
        const r = await reader.read();
        events.push(show(r));
        if (r.done) {
            break;
        }
    }
    await reader.closed;
    reader.releaseLock();
    events.push('locked ' + stream.locked);
    log(events.join(' | '));
}

async function lazyPull() {
    const events = [];
    let n = 0;
    const stream = new ReadableStream({
        pull(c) { events.push('pull'); c.enqueue(n++); return Promise.resolve(); },
    }, { highWaterMark: 0 });
    await new Promise((r) => setTimeout(r, 1));
    events.push('before');
    const reader = stream.getReader();
    events.push(show(await reader.read()), show(await reader.read()));
    const [x, y] = await Promise.all([reader.read(), reader.read()]);
    events.push(show(x), show(y));
    await reader.cancel();
    events.push(show(await reader.read()));
    log(events.join(' | '));
}

async function cancelling() {
    const stream = new ReadableStream({
        start(c) { c.enqueue(1); },
        cancel(reason) { log('cancel', reason); return new Promise((r) => setTimeout(() => r('ignored'), 1)); },
    });
    log('cancel gives', await stream.cancel('why'));
    log(show(await stream.getReader().read()));
    const failing = new ReadableStream({ cancel() { throw new Error('no'); } });
    await failing.cancel().catch((e) => log('rejects', e.message));
    const errored = new ReadableStream({ start(c) { c.error(new Error('bad')); } });
    await errored.cancel().catch((e) => log('errored', e.message));
    const reader = errored.getReader();
    await reader.read().catch((e) => log('read', e.message));
    await reader.closed.catch((e) => log('closed', e.message));
}

async function failures() {
    const first = new ReadableStream({ pull() { throw new Error('pull'); } });
    const reader = first.getReader();
    await reader.read().catch((e) => log('pull throws:', e.message));
    const second = new ReadableStream({ start() { return Promise.reject(new Error('start')); } });
    await second.getReader().read().catch((e) => log('start rejects:', e.message));
    let c;
    const third = new ReadableStream({ start(x) { c = x; } });
    const waiting = third.getReader();
    const reads = [waiting.read(), waiting.read()];
    c.error('plain');
    for (const read of reads) {
        await read.catch((e) => log('waiting:', e));
    }
    log('desired', c.desiredSize);
    c.error('again');
    const fourth = new ReadableStream({ start(x) { c = x; } });
    c.enqueue(1);
    c.close();
    log('desired', c.desiredSize);
    const r4 = fourth.getReader();
    log(show(await r4.read()), show(await r4.read()), 'desired', c.desiredSize);
    const fifth = new ReadableStream({ start(x) { c = x; } });
    c.enqueue('lost');
    c.error(new Error('dropped'));
    await fifth.getReader().read().catch((e) => log('queue dropped:', e.message));
}

async function order() {
    const events = [];
    let c;
    const stream = new ReadableStream({ start(x) { c = x; } });
    const reader = stream.getReader();
    reader.closed.then(() => events.push('closed'));
    reader.read().then((r) => events.push('1 ' + show(r)));
    reader.read().then((r) => events.push('2 ' + show(r)));
    c.enqueue('x');
    Promise.resolve().then(() => events.push('tick 1')).then(() => events.push('tick 2')).then(() => events.push('tick 3'));
    c.close();
    await new Promise((r) => setTimeout(r, 1));
    log(events.join(' | '));
}

async function ticks(label, start, pull) {
    const events = [];
    const stream = new ReadableStream({ start, pull(c) { events.push('pull'); return pull(c); } });
    let i = 0;
    let p = Promise.resolve();
    for (; i < 8; i++) {
        const k = i;
        p = p.then(() => events.push(k));
    }
    await p;
    await stream.cancel();
    log(label, events.join(' '));
}

async function sizes() {
    let c;
    const seen = [];
    new ReadableStream({ start(x) { c = x; } }, { highWaterMark: 10, size(chunk) { seen.push(this === undefined);
        return chunk; } });
    c.enqueue(3);
    log(c.desiredSize);
    c.enqueue('4');
    log(c.desiredSize);
    c.enqueue(5.5);
    log(c.desiredSize, seen.join());
    const infinite = new ReadableStream({ start(x) { c = x; } }, { highWaterMark: Infinity });
    log(c.desiredSize, infinite.locked);
    new ReadableStream({ start(x) { c = x; } }, new ByteLengthQueuingStrategy({ highWaterMark: 16 }));
    c.enqueue(new Uint8Array(10));
    log(c.desiredSize);
    const calls = [];
    const source = {
        start(x) { calls.push('start', this === source, arguments.length); },
        pull(x) { calls.push('pull', this === source, arguments.length); },
        cancel(x) { calls.push('cancel', this === source, arguments.length); },
    };
    const s = new ReadableStream(source);
    await new Promise((r) => setTimeout(r, 1));
    await s.cancel();
    log(calls.join(' '));
}

async function reuse() {
    const stream = new ReadableStream({ start(c) { c.enqueue(1); c.enqueue(2); c.close(); } });
    const one = stream.getReader();
    log(show(await one.read()));
    one.releaseLock();
    one.releaseLock();
    const two = stream.getReader();
    log(show(await two.read()), show(await two.read()));
    const direct = new ReadableStreamDefaultReader(new ReadableStream());
    log(direct instanceof ReadableStreamDefaultReader, direct.closed === direct.closed);
    const thenable = new ReadableStream({ start(c) { c.enqueue({ then() { log('never called'); } }); c.close(); } });
    const r = await thenable.getReader().read();
    log(typeof r.value.then, Object.keys(r).join());
}

(async () => {
    await basics();
    await lazyPull();
    await cancelling();
    await failures();
    await order();
    await ticks('sync', () => {}, (c) => c.enqueue(1));
    await ticks('promise start', () => Promise.resolve(), (c) => c.enqueue(1));
    await ticks('async start', async () => {}, (c) => c.enqueue(1));
    await sizes();
    await reuse();
    log('end');
})();
