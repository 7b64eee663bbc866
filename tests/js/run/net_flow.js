// Much data: drain, pause, pipes, several writes at once; nothing is lost and the order stays.
const net = require('net');
const { pipeline, Transform } = require('stream');

const SIZE = 1 << 20;
const bytes = Buffer.alloc(SIZE, 'the quick brown fox ');

const server = net.createServer((socket) => {
    pipeline(socket, new Transform({
        transform(chunk, encoding, callback) {
            callback(null, chunk);
        },
    }), socket, (error) => console.log('pipeline', error));
});
server.listen(0, '127.0.0.1', () => {
    const client = net.connect(server.address().port, '127.0.0.1');
    const got = [];
    let size = 0, drains = 0, pauses = 0;
    client.on('data', (chunk) => {
        got.push(chunk);
        size += chunk.length;
        if (pauses < 5) {
            pauses++;
            client.pause();
            setImmediate(() => client.resume());
        }
    });
    client.on('drain', () => drains++);
    client.on('end', () => {
        const whole = Buffer.concat(got);
        console.log(size === SIZE, whole.equals(bytes), drains > 0, pauses, client.bytesRead === SIZE,
            client.bytesWritten === SIZE);
    });
    client.on('close', () => server.close(() => slow()));
    let at = 0;
    const more = () => {
        while (at < SIZE) {
            const hasRoom = client.write(bytes.subarray(at, at += 65536));
            if (!hasRoom) {
                client.once('drain', more);
                return;
            }
        }
        client.end();
    };
    more();
});

// Somebody who reads only after a while gets all of it.
function slow() {
    const listener = net.createServer({ pauseOnConnect: true }, (socket) => {
        console.log('paused', socket.isPaused());
        setTimeout(() => {
            const got = [];
            socket.on('data', (chunk) => got.push(chunk));
            socket.on('end', () => console.log(Buffer.concat(got).equals(bytes)));
            socket.resume();
        }, 20);
    });
    listener.listen(0, '127.0.0.1', () => {
        const client = net.connect(listener.address().port, '127.0.0.1');
        client.resume();
        const answers = [];
        for (let at = 0; at < SIZE; at += SIZE / 4)
            client.write(bytes.subarray(at, at + SIZE / 4), () => answers.push(at));
        console.log(client.writableNeedDrain, client.writableLength > 0);
        client.end();
        client.on('close', () => {
            console.log(answers);
            listener.close(iterate);
        });
    });
}

async function iterate() {
    const listener = net.createServer(async (socket) => {
        for await (const chunk of socket.setEncoding('utf8'))
            socket.write(chunk.toUpperCase());
        listener.close(() => console.log('over'));
    });
    await new Promise((resolve) => listener.listen(0, '127.0.0.1', resolve));
    const client = net.connect(listener.address().port, '127.0.0.1');
    client.write('one');
    for await (const chunk of client) {
        console.log(String(chunk));
        client.end();
    }
}
