// With uncaughtException only: rejections arrive there, with their origin; what is no error is wrapped.
const log = (text) => console.log(text);
process.on('uncaughtException', (error, origin) => log(`${origin} ${error.name} ${error.code} ${error.message}`));
Promise.reject(new TypeError('an error'));
Promise.reject('a text');
Promise.reject(undefined);
Promise.reject({ a: 1 });
Promise.reject(null);
Promise.reject(5);
Promise.reject({ stack: 'like an error', message: 'm', name: 'n' });
setImmediate(() => { log('immediate'); (async () => { await null; throw new RangeError('async'); })(); });
