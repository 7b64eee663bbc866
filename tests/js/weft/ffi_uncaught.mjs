// A callback on a thread of the library has no call around it: what it throws is uncaught.
import ffi from 'weft:ffi';
import { file } from './ffi_library.mjs';

const lib = ffi.open(file, { start_thread: ['void', ['pointer', 'int']], join_thread: ['int', []] });
const callback = ffi.callback(['int', ['int']], (value) => {
    if (value === 1)
        throw new Error(`thrown at ${value}`);
    return value + 10;
});
process.once('uncaughtException', (error) => console.log('uncaught', error.message));
lib.start_thread(callback, 3);
console.log(await lib.join_thread.async()); // 10, 0 for the one that threw, 12
lib.start_thread(callback, 3);
await lib.join_thread.async();
console.log('not reached');
