// node:fs on descriptors: read and write in all their shapes, at once and with callbacks; vectors; huge places.
'use strict';
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { promisify } = require('node:util');
const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'weft-fs-'));
process.chdir(dir);
process.on('exit', () => fs.rmSync(dir, { recursive: true, force: true }));
const done = (fn) => new Promise((resolve) => {
    fn((...results) => {
        console.log(...results);
        resolve();
    });
});

const fd = fs.openSync('f', 'w+');
console.log(typeof fd, fs.writeSync(fd, 'hello world'), fs.writeSync(fd, '!!', 5), fs.writeSync(fd, 'c3a4', null, 'hex'));
console.log(fs.readFileSync('f'), fs.readFileSync(fd, 'utf8'));
console.log(fs.writeSync(fd, Buffer.from('ABCDEF'), 2, 3, 0), fs.writeSync(fd, Buffer.from('xyz'), { offset: 1, position: 4 }));
console.log(fs.writeSync(fd, new Uint16Array([0x4142])), fs.writeSync(fd, ''), fs.writeSync(fd, Buffer.alloc(0)));
console.log(fs.readFileSync('f', 'latin1'));
const buffer = Buffer.alloc(8, '.');
console.log(fs.readSync(fd, buffer, 0, 4, 0), `${buffer}`, fs.readSync(fd, buffer, 4, 2, 3n), `${buffer}`);
console.log(fs.readSync(fd, buffer, { position: 2, length: 2 }), `${buffer}`, fs.readSync(fd, buffer), fs.readSync(fd, buffer, 0, 0));
console.log(fs.readSync(fd, new DataView(buffer.buffer, buffer.byteOffset, 3), 0, 3, 0), `${buffer}`, fs.readSync(fd, buffer, 0, 8, 2 ** 40));
console.log(fs.fstatSync(fd).size, fs.fstatSync(fd, { bigint: true }).size);
const parts = [Buffer.alloc(2), new Uint8Array(3), Buffer.alloc(20)];
console.log(fs.readvSync(fd, parts, 0), parts);
console.log(fs.writevSync(fd, [Buffer.from('12'), Buffer.from('345')], 1), fs.writevSync(fd, []), fs.readFileSync('f', 'latin1'));
fs.ftruncateSync(fd, 3);
fs.fchmodSync(fd, 0o644);
fs.futimesSync(fd, 100, 200);
fs.fsyncSync(fd);
fs.fdatasyncSync(fd);
console.log(fs.fstatSync(fd).size, fs.fstatSync(fd).mtimeMs, (fs.fstatSync(fd).mode & 0o777).toString(8));
console.log(fs.writeSync(fd, 'far', 2 ** 41), fs.fstatSync(fd).size, fs.readSync(fd, buffer, 0, 8, 2n ** 41n - 2n), buffer);
fs.ftruncateSync(fd);
fs.closeSync(fd);
for (const call of [() => fs.closeSync(fd), () => fs.fstatSync(fd), () => fs.readSync(fd, buffer)]) {
    try {
        call();
    } catch (error) {
        console.log(error.message);
    }
}

(async () => {
    let number;
    await done((callback) => fs.open('g', 'wx+', 0o600, (error, opened) => {
        number = opened;
        callback(error, typeof opened);
    }));
    await done((callback) => fs.open('g', 'wx', (error) => callback(error.message)));
    await done((callback) => fs.write(number, 'some text', callback));
    await done((callback) => fs.write(number, 'T', 5, callback));
    await done((callback) => fs.write(number, 'w6Q=', 9, 'base64', callback));
    await done((callback) => fs.write(number, Buffer.from('abcdef'), 1, 2, 0, callback));
    await done((callback) => fs.write(number, Buffer.from('zz'), callback));
    await done((callback) => fs.write(number, Buffer.from('yy'), { position: 3 }, callback));
    await done((callback) => fs.read(number, callback));
    await done((callback) => fs.read(number, Buffer.alloc(4), 1, 2, 0, callback));
    await done((callback) => fs.read(number, { buffer: Buffer.alloc(5), position: 2 }, callback));
    await done((callback) => fs.read(number, Buffer.alloc(5), { offset: 1, length: 3, position: 4n }, callback));
    await done((callback) => fs.read(number, Buffer.alloc(3), 0, 0, null, callback));
    await done((callback) => fs.read(number, Buffer.alloc(3), 0, 3, 1000, callback));
    await done((callback) => fs.readv(number, [Buffer.alloc(2), Buffer.alloc(2)], 0, callback));
    await done((callback) => fs.writev(number, [Buffer.from('1'), Buffer.from('2')], 1, callback));
    await done((callback) => fs.writev(number, [], callback));
    await done((callback) => fs.fstat(number, (error, stats) => callback(error, stats.size, stats.isFile())));
    await done((callback) => fs.ftruncate(number, 2, callback));
    await done((callback) => fs.fchmod(number, 0o640, callback));
    await done((callback) => fs.futimes(number, 1, 2, callback));
    await done((callback) => fs.fsync(number, callback));
    await done((callback) => fs.fdatasync(number, callback));
    await done((callback) => fs.readFile(number, 'utf8', callback));
    await done((callback) => fs.writeFile(number, 'tail', callback));
    await done((callback) => fs.close(number, callback));
    await done((callback) => fs.close(number, (error) => callback(error.message)));
    await done((callback) => fs.readFile('g', 'latin1', callback));
    const again = fs.openSync('g', 'r');
    console.log(await promisify(fs.read)(again, Buffer.alloc(3), 0, 3, 0));
    console.log(await promisify(fs.exists)('g'), await promisify(fs.stat)('g').then((stats) => stats.size));
    fs.close(again);
    await done((callback) => fs.exists('g', callback));
    await done((callback) => fs.exists('nothing', callback));
    await done((callback) => fs.readFile('g', { signal: AbortSignal.abort() }, (error) => callback(error.name, error.code, error.message)));
    await done((callback) => fs.mkdir('x/y', { recursive: true }, callback));
    await done((callback) => fs.mkdir('x/y', callback));
    await done((callback) => fs.mkdir('z', callback));
    await done((callback) => fs.rm('x', (error) => callback(error.message, error.info)));
    await done((callback) => fs.rm('x', { recursive: true }, callback));
    await done((callback) => fs.realpath('.', (error, real) => callback(error, real === fs.realpathSync(dir))));
    await done((callback) => fs.realpath.native('.', (error, real) => callback(error, real === fs.realpathSync(dir))));
    await done((callback) => fs.mkdtemp('t-', (error, made) => callback(error, made.length)));
    await done((callback) => fs.access('g', fs.constants.R_OK, callback));
    await done((callback) => fs.stat('g', { bigint: true }, (error, stats) => callback(error, stats.size)));
    await done((callback) => fs.symlink('g', 's', callback));
    await done((callback) => fs.readlink('s', callback));
    await done((callback) => fs.lstat('s', (error, stats) => callback(error, stats.isSymbolicLink())));
    await done((callback) => fs.copyFile('g', 'h', callback));
    await done((callback) => fs.appendFile('h', '+', callback));
    await done((callback) => fs.rename('h', 'i', callback));
    await done((callback) => fs.truncate('i', 1, callback));
    await done((callback) => fs.unlink('i', callback));
    await done((callback) => fs.rmdir('z', callback));
})();
