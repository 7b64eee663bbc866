// A file that is read keeps the process alive, also from beforeExit.
'use strict';
const fs = require('node:fs');
let times = 0;
process.on('beforeExit', (code) => {
    console.log('beforeExit', code, times);
    if (times++ < 2)
        fs.readFile(__filename, (error, bytes) => console.log('read', error, bytes.length > 100));
});
process.on('exit', (code) => console.log('exit', code));
fs.readFile('/nothing/at/all', (error) => console.log(error.code));
