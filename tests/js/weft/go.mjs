// Fibers: channels of both kinds, waits inside comparators, errors, cancellation of what waits too long, mutexes.
import { Channel, Mutex, chan, go, isFiber, sleep } from 'weft:go';

const channel = chan();
go(() => {
    for (let i = 0; i < 3; i++) {
        sleep(2);
        channel.send(i);
    }
    channel.close();
});
const sum = go(() => {
    let total = 0;
    for (const value of channel) {
        console.log('got', value);
        total += value;
    }
    return total;
});
console.log('sum', await sum, isFiber(), await go(isFiber));

const sorted = await Promise.all(Array.from({ length: 5 }, (_, i) => go((factor) => [3, 1, 2].sort((a, b) => {
    sleep(1);
    return a - b;
}).map((value) => value * factor), i)));
console.log(JSON.stringify(sorted));

try {
    await go(() => {
        sleep(1);
        throw new Error('boom');
    });
} catch (error) {
    console.log('caught', error.message);
}

const buffered = chan(2);
buffered.send('a');
buffered.send('b');
console.log(buffered.length, buffered.capacity, buffered.closed);
try {
    await buffered.send('c', { timeout: 1 });
} catch (error) {
    console.log(error.code);
}
console.log(await buffered.recv(), await buffered.recv());
try {
    await go(() => buffered.recv({ timeout: 1 }));
} catch (error) {
    console.log(error.code);
}
buffered.close();
console.log(await buffered.recv(), buffered.closed);
try {
    await buffered.send('late');
} catch (error) {
    console.log(error.name);
}
for (const capacity of [-1, 1.5, 'x'])
    try {
        new Channel(capacity);
    } catch (error) {
        console.log(error.name);
    }

const mutex = new Mutex();
let inside = 0, most = 0;
await Promise.all(Array.from({ length: 10 }, () => go(() => mutex.run(() => {
    most = Math.max(most, ++inside);
    sleep(1);
    inside--;
}))));
console.log('at once', most);

const order = [];
const fiber = go(() => {
    order.push('fiber');
    sleep(0);
    order.push('fiber again');
});
Promise.resolve().then(() => order.push('job'));
process.nextTick(() => order.push('tick'));
order.push('main');
await fiber;
console.log(order.join(', '));
