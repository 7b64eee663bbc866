// When a server says that it listens, and that it could not, and that it has closed.
const net = require('net');

const log = (text) => console.log(text);
const around = (name) => {
    process.nextTick(() => log(`${name} tick`));
    Promise.resolve().then(() => log(`${name} job`));
    setImmediate(() => log(`${name} immediate`));
};
const server = net.createServer();
server.on('listening', () => {
    log('listening');
    around('listening');
    const second = net.createServer();
    second.on('error', (error) => {
        log(error.code);
        around('error');
        setImmediate(() => {
            server.close(() => {
                log('close callback');
                around('closed');
            });
            server.on('close', () => log('close'));
            log('closing');
            around('closing');
        });
    });
    around('before second');
    second.listen(server.address().port);
    around('after second');
});
around('before');
server.listen(0);
around('after');
log('end of script');
