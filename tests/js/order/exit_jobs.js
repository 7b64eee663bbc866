// At an ordinary end the jobs that exit listeners leave are run; ticks, immediates and timers are not.
const log = (text) => console.log(text);
process.on('exit', () => {
    log('exit');
    setTimeout(() => log('never'), 0);
    setImmediate(() => log('never'));
    process.nextTick(() => log('never'));
    queueMicrotask(() => { log('job'); queueMicrotask(() => log('job of the job')); process.nextTick(() => log('never')); });
    (async () => { log('until await'); await null; log('after it'); })();
});
process.on('exit', () => log('second listener'));
