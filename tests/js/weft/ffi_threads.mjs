// Callbacks that come on threads of the library: while the loop runs, while it is in a call itself, for fibers and promises.
import ffi from 'weft:ffi';
import { go } from 'weft:go';
import { file, until } from './ffi_library.mjs';

const IntFn = { callback: ['int', ['int']] };
const lib = ffi.open(file, {
    call_on_threads: ['int', [IntFn, 'int', 'int']], start_thread: ['void', ['pointer', 'int']], join_thread: ['int', []],
    call: ['int', [IntFn, 'int']], gate_wait: ['int', ['int']], gate_call: ['int', [IntFn, 'int']], gate_count: ['int', []],
    gate_open: ['void', ['int']],
});

// The call waits for threads that wait for JavaScript.
let runs = 0;
const counted = (value) => {
    runs++;
    return value;
};
console.log(lib.call_on_threads(counted, 4, 50), runs);
console.log(await go(() => lib.call_on_threads(counted, 4, 50)), await lib.call_on_threads.async(counted, 4, 50), runs);
console.log(await Promise.all([1, 2, 3, 4].map((each) => (each % 2 ? go(() => lib.call_on_threads(counted, 4, 50))
    : lib.call_on_threads.async(counted, 4, 50)))), runs);

// Inside of such a callback everything can be called, and what it has put off comes later.
const order = [];
console.log(lib.call_on_threads((value) => {
    Promise.resolve().then(() => order.push('job'));
    process.nextTick(() => order.push('tick'));
    order.push('callback');
    return lib.call((inner) => inner + 1, value) + lib.call_on_threads((inner) => inner, 1, 3);
}, 1, 2));
console.log(order.join());
await null;
console.log(order.join());

// A thread that goes on by itself.
const seen = [];
const callback = ffi.callback(['int', ['int']], (value) => {
    seen.push(value);
    return value;
});
lib.start_thread(callback, 5);
console.log(await lib.join_thread.async(), seen.join());
lib.start_thread(callback, 3);
await until(() => seen.length === 8);
console.log(lib.join_thread(), seen.join());
callback.close();

// The loop goes on while a fiber is in a call, and a fiber gets its turn for a callback.
let ticks = 0;
const timer = setInterval(() => ticks++, 1);
const blocked = go(() => lib.gate_call((value) => (order.push('gate'), value + ticks * 0), 7));
const apart = lib.gate_call.async((value) => value, 8);
await until(() => lib.gate_count() === 2);
const before = ticks;
await until(() => ticks > before + 3);
lib.gate_open(2);
console.log(await blocked, await apart, order.at(-1));
clearInterval(timer);

// An open callback can keep the program going.
const last = ffi.callback(['int', ['int']], (value) => {
    console.log('last', value);
    last.unref();
    return value;
}).ref();
lib.start_thread(last, 1);
