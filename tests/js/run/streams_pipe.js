// pipeTo and pipeThrough: options, errors on both sides, signals, order.
const log = (...parts) => console.log(parts.join(' '));
const later = (ms = 1) => new Promise((r) => setTimeout(r, ms));

function source(chunks, label = 'source') {
    return new ReadableStream({
        start(c) {
            for (const chunk of chunks) {
                c.enqueue(chunk);
            }
            c.close();
        },
        cancel(reason) { log(label, 'cancelled', reason); },
    });
}

function sink(events, extra = {}) {
    return new WritableStream({
        write(chunk) { events.push('write ' + chunk); },
        close() { events.push('close'); },
        abort(reason) { events.push('abort ' + reason); },
        ...extra,
    });
}

async function simple() {
    const events = [];
    const from = source([1, 2, 3]);
    const to = sink(events);
    const promise = from.pipeTo(to);
    log(from.locked, to.locked);
    log(await promise, from.locked, to.locked);
    log(events.join());
    const open = [];
    const kept = sink(open);
    await source(['a']).pipeTo(kept, { preventClose: true });
    await source(['b']).pipeTo(kept);
    log(open.join());
}

async function slow() {
    const events = [];
    let n = 0;
    const from = new ReadableStream({
        pull(c) { n += 1; events.push('pull ' + n); c.enqueue(n); if (n === 4) { c.close(); } },
    }, { highWaterMark: 0 });
    await from.pipeTo(sink(events, { async write(chunk) { events.push('begin ' + chunk); await later();
        events.push('end ' + chunk); } }));
    log(events.join(' | '));
}

async function sourceErrors() {
    const make = () => new ReadableStream({ pull(c) { c.error('broken'); } }, { highWaterMark: 0 });
    const events = [];
    const to = sink(events);
    await make().pipeTo(to).catch((e) => log('rejects', e));
    log(events.join(), to.locked);
    const other = [];
    const kept = sink(other);
    await make().pipeTo(kept, { preventAbort: true }).catch((e) => log('rejects', e));
    log('kept', other.join(), kept.getWriter().desiredSize);
    const bad = sink([], { abort() { throw 'abort failed'; } });
    await make().pipeTo(bad).catch((e) => log('rejects', e));
    const errored = new ReadableStream({ start(c) { c.error('early'); } });
    await errored.pipeTo(sink(events)).catch((e) => log('rejects', e));
}

async function sinkErrors() {
    const bad = () => new WritableStream({ write() { throw 'full'; } });
    await source([1, 2]).pipeTo(bad()).catch((e) => log('rejects', e));
    const open = new ReadableStream({ start(c) { c.enqueue(1); }, cancel(reason) { log('cancel', reason); } });
    await open.pipeTo(bad()).catch((e) => log('rejects', e));
    const kept = new ReadableStream({ start(c) { c.enqueue(1); c.enqueue(2); c.enqueue(3); }, cancel() { log('never'); } });
    await kept.pipeTo(bad(), { preventCancel: true }).catch((e) => log('rejects', e));
    log('kept', kept.locked);
    const closed = new WritableStream();
    await closed.close();
    const one = new ReadableStream({ cancel(reason) { log('cancel', reason.name); } });
    await one.pipeTo(closed).catch((e) => log('rejects', e.name));
    await new ReadableStream().pipeTo(closed, { preventCancel: true }).catch((e) => log('rejects', e.name));
    const failing = new WritableStream({ close() { throw 'close'; } });
    await source([1]).pipeTo(failing).catch((e) => log('rejects', e));
    const aborted = new WritableStream();
    await aborted.abort('gone');
    await new ReadableStream({ cancel(reason) { log('cancel', reason); } }).pipeTo(aborted).catch((e) => log('rejects', e));
}

async function signals() {
    const controller = new AbortController();
    const events = [];
    const from = new ReadableStream({ cancel(reason) { log('cancel', reason); } });
    const to = sink(events);
    const promise = from.pipeTo(to, { signal: controller.signal });
    await later();
    controller.abort('enough');
    await promise.catch((e) => log('rejects', e));
    log(events.join(), from.locked, to.locked);
    const already = [];
    await new ReadableStream({ cancel(reason) { log('cancel', reason.name); } })
        .pipeTo(sink(already), { signal: AbortSignal.abort() }).catch((e) => log(e.name));
    log(already.join());
    const keep = new AbortController();
    const keptFrom = new ReadableStream({ cancel() { log('never'); } });
    const keptEvents = [];
    const keptTo = sink(keptEvents);
    const kept = keptFrom.pipeTo(keptTo, { signal: keep.signal, preventAbort: true, preventCancel: true,
        preventClose: true });
    keep.abort('x');
    await kept.catch((e) => log('rejects', e));
    log(keptEvents.length, keptFrom.locked, keptTo.locked);
    const late = new AbortController();
    await source([1]).pipeTo(sink([]), { signal: late.signal });
    late.abort();
    log('late abort is nothing');
    const finishing = new AbortController();
    const writes = [];
    const busy = source([1, 2, 3]).pipeTo(new WritableStream({
        async write(chunk) { writes.push('begin ' + chunk); finishing.abort('now'); await later();
            writes.push('end ' + chunk); },
        abort(reason) { writes.push('abort ' + reason); },
    }), { signal: finishing.signal });
    await busy.catch((e) => log('rejects', e));
    log(writes.join(' | '));
}

async function through() {
    const upper = new TransformStream({ transform(chunk, c) { c.enqueue(chunk.toUpperCase()); } });
    const result = source(['a', 'b']).pipeThrough(upper);
    log(result === upper.readable);
    const all = [];
    for await (const chunk of result) {
        all.push(chunk);
    }
    log(all.join());
    const pair = new TransformStream();
    const failed = new ReadableStream({ start(c) { c.error('oops'); } }).pipeThrough(pair);
    await failed.getReader().read().catch((e) => log('through', e));
    const order = [];
    const options = {
        get signal() { order.push('signal'); return undefined; },
        get preventClose() { order.push('preventClose'); return true; },
        get preventAbort() { order.push('preventAbort'); return 1; },
        get preventCancel() { order.push('preventCancel'); return 0; },
    };
    const t = new TransformStream();
    source([1]).pipeThrough(t, options);
    log(order.sort().join());
    const chain = source([1, 2, 3])
        .pipeThrough(new TransformStream({ transform(x, c) { c.enqueue(x * 2); } }))
        .pipeThrough(new TransformStream({ transform(x, c) { if (x !== 4) { c.enqueue(x + 1); } } }));
    const numbers = [];
    await chain.pipeTo(new WritableStream({ write(x) { numbers.push(x); } }));
    log(numbers.join());
}

simple().then(slow).then(sourceErrors).then(sinkErrors).then(signals).then(through).then(() => log('end'));
