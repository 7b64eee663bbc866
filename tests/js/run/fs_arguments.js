// What node:fs refuses, and how.
'use strict';
const fs = require('node:fs');
const trap = (fn) => {
    try {
        console.log(fn());
    } catch (error) {
        console.log(error.name, error.code, error.message);
    }
};
const none = '/nothing/at/all', fd = fs.openSync(__filename, 'r'), three = Buffer.alloc(3);
for (const path of [undefined, null, 1, {}, 'a\0b', Buffer.from('a\0b'), new URL('http://x/'), new URL('file:///a%2fb'),
    new URL('file://host/a')])
    trap(() => fs.statSync(path));
for (const number of ['x', -1, 1.5, 2 ** 31, null, {}])
    trap(() => fs.fstatSync(number));
for (const flags of ['q', 'rw', {}, 1.5, 2 ** 40])
    trap(() => fs.openSync(none, flags));
for (const flags of ['r', 'rs', 'sr', 'r+', 'rs+', 'sr+', 'w', 'wx', 'xw', 'w+', 'wx+', 'xw+', 'a', 'ax', 'xa', 'as', 'sa', 'a+', 'ax+',
    'xa+', 'as+', 'sa+'])
    trap(() => fs.openSync(none, flags));
for (const mode of ['9', -1, {}, 1.5, 2 ** 40, 'abc'])
    trap(() => fs.openSync(none, 'r', mode));
for (const mode of ['9', -1, undefined, 1.5, 2 ** 40, 'abc'])
    trap(() => fs.chmodSync(none, mode));
trap(() => fs.readFileSync(__filename, 'utf9'));
trap(() => fs.readFileSync(__filename, 5));
trap(() => fs.readFileSync(__filename, { encoding: 'zz' }));
trap(() => fs.readFileSync(__filename, { flag: 'zz' }));
trap(() => fs.readFile(__filename));
trap(() => fs.readFile(__filename, 'utf8'));
trap(() => fs.close(1, 5));
for (const data of [5, {}, undefined, null, true])
    trap(() => fs.writeFileSync('/dev/null', data));
trap(() => fs.readSync(fd, 'x'));
trap(() => fs.readSync(fd, Buffer.alloc(0)));
for (const place of [[4, 1], [0, 4], [-1, 4], [0, 3, -2], [0, 3, 'x'], [0, 3, 2n ** 63n], [0, 3, 2n ** 62n], [0, 3, 2 ** 60], [0, 3, 1.5],
    [0, 3, -1], [1, 2, 5n], [{ offset: 2, length: 1, position: 3 }], [{ offset: 4 }]])
    trap(() => [fs.readSync(fd, three, ...place), three.toString('latin1')]);
trap(() => fs.writeSync(fd, {}));
trap(() => fs.writeSync(fd, three, 4));
trap(() => fs.writeSync(fd, three, 0, 4));
trap(() => fs.writeSync(fd, three, 0, -1));
trap(() => fs.writeSync(fd, 5));
trap(() => fs.writeSync(fd, three));
trap(() => fs.mkdirSync(none, { recursive: 1 }));
trap(() => fs.rmSync(none, { recursive: 1 }));
trap(() => fs.rmSync(none, { maxRetries: -1 }));
trap(() => fs.accessSync('/tmp', 99));
trap(() => fs.accessSync('/tmp', 'x'));
trap(() => fs.truncateSync(__filename, 'x'));
trap(() => fs.ftruncateSync(fd, 1.5));
trap(() => fs.utimesSync(__filename, 'x', 1));
trap(() => fs.utimesSync(__filename, {}, 1));
trap(() => fs.chownSync(__filename, 'x', 1));
trap(() => fs.chownSync(__filename, -2, 1));
trap(() => fs.symlinkSync('a', __filename, 'zz'));
trap(() => fs.symlinkSync(5, __filename));
trap(() => fs.symlinkSync('a', 5));
trap(() => fs.linkSync('a', 5));
trap(() => fs.renameSync('a', 5));
trap(() => fs.renameSync(5, 'a'));
trap(() => fs.copyFileSync('a', 5));
trap(() => fs.copyFileSync('a', 'b', 'c'));
trap(() => fs.copyFileSync('a', 'b', 8));
trap(() => fs.mkdtempSync(5));
trap(() => fs.readdirSync('/', { encoding: 'zz' }));
trap(() => fs.readdirSync('/', { recursive: 5 }));
trap(() => fs.createReadStream('a', { start: 'x' }));
trap(() => fs.createReadStream('a', { start: 5, end: 2 }));
trap(() => fs.createReadStream('a', { fd: 'x' }));
trap(() => fs.createReadStream(5));
trap(() => fs.createReadStream('a', { highWaterMark: -1 }));
trap(() => fs.createWriteStream('a', { start: -1 }));
trap(() => fs.createReadStream('a', 5));
trap(() => fs.createReadStream('a', { encoding: 'zz' }));
trap(() => fs.existsSync(5));
trap(() => fs.exists('a'));
trap(() => fs.watch(none));
trap(() => fs.writevSync(fd, 5));
trap(() => fs.writevSync(fd, [5]));
trap(() => fs.readvSync(fd, [5]));
trap(() => fs.cpSync(__filename));
trap(() => Object.keys(fs.constants).length);
fs.closeSync(fd);
(async () => {
    for (const call of [() => fs.promises.readFile(5), () => fs.promises.stat(), () => fs.promises.open('a', 'zz'),
        () => fs.promises.writeFile('/dev/null', 5), () => fs.promises.mkdir('a', { recursive: 2 }), () => fs.promises.chmod('a'),
        () => fs.promises.readFile('a', { signal: 5 })])
        await call().catch((error) => console.log(error.name, error.code, error.message));
})();
