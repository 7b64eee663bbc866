// Connections as streams of the web, and as iterators.
import { go } from 'weft:go';
import { connect, listen, pair, pipe } from 'weft:net';

const text = (bytes) => new TextDecoder().decode(bytes);

{
    const [near, far] = pair();
    console.log(near.readable === near.readable, near.writable === near.writable);
    const writer = near.writable.getWriter();
    writer.write('text, ');
    writer.write(new Uint8Array([0x62, 0x79, 0x74, 0x65, 0x73]));
    await writer.close();
    console.log(await new Response(far.readable).text());
    console.log(await near.write('x').catch((error) => error.code));
}

// Through pipes, with bytes of a reader's own.
{
    const first = pipe(), second = pipe();
    const copied = first.reader.readable.pipeThrough(new TextDecoderStream()).pipeThrough(new TransformStream({
        transform: (chunk, controller) => controller.enqueue(chunk.toUpperCase()),
    })).pipeThrough(new TextEncoderStream()).pipeTo(second.writer.writable);
    await first.writer.write('through three streams');
    first.writer.close();
    await copied;
    const reader = second.reader.readable.getReader({ mode: 'byob' });
    const { value } = await reader.read(new Uint8Array(7));
    console.log(text(value), (await reader.read(new Uint8Array(100))).value.length, (await reader.read(new Uint8Array(4))).done);
}

// Lines that were read before are not lost for the stream.
{
    const { reader, writer } = pipe();
    await writer.write('head\nbody of it');
    writer.close();
    console.log(await reader.readLine(), await new Response(reader.readable).text());
}

// Cancelled and aborted.
{
    const [near, far] = pair();
    await near.readable.cancel();
    console.log(near.closed, await far.read());
    const [left, right] = pair();
    await left.writable.abort('no more');
    console.log(left.closed, await right.read().catch((error) => error.code));
    const [one, another] = pair();
    const reading = one.readable.getReader().read().catch((error) => error.code);
    one.close();
    console.log(await reading, await another.read());
}

// A fiber that uses streams does not stop others.
{
    const listener = listen(0);
    const near = await connect(listener.port);
    const far = await listener.accept();
    const seen = [];
    const fiber = go(() => {
        for (const piece of near)
            seen.push(text(piece));
    });
    const loop = (async () => {
        for await (const piece of far) {
            seen.push(text(piece));
            await far.write(`${text(piece)}!`);
        }
        far.close();
    })();
    await near.write('ping');
    while (seen.length < 2)
        await new Promise(setImmediate);
    await near.shutdown();
    await Promise.all([fiber, loop]);
    console.log(seen);
    listener.close();
}
