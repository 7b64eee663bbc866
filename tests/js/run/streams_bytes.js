// Byte streams: default reads, reads into views, requests, minimums, detaching.
const log = (...parts) => console.log(parts.join(' '));
const show = (r) => (r.value === undefined ? `undefined ${r.done}` :
    `${r.value.constructor.name}[${r.value instanceof DataView ? 'view ' + r.value.byteLength : Array.from(r.value)}] ` +
    `offset ${r.value.byteOffset} of ${r.value.buffer.byteLength} ${r.done}`);

async function plain() {
    let c;
    const stream = new ReadableStream({ type: 'bytes', start(x) { c = x; log('desired', x.desiredSize, x.byobRequest); } });
    const chunk = new Uint8Array([1, 2, 3, 4]);
    c.enqueue(chunk);
    log('detached', chunk.byteLength, chunk.buffer.byteLength, 'desired', c.desiredSize);
    c.enqueue(new Uint16Array([0x0605]));
    c.enqueue(new DataView(new Uint8Array([9, 8, 7]).buffer, 1, 2));
    const reader = stream.getReader();
    log(show(await reader.read()));
    log(show(await reader.read()));
    log(show(await reader.read()));
    const waiting = reader.read();
    c.enqueue(new Uint8Array([5]));
    log(show(await waiting));
    c.close();
    log(show(await reader.read()));
}

async function intoViews() {
    let c;
    const stream = new ReadableStream({ type: 'bytes', start(x) { c = x; } });
    const reader = stream.getReader({ mode: 'byob' });
    c.enqueue(new Uint8Array([1, 2, 3, 4, 5, 6, 7]));
    const view = new Uint8Array(4);
    const read = reader.read(view);
    log('given away', view.byteLength);
    log(show(await read));
    log(show(await reader.read(new Uint16Array(8))));
    const waiting = reader.read(new Uint16Array(2));
    c.enqueue(new Uint8Array([9]));
    log(show(await waiting));
    const last = reader.read(new DataView(new ArrayBuffer(6), 2, 3));
    c.enqueue(new Uint8Array([4, 4]));
    log(show(await last));
}

async function requests() {
    const events = [];
    let n = 0;
    const stream = new ReadableStream({
        type: 'bytes',
        pull(c) {
            const request = c.byobRequest;
            events.push(`pull ${request && request.view.byteLength} ${request && request === c.byobRequest}`);
            n += 1;
            if (n === 1) {
                request.view[0] = 42;
                request.view[1] = 43;
                request.respond(2);
                events.push(`after ${request.view} ${c.byobRequest}`);
                try {
                    request.respond(1);
                } catch (error) {
                    events.push(error.name + ' ' + error.code);
                }
            } else if (n === 2) {
                const v = request.view;
                const fresh = new Uint8Array(v.buffer, v.byteOffset, 1);
                fresh[0] = 99;
                request.respondWithNewView(fresh);
            } else if (n === 3) {
                c.enqueue(new Uint8Array([7, 7]));
            } else {
                c.close();
                request.respond(0);
            }
        },
    });
    const reader = stream.getReader({ mode: 'byob' });
    events.push(show(await reader.read(new Uint8Array(4))));
    events.push(show(await reader.read(new Uint8Array(new ArrayBuffer(8), 2, 4))));
    events.push(show(await reader.read(new Uint8Array(1))));
    events.push(show(await reader.read(new Uint8Array(4))));
    events.push(show(await reader.read(new Uint8Array(4))));
    events.push(show(await reader.read(new Uint8Array(4))));
    for (const event of events) {
        log(event);
    }
}

async function automatic() {
    const stream = new ReadableStream({
        type: 'bytes',
        autoAllocateChunkSize: 16,
        pull(c) {
            log('allocated', c.byobRequest.view.byteLength);
            c.byobRequest.view.fill(3);
            c.byobRequest.respond(2);
        },
    });
    const reader = stream.getReader();
    log(show(await reader.read()));
    log(show(await reader.read()));
    await reader.cancel('x');
    log(show(await reader.read()));
}

async function minimums() {
    let c;
    const stream = new ReadableStream({ type: 'bytes', start(x) { c = x; } });
    const reader = stream.getReader({ mode: 'byob' });
    const read = reader.read(new Uint8Array(8), { min: 3 });
    let settled = false;
    read.then(() => { settled = true; });
    c.enqueue(new Uint8Array([1]));
    await new Promise((r) => setTimeout(r, 1));
    log('settled', settled);
    c.enqueue(new Uint8Array([2, 3, 4]));
    log(show(await read));
    const wide = reader.read(new Uint16Array(4), { min: 2 });
    c.enqueue(new Uint8Array([1, 0, 2, 0, 3]));
    log(show(await wide));
    log(show(await reader.read(new Uint8Array(4))));
}

async function ends() {
    let c;
    const one = new ReadableStream({ type: 'bytes', start(x) { c = x; } });
    const r1 = one.getReader({ mode: 'byob' });
    const wait = r1.read(new Uint8Array(5));
    c.close();
    c.byobRequest.respond(0);
    log(show(await wait));
    await r1.closed;
    const two = new ReadableStream({ type: 'bytes', start(x) { c = x; }, cancel(reason) { log('cancel', reason); } });
    const r2 = two.getReader({ mode: 'byob' });
    const wait2 = r2.read(new Uint8Array(5));
    await r2.cancel('stop');
    log(show(await wait2));
    const three = new ReadableStream({ type: 'bytes', start(x) { c = x; } });
    const r3 = three.getReader({ mode: 'byob' });
    const wait3 = r3.read(new Uint16Array(5));
    c.enqueue(new Uint8Array(3));
    log(show(await wait3));
    c.close();
    await r3.read(new Uint16Array(1)).then((r) => log(show(r)), (e) => log('partial', e.name));
    const four = new ReadableStream({ type: 'bytes', start(x) { c = x; } });
    const r4 = four.getReader({ mode: 'byob' });
    const wait4 = r4.read(new Uint8Array(2));
    c.error(new Error('broken'));
    await wait4.catch((e) => log(e.message));
    await r4.closed.catch((e) => log(e.message));
    const five = new ReadableStream({ type: 'bytes', start(x) { c = x; } });
    const r5 = five.getReader({ mode: 'byob' });
    const wait5 = r5.read(new Uint8Array(4));
    r5.releaseLock();
    await wait5.catch((e) => log('released', e.name));
    const r6 = five.getReader();
    const wait6 = r6.read();
    c.enqueue(new Uint8Array([77]));
    log(show(await wait6));
}

async function wrongResponses() {
    let c;
    const stream = new ReadableStream({ type: 'bytes', start(x) { c = x; } });
    const reader = stream.getReader({ mode: 'byob' });
    reader.read(new Uint8Array(4)).catch(() => {});
    const tries = [
        () => c.byobRequest.respond(0), () => c.byobRequest.respond(5), () => c.byobRequest.respondWithNewView(1),
        () => c.byobRequest.respondWithNewView(new Uint8Array(2)),
        () => c.byobRequest.respondWithNewView(new Uint8Array(c.byobRequest.view.buffer, 1, 1)),
    ];
    for (const attempt of tries) {
        try {
            attempt();
            log('no error');
        } catch (error) {
            log(error.name);
        }
    }
}

plain().then(intoViews).then(requests).then(automatic).then(minimums).then(ends).then(wrongResponses)
    .then(() => log('end'));
