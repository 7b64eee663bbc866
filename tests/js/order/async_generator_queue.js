// Requests to an async generator queue up and are answered in order.
const log = (text) => console.log(text);
const tell = (name, promise) => promise.then(({ value, done }) => log(`${name} -> ${value} ${done}`),
    (error) => log(`${name} x ${error}`));
async function* gen() {
    log('begin');
    const a = yield 1; log(`a ${a}`);
    await null; log('awaited');
    const b = yield Promise.resolve(2); log(`b ${b}`);
    try { yield 3; } catch (error) { log(`caught ${error}`); yield 'from catch'; } finally { log('finally'); }
    return Promise.resolve('end');
}
const g = gen();
tell('n1', g.next('x')); tell('n2', g.next('y')); tell('n3', g.next('z')); tell('t4', g.throw('oops'));
tell('n5', g.next()); tell('n6', g.next());
const i = gen(); tell('throw first', i.throw('t')); tell('then next of i', i.next());
Object.getPrototypeOf(gen.prototype).next.call({}).catch((error) => log(`bad receiver ${error.name}`));
log('end');
