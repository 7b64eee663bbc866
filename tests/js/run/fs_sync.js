// node:fs at once: files, folders, links, permissions, times.
'use strict';
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'weft-fs-'));
process.chdir(dir);
process.on('exit', () => fs.rmSync(dir, { recursive: true, force: true }));
const show = (name, fn) => {
    try {
        console.log(name, fn());
    } catch (error) {
        console.log(name, error.name, error.code, error.message.replaceAll(dir, 'DIR'));
    }
};

// ---- Whole files ----
show('write', () => fs.writeFileSync('a', 'hällo\n'));
show('read', () => fs.readFileSync('a'));
show('read utf8', () => JSON.stringify(fs.readFileSync('a', 'utf8')));
for (const encoding of ['latin1', 'hex', 'base64', 'ascii', 'utf16le', 'UTF-8', 'buffer', null])
    show(`read ${encoding}`, () => fs.readFileSync('a', { encoding }));
show('append', () => fs.appendFileSync('a', Buffer.from('more')));
show('append', () => fs.appendFileSync('a', 'ff00', 'hex'));
show('read', () => fs.readFileSync('a').toString('hex'));
show('typed', () => fs.writeFileSync('b', new Uint16Array([1, 2, 0xffff])));
show('typed', () => fs.readFileSync('b'));
show('view', () => fs.writeFileSync('b', new DataView(new Uint8Array([1, 2, 3, 4]).buffer, 1, 2)));
show('view', () => fs.readFileSync('b'));
show('broken', () => fs.writeFileSync('broken', Buffer.from('41e282c328f09f98c0eda080ff42', 'hex')));
show('broken', () => JSON.stringify(fs.readFileSync('broken', 'utf8')));
show('surrogates', () => fs.writeFileSync('b', 'a\ud800b\udc00\ud83d\ude00'));
show('surrogates', () => fs.readFileSync('b').toString('hex'));
show('flag wx', () => fs.writeFileSync('a', 'x', { flag: 'wx' }));
show('flag r+', () => fs.writeFileSync('a', 'HA', { flag: 'r+' }));
show('flag r+', () => fs.readFileSync('a', 'latin1'));
show('flag a+', () => fs.readFileSync('new', { flag: 'a+', encoding: 'utf8' }) === '');
show('mode', () => fs.writeFileSync('secret', '', { mode: 0o600 }));
show('mode', () => (fs.statSync('secret').mode & 0o777).toString(8));
show('empty', () => fs.readFileSync('secret', 'utf8') === '');
show('proc', () => fs.readFileSync('/proc/self/comm', 'utf8').length > 1);
show('null', () => fs.readFileSync('/dev/null', 'utf8') === '');
show('full', () => fs.writeFileSync('/dev/full', 'x'));
show('big', () => {
    const bytes = Buffer.alloc(3 << 20, 'abcdefg');
    fs.writeFileSync('big', bytes);
    return [fs.statSync('big').size, fs.readFileSync('big').equals(bytes), fs.readFileSync('big', 'latin1').length];
});

// ---- Names ----
show('exists', () => [fs.existsSync('a'), fs.existsSync('nothing'), fs.existsSync(''), fs.existsSync()]);
show('access', () => fs.accessSync('a', fs.constants.R_OK | fs.constants.W_OK));
show('access', () => fs.accessSync('nothing'));
show('rename', () => fs.renameSync('a', 'c'));
show('rename', () => fs.renameSync('a', 'c'));
show('copy', () => fs.copyFileSync('c', 'd'));
show('copy', () => fs.readFileSync('d', 'latin1') === fs.readFileSync('c', 'latin1'));
show('copy excl', () => fs.copyFileSync('c', 'd', fs.constants.COPYFILE_EXCL));
show('copy itself', () => fs.copyFileSync('c', 'c'));
show('copy folder', () => fs.copyFileSync('.', 'e'));
show('link', () => fs.linkSync('c', 'hard'));
show('link', () => fs.statSync('hard').nlink);
show('link', () => fs.linkSync('c', 'hard'));
show('symlink', () => fs.symlinkSync('c', 'soft'));
show('readlink', () => fs.readlinkSync('soft'));
show('readlink', () => fs.readlinkSync('soft', 'buffer'));
show('readlink', () => fs.readlinkSync('c'));
show('lstat', () => [fs.lstatSync('soft').isSymbolicLink(), fs.statSync('soft').isSymbolicLink(), fs.statSync('soft').isFile()]);
show('realpath', () => fs.realpathSync('soft') === path.join(fs.realpathSync(dir), 'c'));
show('realpath', () => fs.realpathSync.native('./soft') === fs.realpathSync('soft'));
show('realpath', () => fs.realpathSync('.', 'buffer').equals(Buffer.from(fs.realpathSync('.'))));
show('realpath', () => fs.realpathSync('nothing/at/all'));
show('realpath', () => fs.realpathSync('c/below'));
show('realpath', () => fs.realpathSync.native('nothing'));
fs.symlinkSync('nowhere', 'dangling');
fs.symlinkSync('loop', 'loop');
show('realpath', () => fs.realpathSync('dangling'));
show('realpath', () => fs.realpathSync('loop'));
show('unlink', () => fs.unlinkSync('hard'));
show('unlink', () => fs.unlinkSync('hard'));
show('unlink folder', () => fs.unlinkSync('.'));

// ---- What is said about files ----
show('chmod', () => fs.chmodSync('c', 0o640));
show('chmod', () => fs.chmodSync('c', '600'));
show('chmod', () => (fs.statSync('c').mode & 0o7777).toString(8));
show('utimes', () => fs.utimesSync('c', 1.5, new Date(86400000)));
show('utimes', () => [fs.statSync('c').atimeMs, fs.statSync('c').mtime]);
show('utimes', () => fs.utimesSync('c', '12', 1600000000.123456));
show('utimes', () => [fs.statSync('c').atimeMs, fs.statSync('c', { bigint: true }).mtimeNs]);
show('lutimes', () => fs.lutimesSync('soft', 5, 6));
show('lutimes', () => [fs.lstatSync('soft').mtimeMs, fs.statSync('c').atimeMs]);
show('chown', () => fs.chownSync('c', fs.statSync('c').uid, -1));
show('lchown', () => fs.lchownSync('soft', process.getuid?.() ?? fs.lstatSync('soft').uid, -1));
show('truncate', () => fs.truncateSync('c', 4));
show('truncate', () => fs.readFileSync('c', 'latin1'));
show('truncate', () => fs.truncateSync('c'));
show('truncate', () => fs.truncateSync('c', 3));
show('truncate', () => fs.readFileSync('c'));
show('statfs', () => Object.keys(fs.statfsSync('.')).join());
show('stat none', () => fs.statSync('nothing', { throwIfNoEntry: false }));
show('stat below a file', () => fs.lstatSync('c/x', { throwIfNoEntry: false }));

// ---- Folders ----
show('mkdir', () => fs.mkdirSync('one'));
show('mkdir', () => fs.mkdirSync('one'));
show('mkdir', () => fs.mkdirSync('two/three'));
show('mkdir', () => fs.mkdirSync('two/three/four', { recursive: true }));
show('mkdir', () => fs.mkdirSync('two/three/four', { recursive: true }));
show('mkdir', () => fs.mkdirSync('two/x/../y', { recursive: true, mode: 0o700 }));
show('mkdir', () => fs.mkdirSync('c', { recursive: true }));
show('mkdir', () => fs.mkdirSync('c/d/e', { recursive: true }));
show('mkdir', () => fs.mkdirSync('dangling', { recursive: true }));
show('mkdir', () => (fs.statSync('two/y').mode & 0o777).toString(8));
show('mkdtemp', () => /^tmp-......$/.test(fs.mkdtempSync('tmp-')));
show('mkdtemp', () => fs.mkdtempSync('no/such/'));
show('rmdir', () => fs.rmdirSync('two'));
show('rmdir', () => fs.rmdirSync('one'));
show('rmdir', () => fs.rmdirSync('c'));
show('rm', () => fs.rmSync('two'));
show('rm', () => fs.rmSync('nothing'));
show('rm', () => fs.rmSync('nothing', { force: true }));
show('rm', () => fs.rmSync('two', { recursive: true }));
show('rm', () => fs.rmSync('soft'));
show('rm', () => [fs.existsSync('two'), fs.existsSync('c')]);
show('readdir', () => fs.readdirSync('.').filter((name) => !name.startsWith('tmp-')).join());
show('readdir', () => fs.readdirSync('c'));
show('readdir', () => fs.readdirSync('nothing'));
