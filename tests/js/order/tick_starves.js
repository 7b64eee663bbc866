// Ticks that beget ticks hold up promise jobs; jobs that beget jobs hold up ticks; both hold up timers.
const log = (text) => console.log(text);
const spin = (ms) => { const until = Date.now() + ms; while (Date.now() < until); };
setTimeout(() => log('timer'), 1);
setImmediate(() => log('immediate'));
let ticks = 0, jobs = 0;
Promise.resolve().then(function again() {
    log(`job ${++jobs}`);
    if (jobs < 5) queueMicrotask(again);
    if (jobs === 2) process.nextTick(() => log('tick asked for by job 2'));
});
process.nextTick(function again() {
    log(`tick ${++ticks}`);
    if (ticks < 5) process.nextTick(again);
    if (ticks === 2) queueMicrotask(() => log('job asked for by tick 2'));
});
spin(5); // the timer is due
