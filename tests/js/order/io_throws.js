// What a callback throws is uncaught; what it has put off comes later, and the others are called.
'use strict';
const fs = require('node:fs');
process.on('uncaughtException', (error, origin) => {
    console.log('uncaught', error.message, origin);
    process.nextTick(() => console.log('tick of the listener'));
});
fs.readFile(__filename, () => {
    process.nextTick(() => console.log('tick'));
    Promise.resolve().then(() => console.log('job'));
    setImmediate(() => {
        console.log('immediate');
        fs.readFile('/nothing/at/all', (error) => {
            console.log(error.message);
            process.nextTick(() => console.log('tick of the second'));
            throw new TypeError('second');
        });
    });
    throw new Error('first');
});
