// What goes wrong, and with which error.
function report(label, error) {
    console.log(`${label}: ${error.name} ${error.code} ${error.message}`);
}

async function attempt(label, run, short) {
    let result;
    try {
        result = run();
    } catch (error) {
        if (short) {
            console.log(`${label}: throws ${error.name}`);
        } else {
            report(label + ' throws', error);
        }
        return;
    }
    if (result && typeof result.then === 'function') {
        try {
            await result;
            console.log(label + ': fulfilled');
        } catch (error) {
            if (short) {
                console.log(`${label}: rejects ${error.name}`);
            } else {
                report(label + ' rejects', error);
            }
        }
        return;
    }
    console.log(label + ': returned');
}

const getter = (Class, key) => Object.getOwnPropertyDescriptor(Class.prototype, key).get;

async function constructors() {
    await attempt('source 1', () => new ReadableStream(1));
    await attempt('source null', () => new ReadableStream(null));
    await attempt('source type', () => new ReadableStream({ type: 'x' }));
    await attempt('byte size', () => new ReadableStream({ type: 'bytes' }, { size() {} }));
    await attempt('start 1', () => new ReadableStream({ start: 1 }), true);
    await attempt('mark -1', () => new ReadableStream({}, { highWaterMark: -1 }));
    await attempt('mark NaN', () => new ReadableStream({}, { highWaterMark: NaN }));
    await attempt('size 1', () => new ReadableStream({}, { size: 1 }));
    await attempt('allocate 0', () => new ReadableStream({ type: 'bytes', autoAllocateChunkSize: 0 }));
    await attempt('start throws', () => new ReadableStream({ start() { throw new RangeError('mine'); } }));
    await attempt('sink 1', () => new WritableStream(1));
    await attempt('sink type', () => new WritableStream({ type: 'x' }));
    await attempt('sink start throws', () => new WritableStream({ start() { throw new RangeError('mine'); } }));
    await attempt('sink mark', () => new WritableStream({}, { highWaterMark: -1 }));
    await attempt('transformer 1', () => new TransformStream(1));
    await attempt('readableType', () => new TransformStream({ readableType: 'x' }));
    await attempt('writableType', () => new TransformStream({ writableType: 'x' }));
    await attempt('transform 1', () => new TransformStream({ transform: 1 }));
    await attempt('transform start', () => new TransformStream({ start() { throw new RangeError('mine'); } }));
    await attempt('count none', () => new CountQueuingStrategy());
    await attempt('count 1', () => new CountQueuingStrategy(1));
    await attempt('count {}', () => new CountQueuingStrategy({}));
    await attempt('bytes {}', () => new ByteLengthQueuingStrategy({}));
    await attempt('reader 1', () => new ReadableStreamDefaultReader(1));
    await attempt('reader none', () => new ReadableStreamDefaultReader());
    await attempt('byob reader of default', () => new ReadableStreamBYOBReader(new ReadableStream()), true);
    await attempt('byob mode of default', () => new ReadableStream().getReader({ mode: 'byob' }), true);
    await attempt('mode', () => new ReadableStream().getReader({ mode: 'x' }));
    await attempt('options', () => new ReadableStream().getReader(1));
    await attempt('writer', () => new WritableStreamDefaultWriter(1));
    for (const name of ['ReadableStreamDefaultController', 'ReadableByteStreamController', 'ReadableStreamBYOBRequest',
        'WritableStreamDefaultController', 'TransformStreamDefaultController']) {
        await attempt('new ' + name, () => new globalThis[name]());
    }
}

async function brands() {
    await attempt('locked', () => getter(ReadableStream, 'locked').call({}));
    for (const key of ['cancel', 'tee', 'getReader', 'values']) {
        await attempt(key, () => ReadableStream.prototype[key].call({}));
    }
    await attempt('pipeTo', () => ReadableStream.prototype.pipeTo.call({}, new WritableStream()));
    await attempt('pipeThrough', () => ReadableStream.prototype.pipeThrough.call({}, new TransformStream()), true);
    for (const Class of [ReadableStreamDefaultReader, ReadableStreamBYOBReader]) {
        await attempt('read', () => Class.prototype.read.call({}, new Uint8Array(1)));
        await attempt('releaseLock', () => Class.prototype.releaseLock.call({}));
        await attempt('closed', () => getter(Class, 'closed').call({}));
        await attempt('reader cancel', () => Class.prototype.cancel.call({}));
    }
    await attempt('w locked', () => getter(WritableStream, 'locked').call({}));
    for (const key of ['abort', 'close', 'getWriter']) {
        await attempt('w ' + key, () => WritableStream.prototype[key].call({}));
    }
    for (const key of ['abort', 'close', 'releaseLock', 'write']) {
        await attempt('writer ' + key, () => WritableStreamDefaultWriter.prototype[key].call({}));
    }
    for (const key of ['closed', 'desiredSize', 'ready']) {
        await attempt('writer ' + key, () => getter(WritableStreamDefaultWriter, key).call({}));
    }
    await attempt('t readable', () => getter(TransformStream, 'readable').call({}));
    await attempt('t writable', () => getter(TransformStream, 'writable').call({}));
    await attempt('mark', () => getter(CountQueuingStrategy, 'highWaterMark').call({}));
    await attempt('size', () => getter(ByteLengthQueuingStrategy, 'size').call({}));
    await attempt('rc close', () => ReadableStreamDefaultController.prototype.close.call({}), true);
    await attempt('bc close', () => ReadableByteStreamController.prototype.close.call({}), true);
    await attempt('tc', () => TransformStreamDefaultController.prototype.terminate.call({}), true);
    await attempt('wc', () => getter(WritableStreamDefaultController, 'signal').call({}), true);
}

async function states() {
    const stream = new ReadableStream();
    const reader = stream.getReader();
    await attempt('second reader', () => stream.getReader());
    await attempt('cancel locked', () => stream.cancel());
    await attempt('pipe locked', () => stream.pipeTo(new WritableStream()));
    await attempt('tee locked', () => stream.tee());
    await attempt('values locked', () => stream.values());
    const waiting = reader.read();
    reader.releaseLock();
    await attempt('read of released', () => waiting, true);
    await attempt('read', () => reader.read());
    await attempt('cancel', () => reader.cancel());
    await attempt('closed', () => reader.closed);
    await attempt('pipe to 1', () => stream.pipeTo(1));
    await attempt('through {}', () => stream.pipeThrough({}));
    await attempt('through 1, 1', () => stream.pipeThrough({ readable: stream, writable: 1 }));
    await attempt('pipe options', () => stream.pipeTo(new WritableStream(), 1));
    await attempt('pipe signal', () => stream.pipeTo(new WritableStream(), { signal: 1 }));
    const taken = new WritableStream();
    taken.getWriter();
    await attempt('pipe to locked', () => stream.pipeTo(taken));
    await attempt('from 1', () => ReadableStream.from(1));
    await attempt('from {}', () => ReadableStream.from({}));
    await attempt('from null', () => ReadableStream.from(null), true);
    let c;
    new ReadableStream({ start(x) { c = x; } });
    c.close();
    await attempt('close twice', () => c.close());
    await attempt('enqueue closed', () => c.enqueue(1));
    await attempt('error closed', () => c.error(1));
    new ReadableStream({ start(x) { c = x; } }, { size() { return -1; } });
    await attempt('size -1', () => c.enqueue(1));
    await attempt('after size -1', () => c.enqueue(1));
    new ReadableStream({ start(x) { c = x; } }, { size() { throw new EvalError('size'); } });
    await attempt('size throws', () => c.enqueue(1));
}

async function bytes() {
    let c;
    const stream = new ReadableStream({ type: 'bytes', start(x) { c = x; } });
    await attempt('enqueue none', () => c.enqueue());
    await attempt('enqueue 1', () => c.enqueue(1));
    await attempt('enqueue empty', () => c.enqueue(new Uint8Array(0)));
    c.close();
    await attempt('close twice', () => c.close());
    await attempt('enqueue closed', () => c.enqueue(new Uint8Array(1)));
    await attempt('cancel closed', () => stream.cancel());
    const open = new ReadableStream({ type: 'bytes' });
    const reader = open.getReader({ mode: 'byob' });
    await attempt('read none', () => reader.read());
    await attempt('read 1', () => reader.read(1));
    await attempt('read empty', () => reader.read(new Uint8Array(0)));
    await attempt('min 0', () => reader.read(new Uint8Array(1), { min: 0 }));
    await attempt('min 2', () => reader.read(new Uint8Array(1), { min: 2 }));
}

async function writes() {
    const stream = new WritableStream();
    const writer = stream.getWriter();
    await attempt('second writer', () => stream.getWriter());
    await attempt('abort locked', () => stream.abort());
    await attempt('close locked', () => stream.close());
    writer.releaseLock();
    await attempt('write', () => writer.write());
    await attempt('close', () => writer.close());
    await attempt('abort', () => writer.abort());
    await attempt('closed', () => writer.closed);
    await attempt('ready', () => writer.ready);
    await attempt('desiredSize', () => writer.desiredSize);
    await stream.close();
    const second = stream.getWriter();
    await attempt('close closed', () => second.close(), true);
    let c;
    const transform = new TransformStream({ start(x) { c = x; } });
    c.terminate();
    await attempt('terminated write', () => transform.writable.getWriter().write(1));
    await attempt('terminated enqueue', () => c.enqueue(1));
}

constructors().then(brands).then(states).then(bytes).then(writes).then(() => console.log('end'));
