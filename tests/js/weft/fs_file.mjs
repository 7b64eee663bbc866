// Open files of weft:fs: bytes at places, iteration, lines, streams of the web.
import { go } from 'weft:go';
import { open, writeFile, readText, readFile, mkdtemp, rm } from 'weft:fs';

const folder = await mkdtemp();
process.chdir(folder);
const text = (bytes) => (bytes === null ? null : new TextDecoder().decode(bytes));

const file = await open('f', 'w+', { mode: 0o640 });
console.log(await file.write('0123456789'), await file.write(new Uint16Array([0x4241])), await file.write(''));
console.log(await file.seek(0), text(await file.read(4)), text(await file.read(3)), text(await file.read()), await file.read());
console.log(await file.seek(-3, 'end'), text(await file.read()), await file.seek(2n), await file.seek(2, 'current'), text(await file.read(2)));
console.log(text(await file.pread(3, 1)), text(await file.pread(5, 9n)), await file.pread(5, 100), await file.pwrite('xyz', 2));
console.log(text(await file.read(2, { position: 2 })), await file.seek(0), await file.readText());
const view = new Uint8Array(6);
console.log(await file.readInto(view.subarray(1, 4), { position: 0 }), view, await file.readInto(new DataView(view.buffer), { position: 9 }), view);
console.log(await file.truncate(5), (await file.stat()).size, await file.truncate(), (await file.stat({ bigint: true })).size);
console.log(await file.sync(), await file.sync({ data: true }), await file.chmod(0o600), await file.utimes(5, 6), (await file.stat()).mtimeMs);
console.log(await file.pwrite('far', 2n ** 40n), (await file.stat()).size, text(await file.pread(10, 2 ** 40)));
console.log(await file.close(), file.closed, await file.close(), file.number);

// ---- One after another ----
await writeFile('lines', 'one\ntwo\r\n\nfour ä€😀\nlast');
const lines = await open('lines');
for await (const line of lines.lines())
    console.log(JSON.stringify(line));
await lines.close();
for (const size of [1, 2, 3, 5, 7]) {
    const again = await open('lines');
    const seen = [];
    for await (const line of again.lines({ size }))
        seen.push(line);
    console.log(size, seen.join('|'));
    await again.close();
}
await go(() => {
    const inFiber = open('lines');
    console.log([...inFiber.lines()].join('|'));
    inFiber.seek(0);
    let size = 0;
    for (const chunk of inFiber)
        size += chunk.length;
    console.log(size, inFiber.read());
    inFiber.seek(3);
    console.log([...inFiber.chunks({ size: 10 })].map((chunk) => chunk.length), inFiber.close(), inFiber.close());
});
await writeFile('empty', '');
const empty = await open('empty');
for await (const line of empty.lines())
    console.log('never', line);
for await (const chunk of empty)
    console.log('never', chunk);
console.log((await empty.readAll()).length, await empty.readText() === '');
await empty[Symbol.asyncDispose]();
console.log(empty.closed);

// ---- Streams ----
const source = await open('lines');
console.log(await new Response(source.readable).text() === await readText('lines'), source.closed, source.readable.locked);
const copy = await open('copy', 'w');
await (await open('lines')).readable.pipeTo(copy.writable);
console.log(copy.closed, (await readFile('copy')).length);
const writer = (await open('copy', 'a')).writable.getWriter();
await writer.write('!');
await writer.write(new Uint8Array([63]));
await writer.close();
console.log((await readText('copy')).slice(-6));
const cancelled = await open('lines');
await cancelled.readable.cancel();
console.log(cancelled.closed);
{
    using scoped = await open('lines');
    console.log(scoped.closed);
}
// Nobody has it any more: it is closed when it is collected.
await open('lines');
console.log('the end');
await rm(folder, { recursive: true });
