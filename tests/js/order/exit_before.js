// beforeExit comes again as long as it leaves something that holds the loop.
const log = (text) => console.log(text);
let n = 0;
process.on('beforeExit', (code) => {
    log(`beforeExit ${++n} ${code}`);
    if (n === 1) setTimeout(() => log('timer'), 1);
    if (n === 2) setImmediate(() => { log('immediate'); process.exitCode = 9; });
    if (n === 3) { process.nextTick(() => log('tick')); queueMicrotask(() => log('job')); }
});
process.on('exit', (code) => log(`exit ${code} ${process.exitCode} ${n}`));
