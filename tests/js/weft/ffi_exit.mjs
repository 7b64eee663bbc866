// The end in the middle of things: fibers in calls, promises of calls, threads that wait for a callback, and inside of one.
import ffi from 'weft:ffi';
import { go } from 'weft:go';
import { file, until } from './ffi_library.mjs';

const IntFn = { callback: ['int', ['int']] };
const lib = ffi.open(file, {
    gate_wait: ['int', ['int']], gate_count: ['int', []], call_often: ['int', [IntFn, 'int']],
    start_thread: ['void', ['pointer', 'int']],
});
const callback = ffi.callback(['int', ['int']], (value) => value);
for (let index = 0; index < 3; index++) {
    go(() => lib.gate_wait(index)).then(() => console.log('not reached'));
    lib.gate_wait.async(index).then(() => console.log('not reached'));
}
await until(() => lib.gate_count() === 6);
process.on('exit', (code) => console.log('exit', code));
lib.start_thread(callback, 1000000);
try {
    lib.call_often((value) => {
        console.log('callback', value);
        if (value === 1)
            process.exit(7);
        return 0;
    }, 100);
} catch {
    console.log('not reached');
}
console.log('not reached');
