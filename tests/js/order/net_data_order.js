// Inside a callback of a socket: ticks, then jobs, then immediates, then what is closed, then timers.
const net = require('net');

const log = [];
const server = net.createServer((socket) => socket.end('x'));
server.listen(0, '127.0.0.1', () => {
    const client = net.connect(server.address().port, '127.0.0.1');
    client.on('data', () => {
        setTimeout(() => log.push('timeout'), 0);
        setImmediate(() => {
            log.push('immediate');
            process.nextTick(() => log.push('tick of immediate'));
        });
        Promise.resolve().then(() => {
            log.push('job');
            process.nextTick(() => log.push('tick of job'));
        });
        process.nextTick(() => {
            log.push('tick');
            Promise.resolve().then(() => log.push('job of tick'));
        });
        queueMicrotask(() => log.push('microtask'));
        log.push('data');
        client.destroy();
        log.push('destroyed');
    });
    client.on('data', () => log.push('second listener'));
    client.on('close', (hadError) => {
        log.push(`close ${hadError}`);
        process.nextTick(() => log.push('tick of close'));
        Promise.resolve().then(() => log.push('job of close'));
        setTimeout(() => console.log(log.join('\n')), 20);
    });
    server.close();
});
