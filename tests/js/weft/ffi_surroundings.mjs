// What AsyncLocalStorage keeps for a fiber is there after foreign calls, short ones and such in which others run.
import { AsyncLocalStorage } from 'node:async_hooks';
import ffi from 'weft:ffi';
import { go } from 'weft:go';

const library = ffi.open(null, { usleep: ['int', ['uint32_t']], getpid: ['int', []] });
const storage = new AsyncLocalStorage();
const told = await Promise.all(['one', 'two'].map((name) => go(() => storage.run(name, () => {
    const seen = [];
    for (let i = 0; i < 20; i++) {
        library.getpid();
        library.usleep(i * 100);
        seen.push(storage.getStore());
    }
    return seen.every((store) => store === name);
}))));
console.log(told, storage.getStore());
