// A thousand instances come and go, one way or another, and leave nothing behind.
import { readFileSync } from 'node:fs';
import { spawn, channel } from 'weft:parallel';
import { collect } from 'weft:trace';

const resident = () => Number(readFileSync('/proc/self/statm', 'utf8').split(' ')[1]) * 4096;
const ends = [
    (x) => x,
    async (x) => (await null, { x, list: new Array(100).fill(x) }),
    (x) => { throw new Error(`${x}`); },
    () => process.exit(1),
    (x, to) => { to.send(new Uint8Array(10_000)); return x; },
    (x, to) => to.send({ to, nested: [to] }),
    (x, to) => { to.send(x); for (;;); },
    async (x) => {
        const [one, two] = [new MessageChannel(), new MessageChannel()];
        one.port1.postMessage({ two: two.port2 }, [two.port2]);
        two.port1.postMessage({ list: new Uint8Array(10_000) });
        return x;
    },
];

async function cycle(count) {
    for (let i = 0; i < count; i++) {
        const to = channel(2), which = i % ends.length;
        const instance = spawn(ends[which], i, to);
        if (which === 6) {
            await to.recv();
            await instance.terminate();
        }
        await instance.then(() => {}, () => {});
    }
    collect();
}

await cycle(200); // what is kept for the next ones is there then
const before = resident();
await cycle(1000);
const grown = resident() - before;
const isWatched = Number(readFileSync('/proc/self/statm', 'utf8').split(' ')[0]) * 4096 > 1e12; // a sanitizer keeps what was freed
console.log(grown < 4e6 || isWatched ? 'flat' : `${grown} bytes more`);
