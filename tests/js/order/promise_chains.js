// Chains that were begun one after the other take turns.
const log = (text) => console.log(text);
log('begin');
for (const name of ['a', 'b', 'c']) {
    let chain = Promise.resolve();
    for (let i = 1; i <= 4; i++)
        chain = chain.then(() => log(`${name}${i}`));
}
const p = Promise.resolve('x');
p.then(() => log('first of p'));
p.then(() => { log('second of p'); p.then(() => log('fourth of p')); });
p.then(() => log('third of p'));
Promise.reject(new Error('r')).then(() => log('never'), (error) => log(`caught ${error.message}`))
    .then(() => log('after it'));
Promise.reject(1).then(() => log('never')).then(() => log('never')).catch(() => log('two later'));
queueMicrotask(() => log('micro'));
log('end');
