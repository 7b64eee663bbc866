// An emitter's error event that nobody listens to is an error; so is what a listener throws.
const EventEmitter = require('node:events');
const log = (text) => console.log(text);
process.on('uncaughtException', (error) => log(`uncaught ${error.message} ${error.code}`));
const e = new EventEmitter();
setImmediate(() => { e.emit('error', new Error('plain')); });
setImmediate(() => { e.emit('error', 'text'); });
setImmediate(() => { e.on('x', () => { throw new Error('listener'); }); e.on('x', () => log('never')); e.emit('x'); });
e.on('asynchronous', async () => { throw new Error('async listener'); });
process.on('unhandledRejection', (error) => log(`unhandled ${error.message}`));
setImmediate(() => { log(e.emit('asynchronous')); process.nextTick(() => log('tick')); });
