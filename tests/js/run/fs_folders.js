// node:fs on folders: readdir in all its shapes, Dirent, opendir, cp.
'use strict';
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'weft-fs-'));
process.chdir(dir);
process.on('exit', () => fs.rmSync(dir, { recursive: true, force: true }));
fs.mkdirSync('d/a/b/c', { recursive: true });
fs.mkdirSync('d/q/r', { recursive: true });
fs.mkdirSync('d/z');
for (const file of ['d/a/f2', 'd/b1', 'd/B2', 'd/q/r/x', 'd/ümlaut', 'd/.hidden'])
    fs.writeFileSync(file, file);
fs.symlinkSync('a', 'd/lnk');
fs.symlinkSync('nope', 'd/dead');
const trap = (name, fn) => {
    try {
        console.log(name, fn());
    } catch (error) {
        console.log(name, error.name, error.code, error.message);
    }
};
const kinds = ['isFile', 'isDirectory', 'isSymbolicLink', 'isFIFO', 'isSocket', 'isBlockDevice', 'isCharacterDevice'];
const brief = (entry) => [entry.parentPath, entry.path, entry.name, ...kinds.filter((kind) => entry[kind]())].join(' ');
trap('names', () => fs.readdirSync('d'));
trap('slash', () => fs.readdirSync('d/', { withFileTypes: true }).map(brief)[0]);
trap('all', () => fs.readdirSync('d', { recursive: true }));
trap('entries', () => fs.readdirSync('d', { withFileTypes: true }).map(brief));
trap('all entries', () => fs.readdirSync('./d', { withFileTypes: true, recursive: true }).map(brief));
trap('buffers', () => fs.readdirSync('d', 'buffer').map((name) => name.toString()));
trap('buffer entries', () => fs.readdirSync('d', { encoding: 'buffer', withFileTypes: true })[0]);
trap('hex', () => fs.readdirSync('d', 'hex'));
trap('entry', () => fs.readdirSync('d', { withFileTypes: true })[0]);
trap('not a folder', () => fs.readdirSync('d/b1', { recursive: true }));
trap('null device', () => brief(fs.readdirSync('/dev', { withFileTypes: true }).find((entry) => entry.name === 'null')));
fs.writeFileSync(Buffer.from('d/z/\xff\xfe', 'latin1'), 'odd');
trap('odd names', () => [fs.readdirSync('d/z'), fs.readdirSync('d/z', 'buffer'), fs.readdirSync('d/z', 'latin1')]);
trap('odd path', () => fs.readFileSync(Buffer.from('d/z/\xff\xfe', 'latin1'), 'utf8'));
trap('url', () => fs.readFileSync(require('node:url').pathToFileURL(path.resolve('d/ümlaut')), 'utf8'));

const folder = fs.opendirSync('d');
console.log(folder.path, folder.constructor.name);
const names = [];
for (let entry; (entry = folder.readSync()) !== null;)
    names.push(entry.name);
console.log(names.sort().join());
folder.closeSync();
trap('closed', () => folder.readSync());
trap('closed', () => folder.closeSync());

// ---- cp ----
const tree = (place) => fs.readdirSync(place, { recursive: true }).sort().join();
trap('cp file', () => fs.cpSync('d/b1', 'new/deep/b1'));
trap('cp file', () => fs.readFileSync('new/deep/b1', 'utf8'));
trap('cp folder', () => fs.cpSync('d', 'copy'));
trap('cp folder', () => fs.cpSync('d/a', 'copy', { recursive: true }));
trap('cp folder', () => tree('copy'));
trap('cp over', () => fs.cpSync('d/b1', 'copy/f2'));
trap('cp over', () => fs.readFileSync('copy/f2', 'utf8'));
trap('cp no force', () => fs.cpSync('d/B2', 'copy/f2', { force: false }));
trap('cp no force', () => fs.readFileSync('copy/f2', 'utf8'));
trap('cp exists', () => fs.cpSync('d/B2', 'copy/f2', { force: false, errorOnExist: true }));
trap('cp itself', () => fs.cpSync('d/b1', 'd/b1'));
trap('cp inside', () => fs.cpSync('d', 'd/a/x', { recursive: true }));
trap('cp folder to file', () => fs.cpSync('d', 'copy/f2', { recursive: true }));
trap('cp file to folder', () => fs.cpSync('d/b1', 'copy'));
trap('cp nothing', () => fs.cpSync('nothing', 'copy'));
trap('cp filter', () => fs.cpSync('d', 'some', { recursive: true, filter: (from) => !/[qz]|lnk/.test(path.basename(from)) }));
trap('cp filter', () => tree('some'));
trap('cp link', () => [fs.readlinkSync('some/dead') === path.resolve('d/nope'), fs.lstatSync('some/dead').isSymbolicLink()]);
trap('cp link', () => fs.cpSync('d/dead', 'verbatim', { verbatimSymlinks: true }));
trap('cp link', () => fs.readlinkSync('verbatim'));
trap('cp dereferenced', () => fs.cpSync('d/lnk', 'real', { recursive: true, dereference: true }));
trap('cp dereferenced', () => tree('real'));
fs.utimesSync('d/b1', 100, 200);
trap('cp times', () => fs.cpSync('d/b1', 'times', { preserveTimestamps: true }));
trap('cp times', () => fs.statSync('times').mtimeMs);
trap('cp wrong', () => fs.cpSync('d', 'e', { recursive: 1 }));
trap('cp wrong', () => fs.cpSync('d', 'e', { filter: 1 }));

const done = (fn) => new Promise((resolve) => {
    fn((error, value) => {
        console.log(error?.message ?? error, value);
        resolve();
    });
});
(async () => {
    await done((callback) => fs.readdir('d', callback));
    await done((callback) => fs.readdir('d', { recursive: true }, callback));
    await done((callback) => fs.readdir('d', { recursive: true, withFileTypes: true },
        (error, list) => callback(error, list.map(brief))));
    await done((callback) => fs.cp('d/a', 'later', { recursive: true }, callback));
    await done((callback) => fs.cp('d', 'later2', callback));
    console.log(tree('later'));
    console.log((await fs.promises.readdir('d', { recursive: true })).map((name) => name.replace(/[^\x20-\x7e]+/g, '?')));
    console.log((await fs.promises.readdir('d', { recursive: true, withFileTypes: true })).map(brief).length);
    await fs.promises.cp('d/q', 'promised', { recursive: true, filter: async (from) => !from.endsWith('x') });
    console.log(tree('promised'));
    await fs.promises.cp('d', 'd/q/x', { recursive: true }).catch((error) => console.log(error.message));
    const found = [];
    for await (const entry of await fs.promises.opendir('d'))
        found.push(entry.name);
    console.log(found.sort().join());
    const later = await fs.promises.opendir('d/q');
    console.log((await later.read()).name, await later.read());
    await later.close();
    await done((callback) => fs.opendir('d/q', (error, opened) => callback(error, opened.path)));
    await done((callback) => fs.opendir('nothing', callback));
})();
