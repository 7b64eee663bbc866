// Signals of the process: caught while somebody listens, told with name and number, keeping nothing alive.
const send = (signal) => process.kill(process.pid, signal);
const steps = [one, several, once, errors];
const next = () => setImmediate(() => steps.shift()?.());

function one() {
    const seen = [];
    const listener = (...told) => {
        seen.push(told);
        process.nextTick(() => seen.push('tick'));
        Promise.resolve().then(() => seen.push('job'));
        setImmediate(() => {
            console.log(seen, process.listenerCount('SIGUSR2'));
            process.off('SIGUSR2', listener);
            console.log(process.listenerCount('SIGUSR2'));
            next();
        });
    };
    process.on('SIGUSR2', listener);
    console.log(send('SIGUSR2'));
}

function several() {
    const seen = [];
    for (const name of ['SIGHUP', 'SIGUSR2', 'SIGINT', 'SIGTERM']) {
        process.on(name, (signal, number) => {
            seen.push(`${signal} ${number}`);
            if (name === 'SIGTERM') {
                console.log(seen);
                for (const each of ['SIGHUP', 'SIGUSR2', 'SIGINT', 'SIGTERM'])
                    process.removeAllListeners(each);
                next();
            } else {
                send({ SIGHUP: 'SIGUSR2', SIGUSR2: 2, SIGINT: undefined }[name]);
            }
        });
    }
    send('SIGHUP');
}

function once() {
    process.once('SIGHUP', (signal) => {
        console.log('once', signal, process.listenerCount('SIGHUP'));
        next();
    });
    send('SIGHUP');
}

function errors() {
    for (const wrong of [() => process.on('SIGKILL', () => {}), () => process.on('SIGSTOP', () => {}), () => process.kill('x', 0),
        () => process.kill(process.pid, 'SIGNONSENSE'), () => process.kill(2 ** 30, 0), () => process.kill(process.pid, 12345),
        () => process.kill()]) {
        try {
            console.log(wrong());
        } catch (error) {
            console.log(error.name, error.code, error.message, error.errno, error.syscall);
        }
    }
    console.log(process.kill(process.pid, 0), process.kill(String(process.pid), 0));
    process.on('SIGNOTREAL', (...told) => console.log('only an event', ...told));
    process.emit('SIGNOTREAL', 1);
    process.on('SIGTERM', () => console.log('never'));
    clearInterval(waiting);
}
process.on('exit', () => console.log('exit'));
const waiting = setInterval(() => {}, 1000); // listeners alone do not keep it running
next();
