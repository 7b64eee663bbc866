// From an immediate: the next immediate comes before a timer that is not due.
const log = (text) => console.log(text);
setImmediate(() => {
    setTimeout(() => log('timer'), 50);
    let n = 0;
    setImmediate(function again() { log(`immediate ${++n}`); if (n < 5) setImmediate(again); });
    process.nextTick(() => log('tick'));
    Promise.resolve().then(() => log('job'));
});
