// for await over arrays of promises: values are awaited one by one.
const log = (text) => console.log(text);
const after = (ms, value) => new Promise((resolve) => setTimeout(() => { log(`timer ${value}`); resolve(value); }, ms));
(async () => {
    for await (const value of [after(20, 'b'), after(1, 'a'), 'plain', { then(done) { done('thenable'); } }])
        log(`got ${value}`);
    const closing = (list) => ({
        [Symbol.iterator]() {
            log('sync iterator');
            const it = list[Symbol.iterator]();
            return { next() { log('next'); return it.next(); }, return(value) {
                log('return');
                return { value, done: true };
            } };
        },
    });
    try {
        for await (const value of [Promise.resolve(1), Promise.reject('no'), 3])
            log(`value ${value}`);
    } catch (error) { log(`caught ${error}`); }
    for await (const value of closing([1, 2])) { log(`value ${value}`); break; }
    try {
        for await (const value of closing([1, 2])) { log(`value ${value}`); throw 'body'; }
    } catch (error) { log(`caught ${error}`); }
    try { for await (const value of 5) log(value); } catch (error) { log(error.name); }
    for await (const value of 'ab') log(value);
})();
