// A throw in for await over an async generator: in which turn it is caught.
const log = (text) => console.log(text);
async function* numbers(name) {
    try { for (let i = 0; ; i++) yield i; } finally {
        log(`${name} finally`);
        await null;
        log(`${name} after await in finally`);
    }
}
(async () => {
    for await (const n of numbers('c')) { log(`c ${n}`); throw 'c'; }
})().catch((error) => log(`caught ${error}`));
let chain = Promise.resolve();
for (let i = 1; i < 16; i++)
    chain = chain.then(() => log(`turn ${i}`));
