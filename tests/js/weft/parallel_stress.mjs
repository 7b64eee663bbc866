// Eight instances and 100,000 messages through one channel; every message arrives once. Then all at once, through all of them.
import { go, wait } from 'weft:go';
import { spawn, channel } from 'weft:parallel';

const COUNT = 100_000, INSTANCES = 8;
const numbers = channel(128), sums = channel();
const adders = Array.from({ length: INSTANCES }, () => spawn((from, to) => {
    let sum = 0, count = 0;
    for (const { value } of from) {
        sum += value;
        count++;
    }
    to.send([sum, count]);
}, numbers, sums));
await go(() => {
    for (let i = 0; i < COUNT; i++)
        numbers.send({ value: i });
    numbers.close();
});
let sum = 0, count = 0;
for (let i = 0; i < INSTANCES; i++) {
    const [part, many] = await sums.recv();
    sum += part;
    count += many;
}
await Promise.all(adders);
console.log(sum === COUNT * (COUNT - 1) / 2, count);

// Everybody sends to everybody: a ring of instances, each of which is asked by the one before it.
const ring = Array.from({ length: INSTANCES }, () => channel(1));
const members = ring.map((from, index) => spawn((input, output) => {
    for (const message of input) {
        message.visited++;
        if (message.left === 0) {
            message.home.send(message.visited);
            continue;
        }
        message.left--;
        output.send(message);
    }
    output.close();
}, from, ring[(index + 1) % INSTANCES]));
const home = channel(4);
const total = await go(() => {
    let visits = 0;
    for (let i = 0; i < 4; i++)
        ring[0].send({ left: 500, visited: 0, home, data: new Uint8Array(100) });
    for (let i = 0; i < 4; i++)
        visits += home.recv();
    ring[0].close();
    return visits;
});
await Promise.all(members.slice(0, -1));
console.log(total);
await go(() => members.forEach((member) => wait(member)));
