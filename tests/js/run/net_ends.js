// Other ends: destroyed before, while and after connecting, reset, timed out, aborted; names and several addresses.
const net = require('net');

const steps = [beforeConnecting, whileConnected, reset, timeout, aborted, lookup, several, many, dropped, again];
let server, port;

// Each step has a server of its own.
function next() {
    const step = steps.shift();
    server?.close();
    server = net.createServer().listen(0, '127.0.0.1', () => {
        ({ port } = server.address());
        step();
    });
}
const events = (socket, ...names) => {
    const seen = [];
    for (const name of names)
        socket.on(name, (value) => seen.push(value instanceof Error ? `${name} ${value.code}` : `${name} ${value ?? ''}`.trim()));
    return seen;
};

function beforeConnecting() {
    const socket = net.connect(port, '127.0.0.1');
    const seen = events(socket, 'connect', 'error', 'end', 'close');
    socket.write('never', (error) => seen.push(`write ${error?.code}`));
    socket.destroy();
    console.log(socket.destroyed, socket.connecting, socket.readyState);
    socket.on('close', () => setTimeout(() => {
        console.log('before', seen);
        next();
    }, 20));
}

function whileConnected() {
    server.once('connection', (socket) => {
        const seen = events(socket, 'end', 'close', 'error');
        socket.destroy(new Error('enough'));
        socket.write('x', (error) => seen.push(`write ${error?.code}`));
        socket.on('close', () => setTimeout(() => {
            console.log('destroyed', seen, socket.errored.message);
            next();
        }, 20));
        console.log(socket.destroy() === socket, socket.destroyed);
    });
    net.connect(port, '127.0.0.1').resume();
}

function reset() {
    server.once('connection', (socket) => socket.once('data', () => socket.resetAndDestroy()));
    const socket = net.connect(port, '127.0.0.1', () => socket.write('come on'));
    const seen = events(socket, 'connect', 'end', 'error', 'close');
    socket.resume();
    socket.on('error', ({ message, syscall, errno }) => seen.push(message, syscall, errno));
    socket.on('close', () => {
        console.log('reset', seen);
        next();
    });
}

function timeout() {
    server.once('connection', (socket) => socket.resume());
    const socket = net.connect({ port, host: '127.0.0.1', timeout: 20 });
    console.log(socket.timeout);
    socket.on('timeout', () => {
        console.log('timeout', socket.destroyed, socket.setTimeout(0).timeout);
        socket.destroy();
    });
    socket.on('close', (hadError) => {
        console.log('timeout close', hadError);
        next();
    });
}

function aborted() {
    const controller = new AbortController();
    const socket = net.connect({ port, host: '127.0.0.1', signal: controller.signal });
    const seen = events(socket, 'connect', 'error', 'close');
    socket.on('connect', () => controller.abort());
    socket.on('close', () => {
        console.log('aborted', seen);
        next();
    });
}

function lookup() {
    server.once('connection', (socket) => socket.end());
    const socket = net.connect({
        port, host: 'some.name', family: 4,
        lookup(name, options, callback) {
            console.log('asked for', name, JSON.stringify(options));
            setImmediate(callback, null, '127.0.0.1', 4);
        },
    });
    socket.resume();
    socket.on('lookup', (...told) => console.log('lookup', ...told));
    socket.on('close', () => {
        const failing = net.connect({
            port, host: 'some.name', autoSelectFamily: false,
            lookup: (name, options, callback) => callback(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' })),
        });
        failing.on('lookup', (error, address, family, name) => console.log('lookup', error.code, address, family, name));
        failing.on('error', (error) => console.log(error.message));
        failing.on('close', next);
    });
}

// The first address of several that answers; and none.
function several() {
    const both = (name, options, callback) =>
        callback(null, [{ address: '127.0.0.1', family: 4 }, { address: '127.0.0.2', family: 4 }]);
    server.once('connection', (socket) => socket.end());
    const socket = net.connect({ port, host: 'two.names', lookup: both });
    socket.resume();
    const seen = events(socket, 'lookup', 'connectionAttempt', 'connectionAttemptFailed', 'connect');
    socket.on('close', () => {
        console.log('several', seen);
        const nobody = net.connect({ port: 1, host: 'two.names', lookup: both });
        const attempts = events(nobody, 'connectionAttempt', 'connectionAttemptFailed', 'connect');
        nobody.on('error', ({ name, code, message, errors }) =>
            console.log(name, code, `<${message}>`, errors.map((one) => one.message)));
        nobody.on('close', () => {
            console.log(attempts);
            next();
        });
    });
}

function many() {
    let count = 0;
    const counting = (socket) => {
        socket.on('data', (chunk) => socket.end(`${chunk}!`));
        count++;
    };
    server.on('connection', counting);
    const answers = Array.from({ length: 50 }, (_, i) => new Promise((resolve) => {
        let text = '';
        net.connect(port, '127.0.0.1', function () {
            this.write(String(i));
        }).on('data', (chunk) => (text += chunk)).on('close', () => resolve(text));
    }));
    Promise.all(answers).then((texts) => {
        server.off('connection', counting);
        console.log('many', count, texts.every((text, i) => text === `${i}!`));
        next();
    });
}

function dropped() {
    const small = net.createServer((socket) => socket.resume());
    small.maxConnections = 1;
    small.on('drop', (data) => console.log('drop', data.localAddress, data.remoteFamily));
    small.listen(0, '127.0.0.1', () => {
        const first = net.connect(small.address().port, '127.0.0.1', () => {
            const second = net.connect(small.address().port, '127.0.0.1');
            second.resume();
            second.on('error', () => {});
            second.on('close', () => {
                first.end();
                small.close(next);
            });
        });
        first.resume();
    });
}

// A socket that is used a second time.
function again() {
    server.on('connection', (socket) => socket.end('hello'));
    const socket = new net.Socket();
    console.log(socket.pending, socket.readyState, socket.remoteAddress, JSON.stringify(socket.address()));
    let count = 0;
    socket.on('data', (chunk) => console.log('again', String(chunk)));
    socket.on('close', () => {
        if (++count === 1)
            socket.connect(port, '127.0.0.1');
        else
            server.close(() => console.log('all over'));
    });
    socket.connect({ port, host: '127.0.0.1' });
}
next();
