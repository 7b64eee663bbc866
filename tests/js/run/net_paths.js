// Sockets on paths, and what keeps a program running.
const net = require('net');
const fs = require('fs');
const os = require('os');

const path = `${os.tmpdir()}/weft-net-paths-${process.pid}`;
const server = net.createServer((socket) => {
    console.log(socket.remoteAddress, socket.remoteFamily, socket.localPort);
    socket.end('over a path');
    server.close(() => {
        console.log('closed', fs.existsSync(path));
        unref();
    });
});
server.listen(path, () => {
    console.log(server.address() === path, fs.existsSync(path));
    const second = net.createServer();
    second.on('error', (error) => {
        console.log(error.message.replace(path, 'PATH'), error.code, error.address === path, error.port);
        const client = net.connect({ path });
        client.setEncoding('utf8').on('data', (text) => console.log(text, client.remoteAddress, client.address()));
    });
    second.listen({ path });
});

// Neither of these two keeps it running, and the timer does only as long as it takes.
function unref() {
    const idle = net.createServer().unref();
    idle.listen(0, '127.0.0.1', () => {
        idle.on('connection', (socket) => socket.unref());
        const client = net.connect(idle.address().port, '127.0.0.1', () => {
            client.unref();
            client.on('data', () => console.log('never'));
            setTimeout(() => console.log('and that was all'), 10);
        });
    });
}
process.on('exit', () => console.log('exit'));
