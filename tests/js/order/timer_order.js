// 0 and 1 ms are the same; equal delays keep their order; shorter ones come first.
const log = (text) => console.log(text);
const spin = (ms) => { const until = Date.now() + ms; while (Date.now() < until); };
const late = setTimeout(() => log('never'), 1e6);
setTimeout(() => log('1 first'), 1);
setTimeout(() => log('0'), 0);
setTimeout(() => log('none'));
setTimeout(() => log('1 second'), 1);
setTimeout(() => log('negative'), -5);
setTimeout(() => log('NaN'), NaN);
setTimeout(() => log('text'), '1');
setTimeout(() => log('fraction'), 1.9);
setTimeout(() => { log('30'); clearTimeout(late); }, 30);
setTimeout((...args) => log(`arguments ${args}`), 1, 'a', 'b');
setTimeout(function () { log(`this is ${this.constructor.name}`); }, 1);
spin(5);
log('end');
for (const bad of [undefined, null, 'code', {}])
    for (const set of [setTimeout, setInterval, setImmediate])
        try { set(bad, 1); log('no error'); } catch (error) { log(`${set.name} ${error.name} ${error.code}`); }
