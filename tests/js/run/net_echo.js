// A server and a client: what each is told, in its own order, and what can be asked of them.
const net = require('net');

const lines = { server: [], client: [] };
const note = (who) => (what, ...rest) => lines[who].push([what, ...rest].join(' '));
const server = net.createServer((socket) => {
    const say = note('server');
    say('connection', socket instanceof net.Socket, socket.connecting, socket.readyState, socket.server === server);
    say('addresses', socket.remoteAddress, socket.remoteFamily, socket.localAddress, socket.localPort === server.address().port);
    for (const name of ['data', 'end', 'finish', 'close', 'connect', 'ready'])
        socket.on(name, (value) => say(name, name === 'data' ? `<${value}>` : value ?? ''));
    socket.on('data', (chunk) => socket.write(`you said ${chunk}`));
    server.getConnections((error, count) => say('connections', error, count));
});
server.on('listening', () => note('server')('listening', server.listening));
server.on('close', () => note('server')('server close', server.listening, server.address()));
process.on('exit', () => {
    for (const who of Object.keys(lines))
        console.log(who, lines[who]);
});
console.log(server.listening, server.address(), server instanceof net.Server);
const returned = server.listen(0, '127.0.0.1', function () {
    const { port, family, address } = this.address();
    console.log(family, address, port > 0);
    const say = note('client');
    const socket = net.connect({ port, host: '127.0.0.1' }, function () {
        say('callback', this === socket, socket.readyState, socket.pending, socket.connecting);
    });
    say('begin', socket.readyState, socket.pending, socket.connecting, JSON.stringify(socket.address()), socket.bytesWritten);
    for (const name of ['lookup', 'connect', 'ready', 'data', 'end', 'finish', 'close', 'error', 'timeout', 'drain'])
        socket.on(name, (value) => say(name, name === 'data' ? `<${value}>` : value ?? ''));
    say('write', socket.write('hello'), socket.bytesWritten);
    socket.once('data', () => {
        say('counts', socket.bytesRead, socket.bytesWritten, socket.remotePort === port, socket.address().family);
        say('settings', socket.setNoDelay() === socket, socket.setKeepAlive(true, 1000) === socket, socket.ref() === socket);
        socket.end('', () => say('end callback', socket.readyState));
        say('after end', socket.writable, socket.readyState);
        server.close();
    });
    socket.on('close', () => say('after close', socket.destroyed, socket.readyState, socket.bytesRead, socket.remoteAddress));
});
console.log(returned === server, server.listening);
