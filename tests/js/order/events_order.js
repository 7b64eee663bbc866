// Emitters call listeners at once, in order; once() of events resolves later.
const EventEmitter = require('node:events');
const { once, on } = EventEmitter;
const log = (text) => console.log(text);
const e = new EventEmitter();
e.on('x', (v) => { log(`first ${v}`); e.on('x', () => log('added while emitting')); });
e.prependListener('x', () => log('prepended'));
e.once('x', () => log('once'));
once(e, 'x').then(([v]) => log(`once resolved ${v}`));
(async () => {
    let n = 0;
    for await (const [v] of on(e, 'x')) { log(`iterated ${v}`); if (++n === 2) break; }
    log('iteration ends');
})();
log('emit'); e.emit('x', 1); log('emitted'); e.emit('x', 2);
once(e, 'y').catch((error) => log(`rejected ${error.message}`));
e.on('newListener', (name) => log(`new ${name}`));
setImmediate(() => { e.emit('error', new Error('bad')); });
process.nextTick(() => log('tick'));
