// The last immediate of a batch throws: what it has put off comes after the next callback, whatever that is.
const log = (text) => console.log(text);
const spin = (ms) => { const until = Date.now() + ms; while (Date.now() < until); };
process.on('uncaughtException', (error) => log(`uncaught ${error.message}`));
function failing(name, also) {
    setImmediate(() => {
        also();
        process.nextTick(() => log(`tick of ${name}`));
        queueMicrotask(() => log(`job of ${name}`));
        Promise.resolve().then(() => log(`second job of ${name}`));
        throw new Error(name);
    });
}
failing('one', () => {
    setImmediate(() => { log('next immediate'); process.nextTick(() => log('tick of the next one')); });
    setImmediate(() => { log('immediate after that'); failing('two', second); });
});
function second() {
    setTimeout(() => {
        log('timer that is due');
        process.nextTick(() => log('tick of the timer'));
        setImmediate(() => failing('three', () => {}));
    }, 1);
    spin(20);
}
