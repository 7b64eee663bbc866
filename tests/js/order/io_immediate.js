// In a callback of the poll phase: immediates come before timers, whatever else is begun.
'use strict';
const fs = require('node:fs');
const log = [];
fs.readFile(__filename, () => {
    log.push('read');
    setTimeout(() => log.push('timeout'), 0);
    setImmediate(() => {
        log.push('immediate');
        setTimeout(() => log.push('timeout of immediate'), 0);
        setImmediate(() => log.push('immediate of immediate'));
        process.nextTick(() => log.push('tick of immediate'));
    });
    setImmediate(() => log.push('second immediate'));
    process.nextTick(() => log.push('tick'));
    Promise.resolve().then(() => log.push('job'));
});
process.on('exit', () => {
    // Timers may be due before or after the second round of immediates.
    console.log(log.filter((entry) => !/^timeout/.test(entry)).join(', '));
    console.log(log.indexOf('immediate') < log.indexOf('timeout'), log.indexOf('timeout') < log.indexOf('timeout of immediate'));
});
