// ReadStream and WriteStream of node:fs: what they tell, and in which order.
'use strict';
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { pipeline, finished, Transform } = require('node:stream');
const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'weft-fs-'));
process.chdir(dir);
process.on('exit', () => fs.rmSync(dir, { recursive: true, force: true }));
const events = ['open', 'ready', 'end', 'close', 'error', 'finish', 'drain', 'pause', 'resume', 'pipe', 'unpipe'];
const brief = (value) => (value instanceof Error ? `${value.code} ${value.message}` : typeof value);
const watch = (name, stream) => {
    for (const event of events)
        stream.on(event, (value) => console.log(`${name}.${event}`, brief(value)));
    return stream;
};
const over = (stream) => new Promise((resolve) => { finished(stream, () => setImmediate(resolve)); });
fs.writeFileSync('digits', '0123456789');
fs.writeFileSync('big', Buffer.alloc(200000, 'abcdefghij'));

const scenarios = {
    async read() {
        const stream = watch('r', fs.createReadStream('digits'));
        console.log(stream.pending, stream.path, stream.flags, stream.fd, stream.autoClose, stream.readableHighWaterMark);
        stream.on('data', (chunk) => console.log('data', `${chunk}`, stream.bytesRead));
        await over(stream);
        console.log(stream.pending, stream.fd, stream.closed, stream.destroyed);
    },
    async parts() {
        for (const options of [{ start: 2, end: 5 }, { end: 3 }, { start: 7 }, { start: 9, end: 9 }, { start: 20 },
            { start: 1, highWaterMark: 4, encoding: 'utf8' }, { encoding: 'hex', highWaterMark: 3 }]) {
            const seen = [];
            for await (const chunk of fs.createReadStream('digits', options))
                seen.push(String(chunk));
            console.log(JSON.stringify(options), seen);
        }
    },
    async big() {
        const sizes = [];
        for await (const chunk of fs.createReadStream('big'))
            sizes.push(chunk.length);
        console.log(sizes);
    },
    async missing() {
        const stream = watch('r', fs.createReadStream('nothing'));
        stream.on('data', () => console.log('data'));
        await over(stream);
    },
    async folder() {
        const stream = watch('r', fs.createReadStream('.'));
        stream.resume();
        await over(stream);
    },
    async ofDescriptor() {
        const fd = fs.openSync('digits', 'r');
        const stream = watch('r', fs.createReadStream(null, { fd, start: 5 }));
        console.log(stream.fd === fd, stream.pending, stream.path);
        stream.on('data', (chunk) => console.log('data', `${chunk}`));
        await over(stream);
        try {
            fs.closeSync(fd);
        } catch (error) {
            console.log(error.code);
        }
    },
    async keepsOpen() {
        const fd = fs.openSync('digits', 'r');
        const stream = watch('r', fs.createReadStream(null, { fd, autoClose: false }));
        stream.on('data', (chunk) => console.log('data', `${chunk}`));
        await over(stream);
        console.log(stream.destroyed, fs.fstatSync(fd).size);
        fs.closeSync(fd);
    },
    async destroyedEarly() {
        const stream = watch('r', fs.createReadStream('digits'));
        stream.destroy(new Error('early'));
        await over(stream);
        const second = watch('s', fs.createReadStream('digits'));
        second.on('open', () => second.destroy());
        await over(second);
        const third = watch('t', fs.createReadStream('digits'));
        third.close((error) => console.log('close callback', brief(error)));
        await over(third);
    },
    async write() {
        const stream = watch('w', fs.createWriteStream('out'));
        console.log(stream.pending, stream.path, stream.flags, stream.mode, stream.writableHighWaterMark);
        console.log(stream.write('one', () => console.log('written')), stream.write(Buffer.from('two')), stream.write('74', 'hex'));
        stream.end('three', () => console.log('ended'));
        await over(stream);
        console.log(stream.bytesWritten, fs.readFileSync('out', 'utf8'), stream.fd, stream.closed);
    },
    async writeMore() {
        const stream = watch('w', fs.createWriteStream('out', { flags: 'a', encoding: 'latin1' }));
        stream.end('\xe4');
        await over(stream);
        console.log(fs.readFileSync('out'));
        const inside = watch('i', fs.createWriteStream('out', { flags: 'r+', start: 3 }));
        inside.write('TW');
        inside.end('O');
        await over(inside);
        console.log(fs.readFileSync('out', 'latin1'));
    },
    async drain() {
        const stream = watch('w', fs.createWriteStream('out', { highWaterMark: 4 }));
        let left = 3;
        const go = () => {
            while (left > 0) {
                left--;
                if (!stream.write('abcd'))
                    return;
            }
            stream.end();
        };
        stream.on('drain', go);
        go();
        await over(stream);
        console.log(fs.readFileSync('out', 'utf8'));
    },
    async exclusive() {
        const stream = watch('w', fs.createWriteStream('out', { flags: 'wx' }));
        stream.write('x', (error) => console.log('written', brief(error)));
        stream.end((error) => console.log('ended', brief(error)));
        await over(stream);
    },
    async full() {
        const stream = watch('w', fs.createWriteStream('/dev/full'));
        stream.write('x', (error) => console.log('written', brief(error)));
        await over(stream);
    },
    async closeWriter() {
        const stream = watch('w', fs.createWriteStream('out'));
        stream.write('last');
        stream.close((error) => console.log('closed', brief(error)));
        await over(stream);
        console.log(fs.readFileSync('out', 'utf8'));
        stream.close(() => console.log('closed again'));
    },
    async pipe() {
        const source = fs.createReadStream('digits'), target = fs.createWriteStream('copy');
        await Promise.all([source, target].map((stream) => new Promise((resolve) => { stream.on('ready', resolve); })));
        watch('r', source).pipe(watch('w', target));
        await over(target);
        console.log(fs.readFileSync('copy', 'utf8'));
    },
    async pipeline() {
        const upper = new Transform({ transform: (chunk, encoding, callback) => callback(null, String(chunk).toUpperCase()) });
        await new Promise((resolve) => {
            pipeline(fs.createReadStream('big'), upper, fs.createWriteStream('BIG'), (error) => {
                console.log('done', brief(error));
                resolve();
            });
        });
        console.log(fs.statSync('BIG').size, fs.readFileSync('BIG', 'latin1').slice(0, 12));
        await new Promise((resolve) => {
            pipeline(fs.createReadStream('nothing'), fs.createWriteStream('void'), (error) => {
                console.log('done', brief(error));
                resolve();
            });
        });
    },
    async handle() {
        const handle = await fs.promises.open('digits');
        const stream = watch('r', handle.createReadStream({ start: 8 }));
        stream.on('data', (chunk) => console.log('data', `${chunk}`));
        await over(stream);
        console.log(handle.fd);
        const second = await fs.promises.open('out', 'w');
        const target = watch('w', second.createWriteStream());
        target.end('by handle');
        await over(target);
        console.log(fs.readFileSync('out', 'utf8'));
    },
    async abort() {
        const controller = new AbortController();
        const stream = watch('r', fs.createReadStream('big', { signal: controller.signal }));
        stream.on('open', () => controller.abort());
        await over(stream);
    },
    async own() {
        const mine = { ...fs, open: (...all) => (console.log('my open'), fs.open(...all)), close: (...all) => (console.log('my close'), fs.close(...all)) };
        const stream = watch('r', fs.createReadStream('digits', { fs: mine }));
        stream.resume();
        await over(stream);
    },
    async patched() {
        function Patched(...all) {
            return fs.ReadStream.apply(this, all) ?? this;
        }
        Patched.prototype = Object.create(fs.ReadStream.prototype);
        Patched.prototype.open = function () {
            console.log('patched open');
            fs.open(this.path, this.flags, this.mode, (error, fd) => {
                if (error) {
                    this.emit('error', error);
                } else {
                    this.fd = fd;
                    this.emit('open', fd);
                    this.read();
                }
            });
        };
        const stream = watch('r', new Patched('digits'));
        stream.on('data', (chunk) => console.log('data', `${chunk}`));
        await over(stream);
    },
    async without() {
        const stream = fs.ReadStream('digits'); // eslint-disable-line new-cap
        console.log(stream instanceof fs.ReadStream, fs.ReadStream === fs.FileReadStream);
        stream.resume();
        await over(stream);
    },
};
(async () => {
    for (const name of Object.keys(scenarios)) {
        console.log(`== ${name}`);
        await scenarios[name]();
        await new Promise((resolve) => { setTimeout(resolve, 5); });
    }
})();
