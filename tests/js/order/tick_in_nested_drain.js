// A tick that awaits, and jobs that resolve what ticks wait for.
const log = (text) => console.log(text);
let release;
const gate = new Promise((resolve) => { release = resolve; });
process.nextTick(async () => {
    log('tick begins');
    await gate;
    log('tick goes on');
    process.nextTick(() => log('tick after the gate'));
});
process.nextTick(() => { log('second tick'); gate.then(() => log('reaction of the second tick')); });
queueMicrotask(() => { log('job opens the gate'); release(); log('job ends'); });
gate.then(() => log('first reaction'));
setImmediate(() => log('immediate'));
