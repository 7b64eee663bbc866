// An async listener that rejects is told of its own rejection.
const log = (text) => console.log(text);
let n = 0;
process.on('unhandledRejection', async (reason) => { log(`unhandled ${reason}`); if (++n < 3) throw `again ${n}`; });
Promise.reject('first');
setImmediate(() => log('immediate'));
