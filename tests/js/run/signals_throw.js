// A listener that throws, and what comes after.
process.on('uncaughtException', (error, origin) => {
    console.log(error.message, origin);
    if (error.message === 'first')
        process.kill(process.pid, 'SIGUSR2');
});
let count = 0;
process.on('SIGUSR2', () => {
    count++;
    process.nextTick(() => console.log('tick', count));
    if (count === 2) {
        process.exitCode = 5;
        clearInterval(waiting);
    }
    throw new Error(count === 1 ? 'first' : 'second');
});
const waiting = setInterval(() => {}, 1000);
process.kill(process.pid, 'SIGUSR2');
