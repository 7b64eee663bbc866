// node:os, node:tty and node:fs: what does not depend on the machine.
'use strict';
const os = require('node:os');
const tty = require('tty');
const fs = require('node:fs');
const path = require('node:path');
console.log(JSON.stringify(os.EOL), os.devNull, os.platform(), os.type(), os.endianness(), os.constants.signals.SIGTERM, os.constants.signals.SIGKILL);
console.log(os.cpus().length === os.availableParallelism(), os.totalmem() > os.freemem(), os.uptime() > 0, os.loadavg().length, os.hostname().length > 0);
console.log(os.release() === fs.readFileSync('/proc/sys/kernel/osrelease', 'utf8').trim(), os.arch() === process.arch, os.userInfo().uid >= 0);
console.log(Object.keys(os.cpus()[0]).join(), Object.keys(os.userInfo()).join(), os.homedir() === (process.env.HOME ?? os.homedir()));
process.env.TMPDIR = '/somewhere/';
console.log(os.tmpdir());
console.log(tty.isatty(999), tty.isatty(-1), tty.isatty('1'), tty.isatty());
const own = fs.readFileSync(__filename);
console.log(Buffer.isBuffer(own), own.toString().startsWith('// node:os'), fs.readFileSync(__filename, 'latin1').length === own.length, fs.readFileSync(__filename, { encoding: 'hex' }).slice(0, 4));
console.log(fs.existsSync(__filename), fs.existsSync('/no/such'), fs.existsSync(__dirname), fs.existsSync(5), fs.existsSync());
console.log(fs.statSync(__filename).isFile(), fs.statSync(__dirname).isDirectory(), fs.statSync('/no', { throwIfNoEntry: false }));
console.log(fs.realpathSync(path.join(__dirname, '..', path.basename(__dirname))) === fs.realpathSync(__dirname), fs.readFileSync(new URL(`file://${__filename}`)).equals(own));
for (const fn of [() => fs.readFileSync('/no/such'), () => fs.readFileSync(__dirname), () => fs.statSync('/no'), () => fs.realpathSync('/no'), () => fs.readFileSync({})]) {
    try {
        fn();
    } catch (error) {
        console.log(error.name, error.code, error.errno, error.syscall, error.path, error.message.replace(__dirname, '.'));
    }
}
