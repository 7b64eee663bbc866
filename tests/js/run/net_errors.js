// What goes wrong: addresses in use, nobody there, and arguments that are none.
const net = require('net');

const show = (error) => {
    const { name, message, errno, code, syscall, address, port } = error;
    console.log(name, message.replaceAll(portNow, 'PORT'), errno, code, syscall, address, port === portNow ? 'PORT' : port,
        Object.keys(error).join());
};
let portNow;
const wrong = (fn) => {
    try {
        fn();
        console.log('nothing was thrown');
    } catch (error) {
        console.log(error.name, error.code, error.message);
    }
};

const first = net.createServer().listen(0, '127.0.0.1', () => {
    portNow = first.address().port;
    wrong(() => first.listen(0));
    const second = net.createServer();
    second.on('error', (error) => {
        show(error);
        console.log(second.listening);
        second.close((failure) => {
            console.log(failure.code, failure.message);
            first.close(refused);
        });
    });
    second.on('listening', () => console.log('never'));
    second.listen(portNow, '127.0.0.1');
});

function refused() {
    const socket = net.connect(portNow, '127.0.0.1');
    const seen = [];
    for (const name of ['connect', 'ready', 'end', 'finish', 'lookup'])
        socket.on(name, () => seen.push(name));
    socket.write('never sent', (error) => console.log('write', error?.code));
    socket.on('connectionAttempt', (address, port, family) => console.log('attempt', address, port === portNow, family));
    socket.on('connectionAttemptFailed', (address, port, family, error) => console.log('failed', address, family, error.code));
    socket.on('error', (error) => show(error));
    socket.on('close', (hadError) => {
        console.log('close', hadError, seen, socket.destroyed, socket.connecting);
        missing();
    });
}

function missing() {
    const socket = net.connect('/nowhere/at/all');
    socket.on('error', show);
    socket.on('close', () => {
        const server = net.createServer();
        server.on('error', (error) => {
            show(error);
            mistakes();
        });
        server.listen('/nowhere/at/all');
    });
}

function mistakes() {
    wrong(() => net.connect());
    wrong(() => net.connect({ port: 70000 }));
    wrong(() => net.connect({ port: 'x' }));
    wrong(() => net.connect({ port: {} }));
    wrong(() => net.connect({ port: 1, localAddress: 'nobody' }));
    wrong(() => net.connect({ port: 1, host: 'name', lookup: 5 }));
    wrong(() => net.createServer().listen(-1));
    wrong(() => net.createServer().listen({ port: 65536 }));
    wrong(() => net.createServer().listen({}));
    wrong(() => net.createServer('options'));
    wrong(() => new net.Socket().setTimeout('long'));
    wrong(() => new net.Socket().setTimeout(-1));
    wrong(() => new net.Socket().setTimeout(5, 'callback'));
    wrong(() => net.createServer().getConnections());
    console.log(net.createServer().close().listening);
}
