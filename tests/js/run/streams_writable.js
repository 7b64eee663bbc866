// Writable streams: back pressure, order, closing, aborting.
const log = (...parts) => console.log(parts.join(' '));
const later = (ms = 1) => new Promise((r) => setTimeout(r, ms));

async function basics() {
    const events = [];
    const sink = {
        start(c) { events.push('start ' + (this === sink) + ' ' + arguments.length + ' ' + c.signal.aborted); },
        write(chunk, c) { events.push('write ' + chunk + ' ' + (this === sink) + ' ' + arguments.length); },
        close() { events.push('close ' + (this === sink) + ' ' + arguments.length); },
        abort() { events.push('abort'); },
    };
    const stream = new WritableStream(sink);
    log(stream.locked);
    const writer = stream.getWriter();
    log(stream.locked, writer.desiredSize);
    const one = writer.write('a').then((v) => events.push('wrote a ' + v));
    log(writer.desiredSize);
    const ready = writer.ready;
    const two = writer.write('b').then(() => events.push('wrote b'));
    log(writer.desiredSize, ready === writer.ready);
    ready.then(() => events.push('ready'));
    writer.closed.then((v) => events.push('closed ' + v));
    await writer.close().then((v) => events.push('close gives ' + v));
    await one;
    await two;
    log(writer.desiredSize);
    events.push('end');
    for (const event of events) {
        log(event);
    }
}

async function pressure() {
    const stream = new WritableStream({ write() { return later(); } }, { highWaterMark: 3, size: (c) => c.length });
    const writer = stream.getWriter();
    log(writer.desiredSize);
    const first = writer.write('ab');
    log(writer.desiredSize);
    await writer.ready;
    const second = writer.write('cd');
    log(writer.desiredSize);
    let ready = false;
    writer.ready.then(() => { ready = true; });
    await null;
    log('ready', ready);
    await first;
    await second;
    log('ready', ready, writer.desiredSize);
    await writer.close();
}

async function aborting() {
    let controller;
    const stream = new WritableStream({
        start(c) { controller = c; },
        write(chunk) { log('write', chunk); return later(); },
        abort(reason) { log('abort', reason, arguments.length); return later(); },
        close() { log('close'); },
    });
    controller.signal.addEventListener('abort', () => log('signal', controller.signal.reason));
    const writer = stream.getWriter();
    await later();
    const outcomes = [];
    const note = (label, promise) => promise.then((v) => outcomes.push(`${label} ok ${v}`),
        (e) => outcomes.push(`${label} ${e}`));
    note('closed', writer.closed);
    note('1', writer.write(1));
    note('2', writer.write(2));
    note('close', writer.close());
    const first = writer.abort('why');
    const second = writer.abort('twice');
    log('same', first === second, writer.desiredSize);
    note('ready', writer.ready);
    await first.then((v) => log('aborted', v));
    await later();
    log(outcomes.join(' | '));
    log(controller.signal.aborted, writer.desiredSize);
    await writer.abort('late').then((v) => log('late', v));
    await writer.write(3).catch((e) => log('write', e));
    const plain = new WritableStream();
    await plain.abort();
    await plain.getWriter().closed.catch((e) => log('undefined reason:', e));
    const closed = new WritableStream();
    await closed.close();
    log('abort closed', await closed.abort('x'));
    const bad = new WritableStream({ abort() { throw new Error('abort failed'); } });
    await bad.abort('r').catch((e) => log(e.message));
}

async function failing() {
    const stream = new WritableStream({ write(chunk) { if (chunk === 2) { throw new Error('two'); } } });
    const writer = stream.getWriter();
    const results = await Promise.allSettled([writer.write(1), writer.write(2), writer.write(3), writer.close(),
        writer.closed]);
    log(results.map((r) => (r.status === 'fulfilled' ? 'ok' : r.reason.message)).join(' | '));
    await writer.ready.catch((e) => log('ready', e.message));
    log(writer.desiredSize);
    const closing = new WritableStream({ close() { return Promise.reject(new Error('close')); } });
    await closing.close().catch((e) => log(e.message));
    await closing.getWriter().closed.catch((e) => log('closed', e.message));
    let c;
    const erring = new WritableStream({ start(x) { c = x; } });
    const w = erring.getWriter();
    c.error(new Error('by controller'));
    c.error(new Error('second'));
    await w.write(1).catch((e) => log(e.message));
    await w.closed.catch((e) => log(e.message));
    log(w.desiredSize);
    const starting = new WritableStream({ start() { return Promise.reject(new Error('start')); } });
    await starting.getWriter().write(1).catch((e) => log(e.message));
    const sizes = new WritableStream({}, { size() { throw new Error('size'); } });
    await sizes.getWriter().write(1).catch((e) => log(e.message));
    const negative = new WritableStream({}, { size() { return -1; } });
    await negative.getWriter().write(1).catch((e) => log(e.name));
}

async function order() {
    const events = [];
    const stream = new WritableStream({
        start() { events.push('start'); },
        write(x) { events.push('w' + x); },
        close() { events.push('c'); },
    }, { highWaterMark: 5 });
    const writer = stream.getWriter();
    writer.ready.then(() => events.push('ready'));
    for (let i = 0; i < 3; i++) {
        writer.write(i).then(() => events.push('done' + i));
    }
    writer.close().then(() => events.push('closed'));
    let p = Promise.resolve();
    for (let i = 0; i < 10; i++) {
        p = p.then(() => events.push('t' + i));
    }
    await later();
    log(events.join(' '));
}

async function releasing() {
    const stream = new WritableStream({ write() { return later(5); } });
    const writer = stream.getWriter();
    const write = writer.write(1);
    const closed = writer.closed;
    writer.releaseLock();
    writer.releaseLock();
    await closed.catch((e) => log('closed', e.name));
    log('write', await write, stream.locked);
    const again = stream.getWriter();
    log(again.desiredSize);
    again.releaseLock();
    const closing = stream.close();
    await stream.close().catch((e) => log('close twice', e.name));
    await closing;
    const last = stream.getWriter();
    log(last.desiredSize);
    await last.ready;
    await last.closed;
}

basics().then(pressure).then(aborting).then(failing).then(order).then(releasing).then(() => log('end'));
