// Thenables that keep the callbacks for later, or resolve with each other.
const log = (text) => console.log(text);
let kept;
const slow = { then(done) { log('kept'); kept = done; } };
Promise.resolve(slow).then((value) => log(`slow ${value}`));
setTimeout(() => {
    log('timer');
    kept('at last');
    queueMicrotask(() => log('micro of the timer'));
    process.nextTick(() => log('tick of the timer'));
}, 1);
let depth = 0;
const nested = { then(done) { depth++; done(depth < 5 ? nested : `depth ${depth}`); } };
Promise.resolve(nested).then(log);
let chain = Promise.resolve();
for (let i = 1; i < 8; i++)
    chain = chain.then(() => log(`turn ${i}`));
