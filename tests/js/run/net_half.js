// One direction ends before the other: allowHalfOpen, what is written after the end, and ends that come by themselves.
const net = require('net');
const { once } = require('events');

const steps = [halfOpen, closedByItself, writeAfterEnd, endWithData, endTwice];
const next = () => steps.shift()?.();

function pair(options, onServer, onClient) {
    const server = net.createServer(options);
    server.listen(0, '127.0.0.1', async () => {
        const client = net.connect({ port: server.address().port, host: '127.0.0.1', ...options });
        const [[socket]] = await Promise.all([once(server, 'connection'), once(client, 'connect')]);
        onServer(socket);
        onClient(client);
        client.on('close', () => server.close(() => setTimeout(next, 30)));
    });
}

function halfOpen() {
    const seen = [];
    pair({ allowHalfOpen: true }, (socket) => {
        socket.on('data', (chunk) => seen.push(`server ${chunk}`));
        socket.on('end', () => {
            seen.push(`server end ${socket.writable} ${socket.readyState} ${socket.allowHalfOpen}`);
            setImmediate(() => socket.end('after the end'));
        });
    }, (socket) => {
        socket.end('question');
        seen.push(`client ${socket.readyState}`);
        socket.on('data', (chunk) => seen.push(`client ${chunk}`));
        socket.on('end', () => seen.push('client end'));
        socket.on('close', (hadError) => console.log('half open', seen, hadError));
    });
}

function closedByItself() {
    const seen = [];
    pair({}, (socket) => {
        socket.resume();
        socket.on('end', () => seen.push(`server end ${socket.writable}`));
        socket.on('finish', () => seen.push('server finish'));
        socket.on('close', () => seen.push('server close'));
    }, (socket) => {
        socket.resume();
        socket.end();
        socket.on('finish', () => seen.push('client finish'));
        socket.on('end', () => seen.push('client end'));
        socket.on('close', () => setTimeout(() => console.log('by itself', seen.sort()), 20));
    });
}

function writeAfterEnd() {
    pair({}, (socket) => {
        socket.resume();
        socket.on('end', () => socket.write('all the same', (error) => console.log('server wrote', error?.code, error?.message)));
        socket.on('error', (error) => console.log('server error', error.code));
    }, (socket) => {
        socket.end();
        socket.resume();
        socket.write('too late', (error) => console.log('client callback', error.code));
        socket.on('error', (error) => console.log('client error', error.code, error.message));
    });
}

function endWithData() {
    pair({}, (socket) => {
        let text = '';
        socket.setEncoding('utf8');
        socket.on('data', (chunk) => (text += chunk));
        socket.on('end', () => console.log('got', text, typeof text));
    }, (socket) => {
        socket.resume();
        socket.cork();
        socket.write('grüße, ');
        socket.write(Buffer.from('bytes, '));
        socket.write('c3bc', 'hex');
        socket.uncork();
        socket.end(', the end', 'latin1', () => console.log('end callback', socket.writableFinished));
    });
}

function endTwice() {
    pair({}, (socket) => socket.resume(), (socket) => {
        socket.resume();
        socket.end();
        socket.end((error) => console.log('second end', error?.code));
        socket.destroySoon();
    });
}

next();
