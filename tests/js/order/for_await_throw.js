// Leaving for await by a throw waits for return() too; the first error wins.
const log = (text) => console.log(text);
function source(name, options = {}) {
    let i = 0;
    return {
        [Symbol.asyncIterator]() { log(`${name}: iterator`); return this; },
        next() { log(`${name}: next ${i}`); return Promise.resolve({ value: i++, done: i > 3 }); },
        return(value) {
            log(`${name}: return ${value}`);
            if (options.throws) throw 'return threw';
            if (options.rejects) return Promise.reject('return rejected');
            if (options.bad) return Promise.resolve(5);
            return new Promise((resolve) => setTimeout(() => { log(`${name}: returned`); resolve({}); }, 1));
        },
    };
}
const run = (name, body) => body().then((value) => log(`${name} -> ${value}`),
    (error) => log(`${name} x ${error instanceof Error ? error.name : error}`));
(async () => {
    await run('throw', async () => { for await (const value of source('s4')) { log(value); throw 'body'; } });
    await run('throw, return throws', async () => {
        for await (const value of source('s8', { throws: true })) { log(value); throw 'body'; }
    });
    await run('destructuring throws', async () => { for await (const { a: { b } } of source('s9')) log(b); });
})();
