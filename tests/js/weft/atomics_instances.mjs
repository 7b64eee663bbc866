// Atomics between instances: waits on fibers, on loops and by promises, in one queue; shared memory that grows.
import { go } from 'weft:go';
import { spawn, channel } from 'weft:parallel';

const show = (name, ...values) => console.log(name, ...values);
const INDEX = 0, VALUE = 0;

// Each way of waiting there, notified from here.
for (const [name, wait] of Object.entries({
    fiber: (numbers, here) => { here.send(1); return Atomics.wait(numbers, 0, 0); },
    loop: async (numbers, here) => { await here.send(1); await new Promise(setImmediate); return Atomics.wait(numbers, 0, 0); },
    promise: async (numbers, here) => { const { value } = Atomics.waitAsync(numbers, 0, 0); await here.send(1); return value; },
    'with time': (numbers, here) => { here.send(1); return Atomics.wait(numbers, 0, 0, 1e9); },
    'big numbers': (numbers, here) => {
        const big = new BigInt64Array(numbers.buffer, 8);
        here.send(1);
        return Atomics.wait(big, 0, 0n);
    },
})) {
    const numbers = new Int32Array(new SharedArrayBuffer(16)), here = channel();
    const waiting = spawn(wait, numbers, here);
    await here.recv();
    while (Atomics.notify(name === 'big numbers' ? new BigInt64Array(numbers.buffer, 8) : numbers, 0) === 0)
        await new Promise(setImmediate);
    show(name, await waiting, numbers[INDEX] === VALUE);
}
show('time', await spawn((numbers) => Atomics.wait(numbers, 0, 0, 5), new Int32Array(new SharedArrayBuffer(4))));
show('other value', await spawn((numbers) => Atomics.wait(numbers, 0, 1), new Int32Array(new SharedArrayBuffer(4))));

// While a fiber waits, its instance goes on; the loop of the main instance may stand still, too.
const own = new Int32Array(new SharedArrayBuffer(8));
const answers = [];
const waiting = go(() => answers.push(Atomics.wait(own, 0, 0)));
await new Promise(setImmediate);
answers.push('meanwhile');
while (Atomics.notify(own, 0) === 0)
    await new Promise(setImmediate);
await waiting;
show('on a fiber', ...answers);
const waker = spawn((numbers) => {
    while (Atomics.notify(numbers, 1) === 0)
        Atomics.pause?.();
}, own);
show('on the loop', Atomics.wait(own, 1, 0), await waker);

// A lock and a counter of the classical kind, for eight instances.
const shared = new Int32Array(new SharedArrayBuffer(8));
await Promise.all(Array.from({ length: 8 }, () => spawn((cells) => {
    const lock = () => {
        while (Atomics.compareExchange(cells, 0, 0, 1) !== 0)
            Atomics.wait(cells, 0, 1, 10);
    };
    const unlock = () => {
        Atomics.store(cells, 0, 0);
        Atomics.notify(cells, 0, 1);
    };
    for (let i = 0; i < 1000; i++) {
        lock();
        cells[1] = cells[1] + 1; // not an atomic operation
        unlock();
    }
}, shared).result));
show('locked', shared[1], shared[0]);

// No more are woken than were asked for.
const gate = new Int32Array(new SharedArrayBuffer(4)), through = channel(8), arrived = channel();
const crowd = [1, 2, 3, 4].map(() => spawn((cells, to, here) => {
    const { value } = Atomics.waitAsync(cells, 0, 0);
    return here.send(1) ?? value.then((answer) => to.send(answer));
}, gate, through, arrived));
for (let i = 0; i < 4; i++)
    await arrived.recv();
show('some', Atomics.notify(gate, 0, 3), await through.recv(), await through.recv(), await through.recv(), through.length,
    Atomics.notify(gate, 0), await through.recv(), Atomics.notify(gate, 0));
await Promise.all(crowd);

// Memory outlives whoever has made it; what has grown in one instance has grown in all.
const kept = await spawn(() => {
    const memory = new SharedArrayBuffer(4, { maxByteLength: 4096 });
    new Uint8Array(memory)[0] = 7;
    return memory;
});
show('kept', new Uint8Array(kept)[0], kept.byteLength, kept.growable, kept.maxByteLength);
const tracking = new Uint8Array(kept);
show('grown there', await spawn((memory) => {
    memory.grow(1000);
    new Uint8Array(memory)[999] = 9;
    return memory.byteLength;
}, kept), kept.byteLength, tracking.length, tracking[999]);
const attempt = (what) => {
    try {
        return what();
    } catch (error) {
        return error.name;
    }
};
show('not less', attempt(() => kept.grow(10)), attempt(() => kept.grow(5000)), attempt(() => new SharedArrayBuffer(4).grow(4)), kept.byteLength);
