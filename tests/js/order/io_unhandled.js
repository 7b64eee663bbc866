// A rejection in a callback is told after its ticks and jobs, before the immediates.
'use strict';
const fs = require('node:fs');
process.on('unhandledRejection', (error) => {
    console.log('unhandled', error.code ?? error.message);
    process.nextTick(() => console.log('tick of the listener'));
});
fs.stat(__filename, () => {
    setImmediate(() => {
        console.log('immediate');
        fs.promises.readFile('/nothing/at/all');
    });
    Promise.reject(new Error('in the callback'));
    process.nextTick(() => console.log('tick'));
    Promise.resolve().then(() => console.log('job'));
    console.log('callback ends');
});
