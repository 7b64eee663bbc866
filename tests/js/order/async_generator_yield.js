// yield awaits in async generators; yield of rejections; return in try; yield* over both kinds.
const log = (text) => console.log(text);
async function collect(name, iterable) {
    try {
        for await (const value of iterable) log(`${name} ${value}`);
        log(`${name} done`);
    } catch (error) { log(`${name} x ${error}`); }
}
async function* rejecting() {
    try { yield Promise.reject('rejected'); } catch (error) { log(`inside ${error}`); yield 'went on'; }
}
async function* delegating() {
    const result = yield* inner();
    log(`result ${result}`);
    yield* ['s1', Promise.resolve('s2')];
    yield* strange;
}
async function* inner() { yield 'i1'; yield Promise.resolve('i2'); return 'inner result'; }
const strange = { [Symbol.asyncIterator]: () => ({ n: 0, next() {
    return { value: Promise.resolve('not unwrapped'), done: this.n++ > 0 };
} }) };
async function* returning() {
    try { yield 1; return Promise.reject('from return'); } finally { log('finally of returning'); }
}
async function* finallyYields() { try { yield 1; yield 2; } finally { yield 'cleanup'; log('cleaned'); } }
(async () => {
    await collect('rejecting', rejecting());
    await collect('delegating', delegating());
    await collect('returning', returning());
    const f = finallyYields();
    log(JSON.stringify([await f.next(), await f.return('r'), await f.next(), await f.next()]));
    const d = delegating();
    await d.next();
    log(JSON.stringify(await d.return('out')));
    const t = delegating();
    await t.next();
    await t.throw('in').catch((error) => log(`thrown through ${error}`));
})();
let chain = Promise.resolve();
for (let i = 1; i < 12; i++) chain = chain.then(() => log(`turn ${i}`));
