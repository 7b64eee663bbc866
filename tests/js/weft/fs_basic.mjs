// weft:fs: every function, as a promise and on a fiber.
import { go } from 'weft:go';
import fs, { mkdtemp, rm } from 'weft:fs';

console.log(Object.keys(fs).join());
const show = (name, value) => console.log(name, value);

// What is done here is done once with await and once by a fiber: then await does nothing.
async function* steps() {
    show('write', yield () => fs.writeFile('a', 'text ä'));
    show('read', yield () => fs.readFile('a'));
    show('text', yield () => fs.readText('a'));
    show('append', yield () => fs.appendFile('a', new Uint8Array([33, 34])));
    show('text', yield () => fs.readText('a'));
    show('buffer', yield () => fs.writeFile('a', new Uint8Array([65, 66]).buffer));
    show('list', yield () => fs.writeFile('a', ['C', new Uint8Array([68])], { append: true, sync: true }));
    show('later', yield () => fs.writeFile('a', (async function* () {
        yield 'E';
        yield 'F';
    })(), { append: true }));
    show('blob', yield () => fs.appendFile('a', new Blob(['G', 'H'])));
    show('stream', yield () => fs.appendFile('a', new Response('IJ').body));
    show('text', yield () => fs.readText('a'));
    show('atomic', yield () => fs.writeFile('a', 'replaced', { atomic: true }));
    show('text', yield () => fs.readText('a'));
    const stats = yield () => fs.stat('a');
    show('stat', [stats.isFile(), stats.size, stats.mtime instanceof Date, (yield () => fs.stat('a', { bigint: true })).size]);
    show('exists', [yield () => fs.exists('a'), yield () => fs.exists('nothing')]);
    show('access', yield () => fs.access('a', 'rw'));
    show('chmod', yield () => fs.chmod('a', 0o600));
    show('chown', yield () => fs.chown('a', -1, -1));
    show('utimes', yield () => fs.utimes('a', 1, new Date(2000)));
    show('times', [(yield () => fs.stat('a')).atimeMs, (yield () => fs.stat('a')).mtimeMs, ((yield () => fs.stat('a')).mode & 0o777)]);
    show('truncate', yield () => fs.truncate('a', 3));
    show('copy', yield () => fs.copyFile('a', 'b'));
    show('rename', yield () => fs.rename('b', 'c'));
    show('link', yield () => fs.link('c', 'd'));
    show('symlink', yield () => fs.symlink('c', 'e'));
    show('readlink', yield () => fs.readlink('e'));
    show('lstat', (yield () => fs.lstat('e')).isSymbolicLink());
    show('realpath', (yield () => fs.realpath('e')).endsWith('/c'));
    show('mkdir', yield () => fs.mkdir('f'));
    show('mkdir', yield () => fs.mkdir('f/g/h', { recursive: true }));
    show('mkdir', yield () => fs.mkdir('f/g/h', { recursive: true, mode: 0o700 }));
    show('names', yield () => fs.readdir('.'));
    show('all names', yield () => fs.readdir('.', { recursive: true }));
    show('entries', (yield () => fs.readdir('.', { entries: true })).map((entry) => `${entry.name} ${entry.isDirectory()}`));
    show('all entries', (yield () => fs.readdir('f', { entries: true, recursive: true })).map((entry) => `${entry.parentPath}|${entry.name}`));
    show('mkdtemp', (yield () => fs.mkdtemp('t-')).length);
    show('statfs', (yield () => fs.statfs('.')).bsize > 0);
    show('rm', yield () => fs.rm('f', { recursive: true }));
    show('rm', yield () => fs.rm('nothing', { force: true }));
    const file = yield () => fs.open('new', 'wx+');
    show('file', [file instanceof fs.File, file.closed, file.number > 2, yield () => file.write('abc'), yield () => file.close()]);
    show('close', [file.closed, yield () => file.close()]);
}

async function inFolder(body) {
    const folder = await mkdtemp();
    const before = process.cwd();
    process.chdir(folder);
    await body();
    process.chdir(before);
    await rm(folder, { recursive: true });
}

const printed = [[], []];
const { log } = console;
await inFolder(async () => {
    console.log = (...values) => printed[0].push(values);
    const running = steps();
    for (let step = await running.next(); !step.done;) {
        const promise = step.value();
        if (!(promise instanceof Promise))
            throw new Error('not a promise');
        step = await running.next(await promise);
    }
    console.log = log;
});
await inFolder(async () => {
    console.log = (...values) => printed[1].push(values);
    const running = steps();
    for (let step = await running.next(); !step.done;) {
        const value = await go(() => {
            const result = step.value();
            if (result instanceof Promise)
                throw new Error('a promise on a fiber');
            return result;
        });
        step = await running.next(value);
    }
    console.log = log;
});
for (const values of printed[0])
    console.log(...values);
const inspect = (await import('node:util')).inspect;
console.log('the same on fibers', inspect(printed[0]) === inspect(printed[1]));
