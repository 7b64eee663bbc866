// Aborting is synchronous; what waits for it goes on in jobs.
const log = (text) => console.log(text);
const control = new AbortController();
const { signal } = control;
signal.addEventListener('abort', () => {
    log('listener');
    queueMicrotask(() => log('job of the listener'));
    process.nextTick(() => log('tick of the listener'));
});
signal.onabort = () => log('onabort');
const waiting = new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
waiting.catch((error) => log(`caught ${error.name}`));
setTimeout(() => { log('before abort'); control.abort(); log('after abort'); control.abort(); log(signal.aborted); }, 1);
const quick = AbortSignal.timeout(30);
quick.addEventListener('abort', () => log(`timeout ${quick.reason.name}`));
setTimeout(() => log('holds the loop'), 80);
