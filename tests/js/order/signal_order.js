// A signal is told by a callback of its own: ticks and jobs of one listener come before the next signal.
const log = (text) => console.log(text);
let count = 0;
process.on('SIGUSR2', (name, number) => {
    log(`${name} ${number}`);
    process.nextTick(() => log('tick'));
    Promise.resolve().then(() => log('job'));
    setImmediate(() => {
        log('immediate');
        if (++count === 2)
            clearInterval(waiting);
        else
            process.kill(process.pid, 'SIGUSR2');
    });
});
process.on('SIGUSR2', () => log('second listener'));
const waiting = setInterval(() => {}, 1000);
process.kill(process.pid, 'SIGUSR2');
Promise.resolve().then(() => log('job of the script'));
process.nextTick(() => log('tick of the script'));
