// The end comes while all kinds of calls wait: nothing hangs, nothing else is printed.
import { go, sleep } from 'weft:go';
import { bind, connect, listen, pair } from 'weft:net';

const listener = listen({ port: 0, host: '127.0.0.1' });
listener.serve((connection) => connection.read());
const [near, far] = pair(), [left, right] = pair();
go(() => {
    near.read();
    console.log('never');
});
near.write(new Uint8Array(8 << 20)).then(() => console.log('never'));
near.write('behind').finally(() => console.log('never'));
right.readFull(1 << 20).then(() => console.log('never', far, left));
bind(0).receive().catch(() => console.log('never'));
const idle = await connect({ host: '127.0.0.1', port: listener.port });
idle.readLine();
go(() => {
    try {
        connect({ host: '127.0.0.1', port: listener.port }).readUntil('x');
    } finally {
        console.log('not even this');
    }
});
process.on('exit', (code) => console.log('exit', code));
sleep(5).then(() => process.exit(3));
