// When the last listener has gone, the signal does what it did before.
process.once('SIGTERM', () => {
    console.log('the first one is caught', process.listenerCount('SIGTERM'));
    process.kill(process.pid, 'SIGTERM');
    setTimeout(() => console.log('never'), 10000);
});
process.on('exit', () => console.log('never'));
process.kill(process.pid, 'SIGTERM');
setTimeout(() => console.log('never'), 10000);
