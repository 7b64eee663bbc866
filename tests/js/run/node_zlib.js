// node:zlib: what is packed can be unpacked, by every door; errors, limits, flushes, streams of both kinds.
'use strict';
const zlib = require('node:zlib');
const { promisify } = require('node:util');
const { Readable, Writable } = require('node:stream');
const { pipeline } = require('node:stream/promises');
const log = (...parts) => console.log(...parts);
const show = (error) => `${error.name} ${error.code ?? ''} ${error.errno ?? ''} ${error.message}`;
async function attempt(what, fn) {
    try {
        log(what, await fn());
    } catch (error) {
        log(what, show(error));
    }
}
const text = 'weft '.repeat(2000), bytes = Buffer.from(text);
const pairs = [['deflate', 'inflate'], ['gzip', 'gunzip'], ['deflateRaw', 'inflateRaw'], ['gzip', 'unzip'], ['deflate', 'unzip']];
const upper = (name) => name[0].toUpperCase() + name.slice(1);
const steps = {
    async doors() {
        for (const [pack, unpack] of pairs) {
            const packed = zlib[`${pack}Sync`](text);
            log(pack, packed.length < 200, zlib[`${unpack}Sync`](packed).equals(bytes), Buffer.isBuffer(packed));
            log((await promisify(zlib[unpack])(await promisify(zlib[pack])(bytes))).equals(bytes));
            const pieces = await Readable.from([bytes.subarray(0, 3000), bytes.subarray(3000)]).pipe(zlib[`create${upper(pack)}`]()).pipe(zlib[`create${upper(unpack)}`]()).toArray();
            log(Buffer.concat(pieces).equals(bytes));
        }
        log(zlib.gunzipSync(Buffer.from('H4sIAAAAAAAAA8tIzcnJBwCGphA2BQAAAA==', 'base64')).toString());
        log(zlib.inflateSync(zlib.deflateSync('')).length, zlib.gunzipSync(zlib.gzipSync(new Uint16Array([1, 2]))).length, zlib.gunzipSync(zlib.gzipSync(new ArrayBuffer(3))).length);
    },
    async options() {
        const sizes = [0, 1, 9].map((level) => zlib.deflateSync(text, { level }).length);
        log(sizes[0] > sizes[1], sizes[1] >= sizes[2]);
        const dictionary = Buffer.from('weft weft');
        const packed = zlib.deflateSync('weft weft weft', { dictionary });
        log(zlib.inflateSync(packed, { dictionary }).toString());
        await attempt('no dictionary', () => zlib.inflateSync(packed));
        await attempt('wrong dictionary', () => zlib.inflateSync(packed, { dictionary: Buffer.from('other') }));
        const raw = zlib.deflateRawSync('weft weft weft', { dictionary });
        log(zlib.inflateRawSync(raw, { dictionary }).toString());
        log(zlib.deflateSync(text, { windowBits: 9, memLevel: 1, strategy: zlib.constants.Z_HUFFMAN_ONLY }).length > 1000);
        const { buffer, engine } = zlib.gzipSync('info', { info: true });
        log(buffer.length, engine.bytesWritten, engine instanceof zlib.Gzip);
        log(zlib.gunzipSync(zlib.gzipSync(text).subarray(0, 40), { finishFlush: zlib.constants.Z_SYNC_FLUSH }).length > 0);
    },
    async wrong() {
        await attempt('rubbish', () => zlib.inflateSync('rubbish'));
        await attempt('rubbish gzip', () => zlib.gunzipSync(Buffer.alloc(20)));
        await attempt('cut short', () => zlib.gunzipSync(zlib.gzipSync(text).subarray(0, 30)));
        await attempt('nothing', () => zlib.gunzipSync(Buffer.alloc(0)));
        await attempt('checksum', () => {
            const packed = zlib.gzipSync('abc');
            packed[packed.length - 8] ^= 1;
            return zlib.gunzipSync(packed);
        });
        await attempt('callback', () => promisify(zlib.inflate)('rubbish'));
        await attempt('stream', () => Readable.from([Buffer.from('rubbish')]).pipe(zlib.createGunzip()).toArray());
        await attempt('stream cut short', () => Readable.from([zlib.gzipSync(text).subarray(0, 30)]).pipe(zlib.createGunzip()).toArray());
        await attempt('too large', () => zlib.inflateSync(zlib.deflateSync(Buffer.alloc(100000)), { maxOutputLength: 1000 }));
        await attempt('too large, later', () => promisify(zlib.inflate)(zlib.deflateSync(Buffer.alloc(100000)), { maxOutputLength: 1000 }));
        for (const options of [{ level: 10 }, { level: 'x' }, { windowBits: 7 }, { memLevel: 0 }, { strategy: 5 }, { chunkSize: 10 }, { flush: 9 }, { dictionary: 5 }])
            await attempt(JSON.stringify(options), () => zlib.createDeflate(options) && 'made');
        await attempt('input', () => zlib.gzipSync(5));
        await attempt('no callback', () => zlib.gzip('x'));
    },
    async joined() {
        const two = Buffer.concat([zlib.gzipSync('one '), zlib.gzipSync('two')]);
        log(zlib.gunzipSync(two).toString(), (await promisify(zlib.gunzip)(two)).toString());
        log(zlib.gunzipSync(Buffer.concat([zlib.gzipSync('x'), Buffer.from([0, 0, 0])])).toString());
        log(zlib.inflateSync(Buffer.concat([zlib.deflateSync('y'), Buffer.from('rest')])).toString());
    },
    async flushing() {
        const gzip = zlib.createGzip(), seen = [];
        gzip.on('data', (chunk) => seen.push(chunk));
        gzip.write('first');
        await new Promise((resolve) => gzip.flush(resolve));
        log(seen.length > 0, zlib.gunzipSync(Buffer.concat(seen), { finishFlush: zlib.constants.Z_SYNC_FLUSH }).toString());
        gzip.write(' second');
        await new Promise((resolve) => gzip.params(9, 0, resolve));
        gzip.end(' third');
        await new Promise((resolve) => gzip.on('end', resolve));
        log(zlib.gunzipSync(Buffer.concat(seen)).toString(), gzip.bytesWritten);
        const deflate = zlib.createDeflate();
        deflate.close(() => log('closed', deflate.destroyed));
        await new Promise((resolve) => deflate.on('close', resolve));
    },
    async large() {
        const source = Buffer.alloc(3000000, 'pattern of some length;'), out = [];
        await pipeline(Readable.from([source]), zlib.createGzip({ level: 1 }), zlib.createGunzip(), new Writable({
            highWaterMark: 1000,
            write(chunk, encoding, done) {
                out.push(chunk);
                setImmediate(done);
            },
        }));
        log(Buffer.concat(out).equals(source));
        let count = 0;
        const packed = zlib.deflateSync(Buffer.alloc(5000000));
        for await (const chunk of Readable.from([packed]).pipe(zlib.createInflate())) {
            count++;
            if (count === 5)
                break;
        }
        log('left early', count);
    },
    shape() {
        log(zlib.constants.Z_BEST_COMPRESSION, zlib.codes.Z_DATA_ERROR, zlib.codes['-3'], zlib.Z_SYNC_FLUSH, Object.isFrozen(zlib.constants));
        log(zlib.crc32?.('hello'), zlib.crc32?.(Buffer.from('lo'), zlib.crc32('hel')));
        log(['Deflate', 'Inflate', 'Gzip', 'Gunzip', 'DeflateRaw', 'InflateRaw', 'Unzip'].map((name) => `${typeof zlib[name]} ${zlib[name].name} ${new zlib[name]() instanceof zlib[name]} ${zlib[name]() instanceof zlib[name]}`).join());
    },
};
(async () => {
    for (const name of Object.keys(steps)) {
        log(`-- ${name}`);
        await steps[name]();
    }
})();
