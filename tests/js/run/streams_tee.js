// tee() of default and byte streams, async iteration, and ReadableStream.from.
const log = (...parts) => console.log(parts.join(' '));
const show = (r) => JSON.stringify(r);

async function drain(stream) {
    const all = [];
    for await (const chunk of stream) {
        all.push(chunk instanceof Uint8Array ? `[${chunk}]` : chunk);
    }
    return all.join();
}

async function teeing() {
    let pulls = 0;
    const stream = new ReadableStream({
        pull(c) { pulls += 1; c.enqueue(pulls); if (pulls === 3) { c.close(); } },
        cancel(reason) { log('source cancelled', show(reason)); },
    }, { highWaterMark: 0 });
    const [a, b] = stream.tee();
    log('locked', stream.locked, a instanceof ReadableStream, a !== b);
    log(await drain(a), await drain(b));
    const object = { x: 1 };
    const [c, d] = new ReadableStream({ start(k) { k.enqueue(object); } }).tee();
    const [x, y] = await Promise.all([c.getReader().read(), d.getReader().read()]);
    log(x.value === object, y.value === object);
    const open = new ReadableStream({ cancel(reason) { log('cancelled with', show(reason)); return 'value'; } });
    const [e, f] = open.tee();
    const first = e.cancel('one').then((v) => log('first done', v));
    await new Promise((r) => setTimeout(r, 1));
    log('only one so far');
    await f.cancel('two').then((v) => log('second done', v));
    await first;
    let k;
    const failing = new ReadableStream({ start(z) { k = z; } });
    const [g, h] = failing.tee();
    k.error(new Error('broken'));
    await g.getReader().read().catch((err) => log('g', err.message));
    await h.getReader().read().catch((err) => log('h', err.message));
    const [i, j] = new ReadableStream({ start(z) { z.enqueue(1); z.enqueue(2); z.close(); } }).tee();
    i.cancel().then(() => log('branch cancelled'));
    log('other branch', await drain(j));
}

async function teeingBytes() {
    let k;
    const stream = new ReadableStream({ type: 'bytes', start(z) { k = z; } });
    const [a, b] = stream.tee();
    k.enqueue(new Uint8Array([1, 2, 3]));
    const r1 = await a.getReader().read();
    const r2 = await b.getReader({ mode: 'byob' }).read(new Uint8Array(2));
    log(`[${r1.value}] [${r2.value}] ${r1.value.buffer === r2.value.buffer}`);
    const [c, d] = new ReadableStream({
        type: 'bytes',
        pull(z) { z.byobRequest.view[0] = 5; z.byobRequest.respond(1); },
    }).tee();
    const rc = c.getReader({ mode: 'byob' });
    const first = await rc.read(new Uint8Array(4));
    log(`[${first.value}]`);
    const second = await d.getReader({ mode: 'byob' }).read(new Uint8Array(4));
    log(`[${second.value}]`);
    const [e, f] = new ReadableStream({ type: 'bytes', start(z) { k = z; } }).tee();
    const re = e.getReader({ mode: 'byob' });
    const rf = f.getReader();
    const reads = [re.read(new Uint8Array(3)), rf.read()];
    k.close();
    const [x, y] = await Promise.all(reads);
    log(x.done, x.value && x.value.byteLength, y.done, y.value);
}

async function iterating() {
    const stream = () => new ReadableStream({
        start(c) { c.enqueue(1); c.enqueue(2); c.enqueue(3); c.close(); },
        cancel(reason) { log('cancel', reason); },
    });
    log(await drain(stream()));
    const broken = stream();
    for await (const x of broken) {
        log('got', x);
        break;
    }
    log('after break', broken.locked);
    const kept = stream();
    for await (const x of kept.values({ preventCancel: true })) {
        log('got', x);
        break;
    }
    log('kept', show(await kept.getReader().read()));
    const thrown = stream();
    try {
        for await (const x of thrown) {
            throw new Error('mine ' + x);
        }
    } catch (error) {
        log(error.message, thrown.locked);
    }
    const it = stream().values();
    const results = await Promise.all([it.next(), it.next(), it.next(), it.next(), it.next()]);
    log(show(results));
    const early = stream().values();
    log(show(await early.return('bye')), show(await early.next()), show(await early.return('again')));
    const queued = stream().values();
    const three = await Promise.all([queued.next(), queued.return('r'), queued.next()]);
    log(show(three));
    const prototype = Object.getPrototypeOf(queued);
    log(Object.getOwnPropertyNames(prototype).sort().join(), typeof queued[Symbol.asyncIterator],
        queued[Symbol.asyncIterator]() === queued);
    let c;
    const erring = new ReadableStream({ start(x) { c = x; } });
    const iterator = erring.values();
    const next = iterator.next();
    c.error(new Error('lost'));
    await next.catch((e) => log(e.message, erring.locked));
    log(show(await iterator.next()));
    const AsyncIteratorPrototype = Object.getPrototypeOf(Object.getPrototypeOf(async function* () {}).prototype);
    log(Object.getPrototypeOf(prototype) === AsyncIteratorPrototype);
}

async function from() {
    log(await drain(ReadableStream.from([1, 2, 3])));
    log(await drain(ReadableStream.from('añ😀')));
    log(await drain(ReadableStream.from(new Set(['x', 'y']))));
    log(await drain(ReadableStream.from([Promise.resolve('p'), 'q'])));
    async function* numbers() {
        try {
            yield 1;
            yield 2;
        } finally {
            log('finally');
        }
    }
    log(await drain(ReadableStream.from(numbers())));
    const reader = ReadableStream.from(numbers()).getReader();
    log(show(await reader.read()));
    await reader.cancel('reason');
    const events = [];
    const stream = ReadableStream.from({
        [Symbol.asyncIterator]() {
            return {
                next() { events.push('next'); return Promise.resolve({ value: 'v', done: false }); },
                return(value) { events.push('return ' + value); return Promise.resolve({}); },
            };
        },
    });
    await new Promise((r) => setTimeout(r, 1));
    log('before reading', events.join());
    const r = stream.getReader();
    log(show(await r.read()));
    await r.cancel('stop');
    log(events.join());
    await drain(ReadableStream.from({ [Symbol.iterator]() { return { next() { throw new Error('next'); } }; } }))
        .catch((e) => log(e.message));
    await drain(ReadableStream.from({ [Symbol.asyncIterator]() { return { next() { return 1; } }; } }))
        .catch((e) => log(e.name));
    log(await drain(ReadableStream.from(new ReadableStream({ start(c) { c.enqueue('nested'); c.close(); } }))));
}

teeing().then(teeingBytes).then(iterating).then(from).then(() => log('end'));
