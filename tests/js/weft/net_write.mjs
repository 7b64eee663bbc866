// Writes of all sizes and kinds, from many at once: in the order in which they were asked for, whole, at the reader's pace.
import { go } from 'weft:go';
import { listen, connect, pair } from 'weft:net';

const listener = listen({ port: 0, host: '127.0.0.1' });
const near = await connect(listener.port);
const far = await listener.accept();

// Not waited for, and far more than there is room for.
const sizes = [1, 0, 3 << 20, 5, 1 << 20, 70000];
const writes = sizes.map((size, i) => near.write(new Uint8Array(size).fill(i + 1)));
const ended = near.shutdown();
const seen = [];
await go(() => {
    for (const piece of far) {
        for (const value of new Set(piece))
            if (seen.at(-1) !== value)
                seen.push(value);
        sizes.total = (sizes.total ?? 0) + piece.length;
    }
});
console.log((await Promise.all(writes)).length, await ended, seen.join(), sizes.total === sizes.reduce((a, b) => a + b));
near.close();
far.close();
listener.close();

// Fibers that write to one connection do not mix what they write.
const [one, other] = pair();
const writers = [...'abcdefgh'].map((letter) => go(() => {
    for (let i = 0; i < 20; i++)
        one.write(`${letter.repeat(20000)}\n`);
}));
const all = Promise.all(writers).then(() => one.close());
const counts = {};
let isWhole = true;
for (let i = 0; i < 160; i++) {
    const line = new TextDecoder().decode(await other.readFull(20001));
    isWhole &&= line === `${line[0].repeat(20000)}\n`;
    counts[line[0]] = (counts[line[0]] ?? 0) + 1;
}
await all;
console.log(isWhole, Object.keys(counts).sort().join(''), new Set(Object.values(counts)), await other.read());

// Kinds of data.
const [left, right] = pair();
await left.write(new Uint16Array([0x4241, 0x4443]));
await left.write(new Uint8Array([0x45]).buffer);
await left.write(new DataView(new Uint8Array([0x5f, 0x46, 0x5f]).buffer, 1, 1));
await left.write('');
await left.write(Buffer.from('GH'));
await left.write('ü');
left.close();
console.log(new TextDecoder().decode(await right.readAll()));

// What is changed after the call is not what is sent.
const [from, to] = pair();
const bytes = new Uint8Array(4 << 20).fill(7);
const sent = from.write(bytes);
bytes.fill(8);
const got = await to.readFull(bytes.length);
await sent;
console.log(got.every((value) => value === 7));
