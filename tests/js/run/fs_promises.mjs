// node:fs/promises, and FileHandle.
import fs from 'node:fs/promises';
import { promises, constants } from 'node:fs';
import { mkdtemp, readFile } from 'fs/promises';
import os from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';

console.log(fs === promises, fs.constants === constants, typeof readFile);
const dir = await mkdtemp(path.join(os.tmpdir(), 'weft-fs-'));
process.chdir(dir);
const show = async (name, promise) => {
    try {
        console.log(name, await promise);
    } catch (error) {
        console.log(name, error.name, error.code, error.message);
    }
};
await show('write', fs.writeFile('a', 'text'));
await show('append', fs.appendFile('a', Buffer.from(' and more')));
await show('read', fs.readFile('a'));
await show('read', fs.readFile('a', 'utf8'));
await show('read', fs.readFile('a', { encoding: 'hex' }));
await show('iterable', fs.writeFile('b', ['one', 'two']));
await show('iterable', fs.writeFile('b', (async function* () {
    yield 'three';
    yield Buffer.from('four');
})(), { flag: 'a' }));
await show('stream', fs.writeFile('b', Readable.from(['five', 'six']), { flag: 'a' }));
await show('read', fs.readFile('b', 'utf8'));
await show('iterable', fs.writeFile('b', [1, 2]));
await show('signal', fs.readFile('a', { signal: AbortSignal.abort() }));
await show('signal', fs.writeFile('a', 'x', { signal: AbortSignal.abort('why') }));
await show('wx', fs.writeFile('a', 'x', { flag: 'wx' }));
await show('stat', fs.stat('a').then((stats) => [stats.size, stats.isFile(), stats.mtime instanceof Date]));
await show('stat', fs.stat('a', { bigint: true }).then((stats) => [stats.size, typeof stats.mtimeNs]));
await show('access', fs.access('a'));
await show('copy', fs.copyFile('a', 'c'));
await show('rename', fs.rename('c', 'd'));
await show('link', fs.link('d', 'e'));
await show('symlink', fs.symlink('d', 'f'));
await show('readlink', fs.readlink('f'));
await show('lstat', fs.lstat('f').then((stats) => stats.isSymbolicLink()));
await show('realpath', fs.realpath('f').then((real) => path.basename(real)));
await show('chmod', fs.chmod('d', 0o600));
await show('chown', fs.chown('d', -1, -1));
await show('utimes', fs.utimes('d', 1, 2));
await show('lutimes', fs.lutimes('f', 3, 4));
await show('times', fs.lstat('f').then(async (stats) => [stats.mtimeMs, (await fs.stat('d')).mtimeMs]));
await show('truncate', fs.truncate('d', 2));
await show('read', fs.readFile('e', 'utf8'));
await show('unlink', fs.unlink('e'));
await show('mkdir', fs.mkdir('g/h/i', { recursive: true }));
await show('mkdir', fs.mkdir('g/h/i', { recursive: true }));
await show('mkdir', fs.mkdir('g'));
await show('rmdir', fs.rmdir('g/h/i'));
await show('rm', fs.rm('g'));
await show('rm', fs.rm('g', { recursive: true }));
await show('rm', fs.rm('g', { force: true }));
await show('readdir', fs.readdir('.'));
await show('statfs', fs.statfs('.').then((about) => about.constructor.name));

// ---- FileHandle ----
const handle = await fs.open('h', 'w+');
console.log(handle.constructor.name, typeof handle.fd, handle.fd > 2);
handle.on('close', () => console.log('close event', handle.fd > 0));
await show('write', handle.write('hello'));
await show('write', handle.write(Buffer.from('HELLO'), 1, 3, 1));
await show('write', handle.write(Buffer.from('xy'), { position: 5 }));
await show('write', handle.write('c3', 7, 'hex'));
await show('write', handle.write(''));
await show('writev', handle.writev([Buffer.from('1'), Buffer.from('2')], 8));
await show('read', handle.read(Buffer.alloc(4), 0, 4, 0));
await show('read', handle.read({ buffer: Buffer.alloc(3), position: 1 }));
await show('read', handle.read(Buffer.alloc(4), { offset: 1, length: 2, position: 2 }));
await show('read', handle.read().then(({ bytesRead, buffer }) => [bytesRead, buffer.length]));
await show('readv', handle.readv([Buffer.alloc(2), Buffer.alloc(2)], 0));
await show('stat', handle.stat().then((stats) => stats.size));
await show('truncate', handle.truncate(4));
await show('appendFile', handle.appendFile('!'));
await show('readFile', fs.readFile('h'));
await show('sync', handle.sync());
await show('datasync', handle.datasync());
await show('chmod', handle.chmod(0o644));
await show('chown', handle.chown(-1, -1));
await show('utimes', handle.utimes(5, 6));
await show('stat', handle.stat({ bigint: true }).then((stats) => stats.mtimeMs));
await show('bad', handle.read('x'));
await show('bad', handle.read(Buffer.alloc(2), 0, 5));
await show('bad', handle.truncate('x'));
const reading = handle.read(Buffer.alloc(2), 0, 2, 0);
await show('close', handle.close());
await show('reading', reading.then(({ bytesRead }) => bytesRead));
await show('close again', handle.close());
await show('closed', handle.read(Buffer.alloc(2)));
await show('closed', handle.stat());
await show('closed', handle.readFile());

const other = await fs.open('a');
await show('readFile', other.readFile('utf8'));
await show('readFile again', other.readFile('utf8'));
await show('by handle', fs.readFile(other, 'latin1'));
await show('not for writing', other.write('x'));
await other[Symbol.asyncDispose]();
console.log(other.fd);
const lines = await fs.open('lines', 'w+');
await show('by handle', fs.writeFile(lines, 'one\ntwo\r\nthree'));
await show('by handle', fs.appendFile(lines, '\n\nfour'));
await lines.close();
const web = await fs.open('lines');
const pieces = [];
for await (const piece of web.readableWebStream())
    pieces.push(Buffer.from(piece).toString());
console.log(pieces);
await web.close();
await fs.rm(dir, { recursive: true });
