// A listener of an EventTarget that throws does not stop the others; the error comes later, as an uncaught one.
const log = (text) => console.log(text);
process.on('uncaughtException', (error) => log(`uncaught ${error.message}`));
const target = new EventTarget();
target.addEventListener('x', () => { log('first'); throw new Error('first'); });
target.addEventListener('x', () => log('second'));
process.nextTick(() => log('tick before'));
queueMicrotask(() => log('job before'));
log(target.dispatchEvent(new Event('x')));
process.nextTick(() => log('tick after'));
queueMicrotask(() => log('job after'));
log('end');
