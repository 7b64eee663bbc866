// break in for await over an async generator: in which turn the code after the loop goes on.
const log = (text) => console.log(text);
async function* numbers(name) {
    try { for (let i = 0; ; i++) yield i; } finally {
        log(`${name} finally`);
        await null;
        log(`${name} after await in finally`);
    }
}
(async () => { for await (const n of numbers('a')) { log(`a ${n}`); if (n === 1) break; } log('a is out'); })();
(async () => { for await (const n of numbers('b')) { log(`b ${n}`); return; } })().then(() => log('b returned'));
let chain = Promise.resolve();
for (let i = 1; i < 16; i++)
    chain = chain.then(() => log(`turn ${i}`));
