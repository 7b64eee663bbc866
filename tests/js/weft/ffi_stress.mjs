// Everything at once: fibers, promises, the main script and threads of the library, calling and called back, one inside another.
import ffi from 'weft:ffi';
import { go, sleep } from 'weft:go';
import { file } from './ffi_library.mjs';

const IntFn = { callback: ['int', ['int']] };
const lib = ffi.open(file, {
    call: ['int', [IntFn, 'int']], call_often: ['int', [IntFn, 'int']], call_on_threads: ['int', [IntFn, 'int', 'int']],
    echo_i32: ['int', ['int']], pause_for: ['void', ['int']], sum_bytes: ['i64', ['buffer', 'size_t']],
});

let seed = 7;
function random(below) {
    seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
    return (seed >>> 15) % below;
}

function expect(value, expected) {
    if (value !== expected)
        throw new Error(`${value} instead of ${expected}`);
}

function fail(value) {
    if (value === 3)
        throw new Error('three');
    return value;
}

const acts = [
    () => expect(lib.echo_i32(5), 5),
    () => expect(lib.call_often((value) => value, 20), 190),
    () => expect(lib.call((count) => lib.call_often((value) => lib.echo_i32(value), count), 10), 45),
    () => expect(lib.call_on_threads((value) => value, 3, 4), 66),
    () => expect(lib.call_on_threads(() => lib.call_on_threads((value) => lib.echo_i32(value), 2, 2), 2, 2), 24),
    () => expect(lib.sum_bytes(new Uint8Array(100).fill(1), 100), 100),
    () => {
        try {
            lib.call_often(fail, 10);
        } catch (error) {
            return expect(error.message, 'three');
        }
        throw new Error('nothing was thrown');
    },
];
const waiting = [() => lib.pause_for(random(2)), () => sleep(random(2)), () => lib.call((value) => (sleep(0), value), 1)];
const later = [
    async () => expect(await lib.echo_i32.async(3), 3),
    async () => expect(await lib.call_often.async((value) => value, 5), 10),
    async () => expect(await lib.call_on_threads.async((value) => value, 2, 3), 15),
    async () => expect(await lib.call_often.async(fail, 5).catch((error) => error.message), 'three'),
];

const ROUNDS = 40;
const onFibers = Array.from({ length: 20 }, () => go(() => {
    for (let round = 0; round < ROUNDS; round++)
        [...acts, ...waiting][random(acts.length + waiting.length)]();
}));
const asPromises = Array.from({ length: 10 }, async () => {
    for (let round = 0; round < ROUNDS; round++)
        await later[random(later.length)]();
});
const onLoop = (async () => {
    for (let round = 0; round < ROUNDS; round++) {
        acts[random(acts.length)]();
        await new Promise((resolve) => setTimeout(resolve, random(2)));
    }
})();
const shortLived = (async () => {
    for (let round = 0; round < ROUNDS; round++)
        await Promise.all([1, 2, 3].map(() => go(acts[random(acts.length)])));
})();
await Promise.all([...onFibers, ...asPromises, onLoop, shortLived]);
console.log('all are back');
