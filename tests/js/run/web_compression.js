// CompressionStream and DecompressionStream.
const { gunzipSync, inflateRawSync, gzipSync } = require('node:zlib');
const log = (...parts) => console.log(...parts);
async function attempt(what, fn) {
    try {
        log(what, await fn());
    } catch (error) {
        log(what, error instanceof TypeError ? 'TypeError' : error.name);
    }
}
const bytesOf = async (stream) => new Uint8Array(await new Response(stream).arrayBuffer());
const through = (chunks, transform) => bytesOf(new ReadableStream({
    start(controller) {
        for (const chunk of chunks)
            controller.enqueue(chunk);
        controller.close();
    },
}).pipeThrough(transform));
const text = new TextEncoder().encode('packed '.repeat(500));
(async () => {
    for (const format of ['gzip', 'deflate', 'deflate-raw']) {
        const packed = await through([text.subarray(0, 1000), text.subarray(1000)], new CompressionStream(format));
        const back = await through([packed.subarray(0, 10), packed.subarray(10)], new DecompressionStream(format));
        log(format, packed.length < 100, Buffer.from(back).equals(Buffer.from(text)));
    }
    log(gunzipSync(await through([text], new CompressionStream('gzip'))).length, inflateRawSync(await through([text], new CompressionStream('deflate-raw'))).length);
    log(new TextDecoder().decode(await through([gzipSync('from zlib')], new DecompressionStream('gzip'))));
    const large = new Uint8Array(2000000);
    log((await through([await through([large], new CompressionStream('gzip'))], new DecompressionStream('gzip'))).length);
    await attempt('format', () => new CompressionStream('lzma') && 'made');
    await attempt('no format', () => new DecompressionStream() && 'made');
    log(Object.prototype.toString.call(new CompressionStream('gzip')), Object.keys(CompressionStream.prototype), new CompressionStream('gzip').readable instanceof ReadableStream);
})();
