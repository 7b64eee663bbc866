// process.exit in a callback: what was begun is never told.
'use strict';
const fs = require('node:fs');
process.on('exit', (code) => {
    console.log('exit', code);
    fs.readFile(__filename, () => console.log('never'));
    console.log(fs.readFileSync(__filename, 'utf8').length > 10);
});
fs.stat(__filename, () => {
    fs.readFile(__filename, () => console.log('never'));
    fs.promises.readFile(__filename).then(() => console.log('never'));
    process.nextTick(() => console.log('never'));
    process.exit(3);
});
