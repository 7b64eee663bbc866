// From an immediate: the next immediate comes before a timer that is not due.
const log = (text) => console.log(text);
setImmediate(() => {
    const timer = setTimeout(() => log('never'), 1e6);
    let n = 0;
    setImmediate(function again() {
        log(`immediate ${++n}`);
        if (n < 5) { setImmediate(again); return; }
        clearTimeout(timer);
        setTimeout(() => log('timer'), 1);
    });
    process.nextTick(() => log('tick'));
    Promise.resolve().then(() => log('job'));
});
