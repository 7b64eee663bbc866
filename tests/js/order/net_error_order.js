// Errors of sockets: a tick after destroy comes 'error', 'close' in its own phase.
const net = require('net');

const log = (text) => console.log(text);
const server = net.createServer((socket) => socket.resume());
server.listen(0, '127.0.0.1', () => {
    const client = net.connect(server.address().port, '127.0.0.1', () => {
        log('connect');
        process.nextTick(() => log('tick of connect'));
        Promise.resolve().then(() => log('job of connect'));
    });
    client.on('ready', () => {
        log('ready');
        process.nextTick(() => log('tick of ready'));
        setImmediate(() => {
            client.on('error', (error) => {
                log(error.message);
                process.nextTick(() => log('tick of error'));
                Promise.resolve().then(() => log('job of error'));
            });
            client.on('close', (hadError) => log(`close ${hadError}`));
            process.nextTick(() => log('tick before'));
            client.write('x', (error) => log(`written ${error?.code}`));
            client.destroy(new Error('enough'));
            client.write('y', (error) => log(`not written ${error?.code}`));
            process.nextTick(() => log('tick after'));
            Promise.resolve().then(() => log('job after'));
            setImmediate(() => log('immediate after'));
            log('destroyed');
        });
    });
    server.close();
});

const never = new net.Socket();
never.on('close', () => log('close of one that was never connected'));
never.destroy();
process.nextTick(() => log('tick of the script'));
