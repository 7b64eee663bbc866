// Promise.all: order of calls, of results, thenables, holes in the order of settling.
const log = (text) => console.log(text);
const after = (ms, value) => new Promise((resolve) => setTimeout(() => { log(`timer ${value}`); resolve(value); }, ms));
class Noisy extends Promise {
    static resolve(value) { log(`resolve ${typeof value}`); return super.resolve(value); }
    then(a, b) { log('then'); return super.then(a, b); }
}
Promise.all([after(30, 'c'), after(1, 'a'), 'plain', { then(done) { done('thenable'); } }]).then((all) => log(all.join()));
Promise.all([]).then((all) => log(`empty ${all.length}`));
Noisy.all([1, 2]).then((all) => log(`noisy ${all}`));
Promise.all([Promise.reject('one'), Promise.reject('two')]).catch((reason) => log(`rejected ${reason}`));
Promise.all([new Promise(() => {}), Promise.reject('early')]).catch((reason) => log(`rejected ${reason}`));
Promise.all(5).catch((error) => log(`not iterable ${error.name}`));
const closing = { [Symbol.iterator]() {
    return { next() { return { value: 1, done: false }; }, return() { log('closed'); return {}; } };
} };
const resolveOf = Promise.resolve;
Promise.resolve = () => { throw new Error('resolve'); };
Promise.all(closing).catch((error) => log(`threw ${error.message}`));
Promise.resolve = resolveOf;
const throwing = { [Symbol.iterator]() {
    return { next() { throw new Error('next'); }, return() { log('never closed'); return {}; } };
} };
Promise.all(throwing).catch((error) => log(`threw ${error.message}`));
const twice = { then(done) { done(1); done(2); } };
Promise.all([twice, twice]).then((all) => log(`twice ${all}`));
queueMicrotask(() => log('micro'));
log('end');
