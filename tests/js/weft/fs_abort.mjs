// Waits of weft:fs that end otherwise: by a signal, with their fiber, by a close, and those that wait for a FIFO.
import { go, scope, sleep } from 'weft:go';
import { run } from 'weft:process';
import * as fs from 'weft:fs';

const folder = await fs.mkdtemp();
process.chdir(folder);
const code = (error) => error?.code ?? error?.name ?? String(error);
await run('mkfifo', ['pipe', 'other']);

// Signals that have aborted, and that abort while it waits.
await fs.writeFile('a', 'some bytes');
console.log(await fs.readFile('a', { signal: AbortSignal.abort('why') }).catch(String));
console.log(await go(() => {
    try {
        return fs.readText('a', { signal: AbortSignal.abort(new Error('in a fiber')) });
    } catch (error) {
        return error.message;
    }
}));
console.log(await fs.readText('a', { signal: new AbortController().signal }));
{
    const controller = new AbortController();
    const reading = fs.readText('pipe', { signal: controller.signal }).catch((error) => error.message);
    await sleep(1);
    controller.abort(new Error('enough'));
    console.log(await reading);
}
// A FIFO that nobody reads is not opened for writing, until somebody does.
{
    const controller = new AbortController();
    const opening = fs.open('pipe', 'w', { signal: controller.signal }).catch((error) => error.message);
    await sleep(1);
    controller.abort(new Error('nobody reads'));
    console.log(await opening);
    const [written, read] = await Promise.all([fs.writeFile('pipe', 'through the pipe'), fs.readText('pipe')]);
    console.log(written, read);
}
// A read that waits, and a close.
{
    const reader = await fs.open('pipe');
    const writer = await fs.open('pipe', 'w');
    const first = reader.read().catch(code), second = reader.read().catch(code);
    const inFiber = go(() => reader.read()).catch(code);
    await sleep(1);
    console.log(await reader.close(), await first, await second, await inFiber, await reader.read().catch(code));
    console.log(await writer.write('x').catch(code));
    await writer.close();
}
// A fiber that is cancelled, and a scope that fails.
{
    const reader = await fs.open('pipe');
    const writer = await fs.open('pipe', 'w');
    const controller = new AbortController();
    const fiber = go.with({ signal: controller.signal }, () => reader.read()).catch((error) => error.message);
    await sleep(1);
    controller.abort(new Error('cancelled'));
    console.log(await fiber);
    console.log(await scope((children) => {
        children.go(() => reader.read());
        throw new Error('the scope fails');
    }).catch((error) => error.message));
    console.log(await scope(async (children) => {
        const child = children.go(() => new TextDecoder().decode(reader.read()));
        await sleep(1);
        await writer.write('still there');
        return child;
    }));
    await writer.close();
    console.log(await reader.read());
    await reader.close();
}
// What is written to a full pipe waits, and can be given up.
{
    const reader = await fs.open('pipe');
    const writer = await fs.open('pipe', 'w');
    const controller = new AbortController();
    const writing = writer.write(new Uint8Array(1 << 22), { signal: controller.signal }).catch((error) => error.message);
    await sleep(1);
    controller.abort(new Error('too much'));
    console.log(await writing, (await reader.read()).length > 0);
    await writer.close();
    await reader.close();
}
// A long one is given up between its pieces, or is over before.
{
    const controller = new AbortController();
    await fs.writeFile('big', new Uint8Array(32 << 20));
    const reading = fs.readFile('big', { signal: controller.signal }).then((bytes) => bytes.length === 32 << 20, (error) => error.name === 'AbortError');
    controller.abort();
    console.log(await reading);
}
// Lines of a pipe, as they come.
{
    const lines = go(() => {
        const reader = fs.open('other');
        const seen = [];
        for (const line of reader.lines())
            seen.push(line);
        reader.close();
        return seen.join();
    });
    const writer = await fs.open('other', 'w');
    for (const piece of ['on', 'e\ntw', 'o\n\n', 'three'])
        await writer.write(piece);
    await writer.close();
    console.log(await lines);
}
await fs.rm(folder, { recursive: true });
