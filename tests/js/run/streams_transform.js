// Transform streams: order, back pressure, terminate, errors, text streams.
const log = (...parts) => console.log(parts.join(' '));
const later = (ms = 1) => new Promise((r) => setTimeout(r, ms));
const show = (r) => JSON.stringify(r);

async function basics() {
    const events = [];
    const transformer = {
        start(c) { events.push(`start ${this === transformer} ${arguments.length} ${c.desiredSize}`); },
        transform(chunk, c) {
            events.push(`transform ${chunk} ${this === transformer} ${arguments.length} ${c.desiredSize}`);
            c.enqueue(chunk + '!');
            c.enqueue(chunk + '?');
        },
        flush(c) { events.push(`flush ${this === transformer} ${arguments.length}`); c.enqueue('last'); },
    };
    const stream = new TransformStream(transformer);
    log(stream.readable === stream.readable, stream.writable === stream.writable);
    const writer = stream.writable.getWriter();
    const reader = stream.readable.getReader();
    log(writer.desiredSize);
    writer.write('a').then(() => events.push('wrote a'));
    await later();
    events.push('reading');
    events.push(show(await reader.read()), show(await reader.read()));
    writer.write('b');
    writer.close().then(() => events.push('closed'));
    events.push(show(await reader.read()), show(await reader.read()), show(await reader.read()), show(await reader.read()));
    await writer.closed;
    for (const event of events) {
        log(event);
    }
}

async function identity() {
    const { readable, writable } = new TransformStream();
    const writer = writable.getWriter();
    const object = { a: 1 };
    writer.write(object);
    const { value } = await readable.getReader().read();
    log(value === object);
    const wide = new TransformStream(undefined, { highWaterMark: 2 }, { highWaterMark: 3 });
    const w = wide.writable.getWriter();
    log(w.desiredSize);
    const done = [];
    for (let i = 0; i < 6; i++) {
        w.write(i).then(() => done.push(i));
    }
    await later();
    log('done', done.join(), 'desired', w.desiredSize);
}

async function failures() {
    const throwing = new TransformStream({ transform() { throw new Error('transform'); } });
    const writer = throwing.writable.getWriter();
    const reader = throwing.readable.getReader();
    const results = await Promise.allSettled([writer.write(1), reader.read(), writer.closed, reader.closed]);
    log(results.map((r) => r.reason && r.reason.message).join());
    const flushing = new TransformStream({ flush() { throw new Error('flush'); } });
    await flushing.writable.close().catch((e) => log(e.message));
    await flushing.readable.getReader().read().catch((e) => log(e.message));
    let c;
    const erring = new TransformStream({ start(x) { c = x; } });
    c.error(new Error('controller'));
    await erring.readable.getReader().read().catch((e) => log(e.message));
    await erring.writable.getWriter().write().catch((e) => log(e.message));
    log(c.desiredSize);
    const starting = new TransformStream({ start() { return Promise.reject(new Error('start')); } });
    await starting.readable.getReader().read().catch((e) => log(e.message));
    const cancelled = new TransformStream();
    await cancelled.readable.cancel('no more');
    await cancelled.writable.getWriter().write(1).catch((e) => log('write', e));
    const aborted = new TransformStream();
    await aborted.writable.abort('stop');
    await aborted.readable.getReader().read().catch((e) => log('read', e));
}

async function terminating() {
    let c;
    const stream = new TransformStream({ start(x) { c = x; } }, undefined, { highWaterMark: 2 });
    c.enqueue('x');
    log(c.desiredSize);
    c.terminate();
    c.terminate();
    const reader = stream.readable.getReader();
    log(show(await reader.read()), show(await reader.read()));
    await stream.writable.getWriter().closed.catch((e) => log(e.name));
    try {
        c.enqueue('y');
    } catch (error) {
        log(error.name);
    }
    const sized = new TransformStream({ start(x) { c = x; } }, undefined, { size() { throw new Error('size'); } });
    try {
        c.enqueue(1);
    } catch (error) {
        log(error.message);
    }
    await sized.readable.getReader().closed.catch((e) => log(e.message));
    await sized.writable.getWriter().closed.catch((e) => log(e.message));
}

async function order() {
    const events = [];
    const { readable, writable } = new TransformStream({
        async transform(chunk, c) { events.push('t' + chunk); await null; c.enqueue(chunk); events.push('u' + chunk); },
        flush() { events.push('f'); },
    });
    const writer = writable.getWriter();
    const reader = readable.getReader();
    for (let i = 0; i < 3; i++) {
        writer.ready.then(() => events.push('ready' + i));
        writer.write(i).then(() => events.push('w' + i));
    }
    writer.close().then(() => events.push('c'));
    for (;;) {
        const { value, done } = await reader.read();
        events.push('r' + value);
        if (done) {
            break;
        }
    }
    await later();
    log(events.join(' '));
}

async function collect(readable) {
    const all = [];
    for await (const chunk of readable) {
        all.push(chunk instanceof Uint8Array ? `[${chunk}]` : JSON.stringify(chunk));
    }
    return all.join(' ');
}

async function text() {
    const encoder = new TextEncoderStream();
    log(encoder.encoding, encoder.readable instanceof ReadableStream, encoder.writable instanceof WritableStream);
    log(await collect(ReadableStream.from(['é', '\ud83d', '\ude00', '', 'x\ud83d', 'y', 12,
        '\ud83d']).pipeThrough(encoder)));
    const decoder = new TextDecoderStream();
    log(decoder.encoding, decoder.fatal, decoder.ignoreBOM);
    const bytes = [[0xEF, 0xBB], [0xBF, 0x61], [0xF0, 0x9F], [0x98], [0x80, 0x62], [0xE2]].map((b) => new Uint8Array(b));
    log(await collect(ReadableStream.from(bytes).pipeThrough(decoder)));
    const fatal = new TextDecoderStream('utf-8', { fatal: true, ignoreBOM: true });
    log(fatal.fatal, fatal.ignoreBOM);
    await collect(ReadableStream.from([new Uint8Array([0xFF])]).pipeThrough(fatal)).catch((e) => log(e.name));
    const buffers = new TextDecoderStream();
    log(await collect(ReadableStream.from([new Uint8Array([65]).buffer, new DataView(new Uint8Array([66, 67]).buffer, 1)])
        .pipeThrough(buffers)));
    try {
        new TextDecoderStream('no such encoding');
    } catch (error) {
        log(error.name);
    }
}

basics().then(identity).then(failures).then(terminating).then(order).then(text).then(() => log('end'));
