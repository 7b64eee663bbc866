// Errors of node:fs: words and fields, in all three kinds of calls.
'use strict';
const fs = require('node:fs');
const nothing = '/nothing/at/all', other = '/nothing/else', bytes = Buffer.alloc(3), fd = 999999;
const calls = {
    open: [nothing], access: [nothing], stat: [nothing], lstat: [nothing], rename: [nothing, other], link: [nothing, other],
    symlink: [nothing, other], copyFile: [nothing, other], unlink: [nothing], rmdir: [nothing], mkdir: [nothing],
    chmod: [nothing, 0o644], chown: [nothing, 1, 1], lchown: [nothing, 1, 1], utimes: [nothing, 1, 1], lutimes: [nothing, 1, 1],
    readlink: [nothing], realpath: [nothing], readdir: [nothing], rm: [nothing], truncate: [nothing, 1], readFile: [nothing],
    writeFile: [nothing, 'a'], appendFile: [nothing, 'a'], statfs: [nothing], cp: [nothing, other],
    close: [fd], read: [fd, bytes, 0, 3, null], fsync: [fd], fdatasync: [fd], fstat: [fd], ftruncate: [fd, 1],
    fchmod: [fd, 0o644], fchown: [fd, 1, 1], futimes: [fd, 1, 1], readv: [fd, [bytes]],
};
const show = (name, error) => {
    const { stack, ...rest } = error; // eslint-disable-line no-unused-vars
    console.log(name, error instanceof Error, error.message, JSON.stringify(rest), String(error));
};
for (const name of Object.keys(calls)) {
    try {
        fs[`${name}Sync`](...calls[name]);
    } catch (error) {
        show(`${name}Sync`, error);
    }
}
const trap = (name, fn) => {
    try {
        console.log(name, fn());
    } catch (error) {
        show(name, error);
    }
};
trap('folder', () => fs.readFileSync('/'));
trap('folder', () => fs.writeFileSync('/', 'x'));
trap('folder', () => fs.rmSync('/proc'));
trap('file', () => fs.readdirSync('/dev/null'));
trap('full', () => fs.writeFileSync('/dev/full', 'x'));
trap('long', () => fs.statSync(`/tmp/${'x'.repeat(300)}`).size);
trap('native', () => fs.realpathSync.native(nothing));
trap('bytes', () => fs.statSync(Buffer.from('/no\xff', 'latin1')));
(async () => {
    for (const name of Object.keys(calls)) {
        await new Promise((resolve) => {
            fs[name](...calls[name], (error, ...results) => {
                show(name, error);
                console.log(name, results.length > 0 ? results.length : 0);
                resolve();
            });
        });
    }
    for (const name of Object.keys(calls)) {
        if (fs.promises[name])
            await fs.promises[name](...calls[name]).catch((error) => show(`promises.${name}`, error));
    }
    await fs.promises.readFile('/').catch((error) => show('folder', error));
    await fs.promises.open(nothing).catch((error) => show('open', error));
})();
