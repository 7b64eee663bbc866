// Ticks and jobs of a callback come before the next callback, ticks first.
'use strict';
const fs = require('node:fs');
fs.stat(__filename, (error, stats) => {
    console.log('stat', error, stats.isFile());
    queueMicrotask(() => {
        console.log('job 1');
        process.nextTick(() => console.log('tick of job 1'));
        queueMicrotask(() => console.log('job of job 1'));
    });
    process.nextTick(() => {
        console.log('tick 1');
        Promise.resolve().then(() => console.log('job of tick 1'));
        process.nextTick(() => console.log('tick of tick 1'));
    });
    (async () => {
        console.log('async begins');
        await null;
        console.log('async goes on');
        await null;
        console.log('async ends');
    })();
    process.nextTick(() => console.log('tick 2'));
    setImmediate(() => console.log('immediate'));
    console.log('stat ends');
});
console.log('main ends');
