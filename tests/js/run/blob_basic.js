// Blob and File.
const shown = (value) => (value !== null && typeof value === 'object' ? JSON.stringify(value) : String(value));

// Runs something and prints what it gave, or its error; brief leaves the message out.
async function attempt(label, run, brief) {
    try {
        console.log(`${label}: ${shown(await run())}`);
    } catch (error) {
        const text = error instanceof Error ? `${error.name} ${error.code}` : `value ${String(error)}`;
        const cause = error && error.cause instanceof Error ? ` <- ${error.cause.message}` : '';
        console.log(`${label}: ${text}${brief || !(error instanceof Error) ? '' : ' ' + error.message + cause}`);
    }
}

async function construct() {
    const cases = [undefined, [], ['abc', 'def'], [1, null, undefined, {}], new Set(['a']), [new ArrayBuffer(3),
        new Uint16Array(2)],
        [new DataView(new ArrayBuffer(4), 1, 2)], [new Blob(['xy']), 'z'], ['\ud800', 'é😀'], new String('ab')];
    for (const sources of cases) {
        await attempt('new', async () => { const b = new Blob(sources);
            return `${b.size} ${JSON.stringify(await b.text())}`; });
    }
    for (const sources of [1, 'x', {}, null, true]) {
        await attempt('bad', () => new Blob(sources));
    }
    await attempt('symbol', () => new Blob([Symbol('s')]), true);
    await attempt('no new', () => Blob(), true);
    await attempt('options', () => new Blob([], 1));
    await attempt('options null', () => new Blob([], null).type);
    await attempt('endings', () => new Blob([], { endings: 'x' }));
    for (const type of ['A/B', 'a/é', 'a\x7fb', 'a\x19b', ' A b ', undefined, null, 5]) {
        await attempt('type', () => JSON.stringify(new Blob([], { type }).type));
    }
    await attempt('native', async () => JSON.stringify(await new Blob(['a\r\nb\nc'], { endings: 'native' }).text()));
    await attempt('transparent', async () => JSON.stringify(await new Blob(['a\r\nb\nc']).text()));
    const order = [];
    new Blob({ *[Symbol.iterator]() { order.push('iterate'); yield { toString() { order.push('text'); return 'x'; } }; } }, {
        get type() { order.push('type'); return { toString() { order.push('type text'); return ''; } }; },
        get endings() { order.push('endings'); return 'transparent'; },
    });
    console.log(order.join());
    const bytes = new Uint8Array([1, 2]);
    const blob = new Blob([bytes]);
    bytes[0] = 9;
    console.log(String(new Uint8Array(await blob.arrayBuffer())));
}

async function slices() {
    const blob = new Blob(['abc', new Uint8Array([100, 101]), 'f'], { type: 'text/plain' });
    for (const args of [[], [1], [-1], [0, -1], [2, 1], [-100, 100], [2, 5], [0, 0], [6], [7], [3, 3], [1, undefined]]) {
        const cut = blob.slice(...args);
        console.log(JSON.stringify(args), cut.size, await cut.text(), JSON.stringify(cut.type));
    }
    console.log(blob.slice(0, 1, 'X/Y').type, JSON.stringify(blob.slice(0, 1, 'é').type));
    console.log(await blob.slice(1, 5).slice(1, 3).text());
    console.log(blob.slice() instanceof Blob, new File(['a'], 'f').slice().constructor.name);
    console.log(await new Blob([blob.slice(1, 4), blob]).text());
}

async function reading() {
    const blob = new Blob(['h\u00e9', 'llo']);
    const buffer = await blob.arrayBuffer();
    console.log(buffer.constructor.name, buffer.byteLength, buffer !== await blob.arrayBuffer());
    const bytes = await blob.bytes();
    console.log(bytes.constructor.name, String(bytes));
    console.log(await blob.text(), (await new Blob(['\ufeffabc']).text()).length);
    console.log(await new Blob([new Uint8Array([0xFF, 0x61])]).text());
    const chunks = [];
    for await (const chunk of blob.stream()) {
        chunks.push(`${chunk.constructor.name}[${chunk}]`);
    }
    console.log(chunks.join(' '));
    for await (const chunk of new Blob([]).stream()) {
        console.log('never', chunk);
    }
    const reader = blob.stream().getReader({ mode: 'byob' });
    const { value } = await reader.read(new Uint8Array(2));
    console.log(String(value), blob.stream() instanceof ReadableStream);
    const stream = blob.stream();
    await stream.cancel('x');
    console.log(stream.locked, await blob.text());
    const big = new Blob([new Uint8Array(100000).fill(1), new Uint8Array(5).fill(2)]);
    let total = 0;
    for await (const chunk of big.stream()) {
        total += chunk.byteLength;
    }
    console.log(big.size, total, String((await big.slice(99998).bytes())));
}

async function files() {
    await attempt('none', () => new File());
    await attempt('one', () => new File([]));
    await attempt('bad', () => new File(1, 'x'));
    await attempt('bad text', () => new File('abc', 'x'));
    await attempt('symbol', () => new File([], Symbol('s')), true);
    const file = new File(['a', 'b'], 'dir/n\ud800', { type: 'X/Y', lastModified: '5' });
    console.log(file.name.charCodeAt(5), file.type, file.size, file.lastModified, file instanceof Blob,
        file instanceof File);
    console.log(new File([], 1).name, new File([], 'x', { lastModified: NaN }).lastModified, await file.text());
    const now = Date.now();
    const stamp = new File([], 'x').lastModified;
    console.log(stamp >= now && stamp <= Date.now(), typeof new File([], 'x', { lastModified: undefined }).lastModified);
    console.log(Object.prototype.toString.call(file), Object.prototype.toString.call(new Blob([])));
    const order = [];
    new File({ *[Symbol.iterator]() { order.push('iterate'); } }, { toString() { order.push('name'); return 'n'; } }, {
        get type() { order.push('type'); },
        get endings() { order.push('endings'); },
        get lastModified() { order.push('lastModified'); },
    });
    console.log(order.join());
}

async function shapes() {
    for (const Class of [Blob, File]) {
        console.log(Class.name, Class.length);
        for (const key of Object.getOwnPropertyNames(Class.prototype).sort()) {
            const d = Object.getOwnPropertyDescriptor(Class.prototype, key);
            const flags = `${d.enumerable} ${d.writable} ${d.configurable}`;
            console.log(key, d.get ? `get ${d.get.name} ${typeof d.set}` : d.value.length, flags);
        }
    }
    for (const key of ['slice', 'text', 'arrayBuffer', 'stream']) {
        await attempt('brand ' + key, () => Blob.prototype[key].call({}));
    }
    await attempt('brand size', () => Object.getOwnPropertyDescriptor(Blob.prototype, 'size').get.call({}));
    await attempt('brand type', () => Object.getOwnPropertyDescriptor(Blob.prototype, 'type').get.call({}));
    console.log(Object.keys(new Blob([])).length, Object.getPrototypeOf(File) === Blob);
}

construct().then(slices).then(reading).then(files).then(shapes).then(() => console.log('end'));
