// What can be read: pieces, whole numbers of bytes, lines and other delimiters, up to limits; nothing gets lost.
import { go } from 'weft:go';
import { pair, pipe } from 'weft:net';

const text = (bytes) => bytes && new TextDecoder().decode(bytes);
const code = (fn) => {
    try {
        return fn();
    } catch (error) {
        return `${error.name} ${error.code ?? error.message}`;
    }
};

await go(() => {
    const [near, far] = pair();
    far.write('abcdefghij');
    console.log(text(near.read(3)), text(near.readFull(4)), text(near.read()));
    console.log(code(() => near.read(5, { timeout: 0 })), code(() => near.read({ timeout: 1 })));
    console.log(code(() => near.read(0)), code(() => near.read(-1)), code(() => near.readFull(-1)));
    console.log(near.readFull(0).length);

    far.write('head: 1\r\nhead: 2\r\n\r\nbody|rest');
    console.log(JSON.stringify(text(near.readUntil('\r\n\r\n'))), text(near.readUntil('|')), near.readFull(2).join());
    console.log(text(near.read()));
    console.log(code(() => near.readUntil('')), code(() => near.readUntil('x'.repeat(33))));

    // A delimiter that comes in pieces, and one that looks like it.
    go(() => {
        for (const part of ['a\r', '\n\r', '\r\n\r', '\n', 'end'])
            far.write(part);
        far.shutdown();
    });
    console.log(JSON.stringify(text(near.readUntil('\r\n\r\n'))), JSON.stringify(text(near.readUntil('\r\n\r\n'))));
    console.log(near.readUntil('\n'), near.readLine(), near.read(), near.readFull(3));
    near.close();
    far.close();
});

await go(() => {
    const { reader, writer } = pipe();
    writer.write(`${'x'.repeat(50)}\nshort\n`);
    console.log(code(() => reader.readLine({ limit: 20 })), reader.readLine({ limit: 51 }).length, reader.readLine());
    console.log(code(() => reader.readLine({ limit: 0 })), code(() => reader.readLine({ limit: 1e6 })));
    // A line that is not there yet: after the limit of time the rest of it can be had.
    writer.write('first half, ');
    console.log(code(() => reader.readLine({ timeout: 1 })));
    writer.write('second half\n');
    console.log(reader.readLine());
    // The whole that does not come.
    writer.write('12345');
    try {
        reader.readFull(10, { timeout: 1 });
    } catch (error) {
        console.log(error.code, text(error.partial));
    }
    writer.write('678');
    writer.close();
    try {
        reader.readFull(10);
    } catch (error) {
        console.log(error.code, text(error.partial));
    }
    console.log(reader.readFull(10), reader.readAll().length);
    console.log(code(() => writer.write('x')), code(() => reader.write('x')));
    reader.close();
    console.log(code(() => reader.read()), code(() => reader.readLine()));
});

// Everything up to the end, with a limit.
const { reader, writer } = pipe();
await writer.write('all of it');
writer.close();
console.log(text(await reader.readAll()));
const second = pipe();
second.writer.write('x'.repeat(1000));
console.log(await second.reader.readAll({ limit: 100 }).catch((error) => error.code));

// Bytes that are no text, and a zero in a line.
const third = pipe();
await third.writer.write(new Uint8Array([0x61, 0xff, 0x62, 0x0a, 0x63, 0, 0x64, 0x0a]));
console.log(JSON.stringify(await third.reader.readLine()), JSON.stringify(await third.reader.readLine()));
