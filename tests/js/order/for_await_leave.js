// Leaving for await waits for return(); what it throws and when.
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
    await run('to the end', async () => { for await (const value of source('s1')) log(value); });
    await run('break', async () => {
        for await (const value of source('s2')) { log(value); if (value === 1) break; }
        log('after the loop');
    });
    await run('return', async () => { for await (const value of source('s3')) { log(value); return 'early'; } });
    await run('break, return throws', async () => {
        for await (const value of source('s5', { throws: true })) { log(value); break; }
    });
    await run('break, return rejects', async () => {
        for await (const value of source('s6', { rejects: true })) { log(value); break; }
    });
    await run('break, return gives no object', async () => {
        for await (const value of source('s7', { bad: true })) { log(value); break; }
    });
    await run('outer continue', async () => {
        outer: for (const name of ['x', 'y'])
            for await (const value of source(name)) { log(value); continue outer; }
    });
})();
