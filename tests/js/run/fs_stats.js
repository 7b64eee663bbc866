// Stats of node:fs: fields, kinds, times, as numbers and as BigInts.
'use strict';
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { inspect } = require('node:util');
const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'weft-fs-'));
process.chdir(dir);
process.on('exit', () => fs.rmSync(dir, { recursive: true, force: true }));
fs.writeFileSync('f', 'abc', { mode: 0o640 });
fs.utimesSync('f', 1.5, 1234567890.123456);
const plain = fs.statSync('f'), big = fs.statSync('f', { bigint: true });
console.log(Object.keys(plain).join(), Object.keys(big).join());
for (const stats of [plain, big]) {
    console.log(stats.constructor.name, stats instanceof fs.Stats, Object.getPrototypeOf(stats) === Object.prototype);
    console.log(stats.size, stats.mode, stats.nlink, stats.atimeMs, stats.mtimeMs, stats.atime, stats.mtime, typeof stats.dev, typeof stats.ino);
    console.log(stats.isFile(), stats.isDirectory(), stats.isSymbolicLink(), stats.isFIFO(), stats.isSocket(), stats.isBlockDevice(),
        stats.isCharacterDevice());
}
console.log(big.mtimeNs, big.atimeNs, typeof big.birthtimeNs);
const blank = { dev: 0, uid: 0, gid: 0, blksize: 0, ino: 0, blocks: 0, ctimeMs: 0, birthtimeMs: 0, ctime: 0, birthtime: 0 };
console.log(inspect(Object.assign(plain, blank)));
console.log(JSON.stringify(plain));
console.log(fs.statSync('.').isDirectory(), fs.statSync('/dev/null').isCharacterDevice(), fs.lstatSync('/proc/self').isSymbolicLink());
console.log(plain.ino === fs.statSync('f').ino || fs.statSync('f').ino > 0, Number(big.ino) === fs.statSync('f').ino);
const fd = fs.openSync('f');
console.log(fs.fstatSync(fd).mtimeMs, fs.fstatSync(fd, { bigint: true }).mtimeMs);
fs.closeSync(fd);
fs.utimesSync('f', 5, 6);
fs.stat('f', (error, stats) => {
    console.log(error, stats.mtimeMs);
    fs.lstat('f', { bigint: true }, (...told) => console.log(told[0], told[1].mtimeMs));
});
