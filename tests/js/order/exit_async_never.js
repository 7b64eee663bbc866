// What exit listeners put off never runs, after process.exit.
const log = (text) => console.log(text);
process.on('exit', (code) => {
    log(`exit ${code}`);
    setTimeout(() => log('never'), 0);
    setImmediate(() => log('never'));
    process.nextTick(() => log('never'));
    queueMicrotask(() => log('never'));
    Promise.resolve().then(() => log('never'));
    (async () => { log('until await'); await null; log('never'); })();
    Promise.reject(new Error('nobody sees it'));
});
process.on('exit', () => log('second listener'));
process.once('exit', () => log('third listener'));
log('end');
process.exit();
