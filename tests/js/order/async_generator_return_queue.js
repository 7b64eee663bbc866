// Requests that wait behind return() of an async generator that is over.
const log = (text) => console.log(text);
const tell = (name, promise) => promise.then(({ value, done }) => log(`${name} -> ${value} ${done}`),
    (error) => log(`${name} x ${error}`));
async function* gen() { log('begin'); yield 1; log('end of the body'); }
const h = gen(); tell('return first', h.return(Promise.resolve('r'))); tell('then next', h.next());
const j = gen(); tell('return rejected', j.return(Promise.reject('rr'))); tell('then next of j', j.next());
const k = gen();
tell('n1', k.next());
tell('n2', k.next());
tell('n3', k.next());
tell('r4', k.return('late'));
tell('t5', k.throw('late'));
tell('n6', k.next());
tell('r7', k.return(Promise.reject('rejected'))); tell('r8', k.return('last'));
log('end');
