// SPDX-License-Identifier: MIT
// What a listener throws becomes an uncaught exception after the program has run on; the other listeners are called.
const log = (...parts) => console.log(parts.join(' '));
process.on('uncaughtException', (error) => log('uncaught', error.name, error.message));
const target = new EventTarget();
target.addEventListener('x', () => {
    throw new RangeError('one');
});
target.addEventListener('x', () => log('second'));
target.addEventListener('x', () => {
    throw new SyntaxError('two');
});
log(target.dispatchEvent(new Event('x')));
const controller = new AbortController();
controller.signal.onabort = () => {
    throw new EvalError('from onabort');
};
controller.signal.addEventListener('abort', () => log('listener'));
controller.abort();
Promise.resolve().then(() => log('microtask'));
setTimeout(() => log('timer'), 50);
log('end');
