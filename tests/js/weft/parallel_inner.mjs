// What is inside of something that nobody will look at: channels go on, ports go as deep as they like, and a signal is for the call
// that was given it.
import { go, sleep } from 'weft:go';
import { channel, Pool } from 'weft:parallel';
import { Pool as Works } from 'weft:pool';
import { parallel } from 'weft:parallel';
import { collect } from 'weft:trace';

const inner = channel(4);
await (async () => {
    const outer = channel(1);
    await outer.send({ inner });
})();
collect();
const { port1, port2 } = new MessageChannel();
port1.postMessage({ inner });
port2.close();
await new Promise((done) => port1.addEventListener('close', done));
port1.postMessage({ inner });
await inner.send('mine');
console.log(inner.closed, await inner.recv());

await go(() => {
    let port = new MessageChannel().port2;
    for (let i = 0; i < 20000; i++) {
        const { port1: near, port2: far } = new MessageChannel();
        near.postMessage(port, [port]);
        port = far;
    }
});
collect();
console.log('deep');

const silent = channel(0), controller = new AbortController();
const sending = go(() => silent.send({
    get x() {
        sleep(1);
        controller.abort();
        return 1;
    },
}, { signal: controller.signal }));
console.log(await sending.catch((error) => error.name));

// A job whose signal aborts before there is an instance for it; a pool that is ended twice.
const pool = new Pool({ workers: 1 });
console.log(await pool.run(() => 1));
const early = new AbortController();
const endless = pool.runWith({ signal: early.signal }, () => { for (;;); });
early.abort();
console.log(await endless.catch((error) => error.name));
await pool.terminate();
await pool.close();
console.log('closed');

// Instances that a work has started outlive its pool.
await (async () => {
    const works = new Works();
    console.log(await works.run(() => parallel.run((x) => 2 * x, 21)));
    await works.close();
})();
collect();
console.log(await parallel.run((x) => x + 1, 1));
