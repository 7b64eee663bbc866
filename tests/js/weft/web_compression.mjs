// CompressionStream and DecompressionStream where Node's have their own ways: chunks that are no bytes, what is broken, what follows.
import { gzipSync, deflateSync } from 'node:zlib';

async function attempt(what, fn) {
    try {
        console.log(what, await fn());
    } catch (error) {
        console.log(what, error.name, error.code ?? '', error.message);
    }
}
const through = async (chunks, transform) => (await new Response(new ReadableStream({
    start(controller) {
        for (const chunk of chunks)
            controller.enqueue(chunk);
        controller.close();
    },
}).pipeThrough(transform)).arrayBuffer()).byteLength;

await attempt('nothing', async () => await through([], new CompressionStream('gzip')) > 0);
await attempt('a buffer', async () => await through([new Uint16Array([1, 2]).buffer], new CompressionStream('deflate')) > 0);
await attempt('text', () => through(['text'], new CompressionStream('gzip')));
await attempt('rubbish', () => through([new Uint8Array(100)], new DecompressionStream('gzip')));
await attempt('wrong format', () => through([gzipSync('x')], new DecompressionStream('deflate')));
await attempt('cut short', () => through([gzipSync('x'.repeat(1000)).subarray(0, 15)], new DecompressionStream('gzip')));
await attempt('something behind', () => through([deflateSync('x'), new Uint8Array([1])], new DecompressionStream('deflate')));
await attempt('something behind, at once', () => through([Buffer.concat([deflateSync('x'), Buffer.from('y')])], new DecompressionStream('deflate')));
await attempt('this', () => Object.getOwnPropertyDescriptor(CompressionStream.prototype, 'readable').get.call({}));
const cancelled = new CompressionStream('gzip');
await cancelled.readable.cancel('enough');
await attempt('cancelled', () => cancelled.writable.getWriter().write(new Uint8Array(5)).then(() => 'written', (reason) => `refused: ${reason}`));
