// SPDX-License-Identifier: MIT
// run with --max-memory=8m --max-run=30s
// Memory without an end is an InternalError with a stack, which can be caught; then there is memory again.
import { chan, go } from 'weft:go';

process.on('unhandledRejection', () => {}); // an async function has its error for itself
const hold = [];
const cases = {
    'long string': () => { for (let s = 'x'; ; ) s += s + 'y'; },
    strings: () => { for (let i = 0; ; i++) hold.push('abc' + i); },
    array: () => { for (;;) hold.push(1, 2, 3); },
    arrays: () => { for (;;) hold.push([hold.length]); },
    'large array': () => new Array(1e8).fill(0),
    objects: () => { for (;;) hold.push({ a: 1, b: 2 }); },
    list: () => { for (let o = null; ; ) o = { o }; },
    closures: () => { for (let f = () => 1; ; ) { const g = f; f = () => g; } },
    promises: () => { for (;;) hold.push(new Promise(() => {})); },
    'async functions': () => { for (;;) hold.push((async () => { await new Promise(() => {}); })()); },
    generators: () => {
        for (;;) {
            const generator = (function* () { yield 1; })();
            generator.next();
            hold.push(generator);
        }
    },
    channels: () => { for (;;) hold.push(chan(1)); },
    map: () => { for (let map = new Map(), i = 0; ; i++) map.set(i, {}); },
    set: () => { for (let set = new Set(), i = 0; ; i++) set.add('k' + i); },
    'typed arrays': () => { for (;;) hold.push(new Uint8Array(100000)); },
    'large typed array': () => new Uint8Array(1e9),
    'resized buffer': () => new ArrayBuffer(8, { maxByteLength: 1e9 }).resize(1e9),
    repeat: () => 'x'.repeat(5e8),
    pad: () => 'x'.padEnd(5e8),
    concat: () => { for (let a = [1]; ; ) a = a.concat(a); },
    spread: () => { for (let a = [1]; ; ) a = [...a, ...a]; },
    'JSON text': () => JSON.parse('[' + '[],'.repeat(3e6) + '[]]'),
    split: () => 'a'.repeat(1e7).split(''),
    match: () => 'a'.repeat(1e7).match(/a/g),
    properties: () => { for (let o = {}, i = 0; ; i++) o['p' + i] = i; },
    classes: () => { for (;;) hold.push(class { a() {} }); },
    errors: () => { for (;;) hold.push(new Error('x')); },
    proxies: () => { for (let p = {}; ; ) p = new Proxy(p, {}); },
    buffers: () => { for (;;) hold.push(Buffer.alloc(1000)); },
    stream: () => new ReadableStream({ start(controller) { for (;;) controller.enqueue({}); } }),
    encoding: () => { for (;;) hold.push(new TextEncoder().encode('ä'.repeat(1e5))); },
    'bound functions': () => { for (let f = () => 1; ; ) f = f.bind(null, hold.push(f)); },
    toString: () => `${{ toString() { for (;;) hold.push({}); } }}`,
    comparator: () => [3, 2, 1].sort(() => { for (;;) hold.push({}); }),
    template: () => { for (let s = 'x'; ; ) s = `${s}${s}`; },
    recursion: () => {
        function deep() {
            hold.push({});
            deep();
        }
        for (;;) {
            try {
                deep();
            } catch (error) {
                if (error.name !== 'RangeError')
                    throw error;
            }
        }
    },
};
const memoryErrors = /^(InternalError: (out of memory|string too long)|RangeError: (invalid array length|Array buffer allocation failed))/;
for (const [name, fn] of Object.entries(cases)) {
    const told = [];
    for (const run of [(f) => f(), go]) {
        try {
            await run(fn);
            told.push('no error');
        } catch (error) {
            hold.length = 0;
            told.push(memoryErrors.test(`${error}`) && error.stack.includes('    at ') ? 'an error' : `${error} ${error.stack}`);
        }
    }
    console.log(`${name}:`, ...told);
}
