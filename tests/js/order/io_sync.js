// What is done at once lets nothing else run.
'use strict';
const fs = require('node:fs');
process.nextTick(() => console.log('tick'));
Promise.resolve().then(() => console.log('job'));
setImmediate(() => console.log('immediate'));
console.log(fs.readFileSync(__filename, 'utf8').includes('readFileSync'));
console.log(fs.statSync(__filename).isFile(), fs.existsSync('/nothing'));
const fd = fs.openSync(__filename, 'r');
console.log(fs.readSync(fd, Buffer.alloc(10)));
fs.closeSync(fd);
try {
    fs.readdirSync('/nothing/at/all');
} catch (error) {
    console.log(error.code);
}
console.log('main ends');
