// Nobody takes what a callback throws.
'use strict';
const fs = require('node:fs');
process.on('exit', (code) => console.log('exit', code));
fs.stat('/', () => {
    setImmediate(() => console.log('never'));
    process.nextTick(() => console.log('never'));
    throw new Error('nobody takes it');
});
