// What goes wrong in weft:fs: errors of the system, wrong arguments, broken texts, no more descriptors.
import { go } from 'weft:go';
import * as fs from 'weft:fs';

const folder = await fs.mkdtemp();
process.chdir(folder);
const brief = (error) => `${error.name} ${error.code} ${error.message.replaceAll(folder, 'FOLDER')}`;
const fails = async (name, fn) => {
    try {
        console.log(name, await fn());
    } catch (error) {
        console.log(name, brief(error));
    }
};
await fails('ENOENT', () => fs.readFile('nothing'));
await fails('ENOENT', () => fs.open('no/such/file', 'w'));
await fails('EISDIR', () => fs.readText('.'));
await fails('EISDIR', () => fs.writeFile('.', 'x'));
await fails('EISDIR', () => fs.rm('.'));
await fails('EISDIR', () => fs.writeFile('/proc', 'x', { atomic: true }));
await fails('ENOSPC', () => fs.writeFile('/dev/full', 'x'));
await fails('ENOSPC', async () => (await fs.open('/dev/full', 'w')).write('x'));
await fails('EEXIST', () => fs.mkdir('/tmp'));
await fails('ENOTDIR', () => fs.readdir('/dev/null'));
await fails('ENAMETOOLONG', () => fs.stat('x'.repeat(300)).catch((error) => console.log(error.code)));
await fails('EXDEV or EROFS', () => fs.rename('/proc/self/comm', 'comm').catch((error) => ['EXDEV', 'EROFS', 'EPERM', 'EACCES'].includes(error.code)));
await fails('EINVAL', () => fs.readlink('.'));
await fails('exclusive', async () => {
    await fs.writeFile('a', 'x');
    return fs.writeFile('a', 'y', { exclusive: true });
});
await fails('exclusive copy', () => fs.copyFile('a', 'a', { exclusive: true }));
await fails('access', () => fs.access('nothing', 'r'));

// The same on a fiber: they are thrown.
await go(() => {
    try {
        fs.readFile('nothing');
    } catch (error) {
        console.log('thrown', brief(error));
    }
});

// ---- Wrong arguments are thrown at once ----
const throws = (fn) => {
    try {
        console.log('not thrown', fn());
    } catch (error) {
        console.log(error.name, error.message);
    }
};
throws(() => fs.readFile());
throws(() => fs.readFile('a\0b'));
throws(() => fs.open('a', 'q'));
throws(() => fs.open('a', 'r', { mode: 'x' }));
throws(() => fs.writeFile('a', 5));
throws(() => fs.writeFile('a', ['x'], { atomic: true }));
throws(() => fs.writeFile('a', 'x', { atomic: true, append: true }));
throws(() => fs.access('a', 'q'));
throws(() => fs.truncate('a', -1));
throws(() => fs.truncate('a', 1.5));
throws(() => fs.readFile('a', { signal: 5 }));
throws(() => new fs.File());
throws(() => fs.watch('nothing'));
const file = await fs.open('a', 'r+');
throws(() => file.read(0));
throws(() => file.read(1.5));
throws(() => file.read({ position: -1 }));
throws(() => file.pread(1, 2n ** 63n));
throws(() => file.pread(1, 'x'));
throws(() => file.readInto([1, 2]));
throws(() => file.write(5));
throws(() => file.seek('x'));
throws(() => file.seek(1, 'middle'));
await fails('seek', () => file.seek(-5));
await fails('huge', () => file.pread(10, 2n ** 62n));
await fails('huge', () => file.truncate(2n ** 62n).catch((error) => ['EFBIG', 'EINVAL'].includes(error.code)));
await fails('much', async () => (await file.read(2 ** 50)).length);
await file.close();
await fails('closed', () => file.read());
await fails('closed', () => file.write('x'));
await fails('closed', () => file.stat());
await fails('closed', () => file.seek(0));
const reader = await fs.open('a');
await fails('not for writing', () => reader.write('x'));
await reader.close();

// ---- Broken texts ----
await fs.writeFile('broken', new Uint8Array([0x41, 0xe2, 0x82, 0xc3, 0x28, 0xf0, 0x9f, 0x98, 0xff, 0x42, 0xe2]));
console.log(JSON.stringify(await fs.readText('broken')));
await fs.writeFile('broken', 'a\ud800b');
console.log(await fs.readFile('broken'));

// ---- No more descriptors ----
const many = [];
let failure;
for (let i = 0; i < 100000 && !failure; i++)
    await fs.open('a').then((opened) => many.push(opened), (error) => { failure = error; });
console.log(many.length > 50, brief(failure));
await fails('EMFILE', () => fs.readFile('a'));
for (const opened of many)
    await opened.close();
console.log(await fs.readText('a'));
await fs.rm(folder, { recursive: true });
