// Callbacks in callbacks, each with an immediate that comes before the next one.
'use strict';
const fs = require('node:fs');
let left = 4;
function again(error) {
    console.log('called', left, error);
    if (--left === 0)
        return;
    process.nextTick(() => console.log('tick', left));
    setImmediate(() => {
        console.log('immediate', left);
        Promise.resolve().then(() => console.log('job of immediate', left));
    });
    Promise.resolve().then(() => {
        console.log('job', left);
        setImmediate(() => fs.access(__filename, again));
    });
}
fs.access(__filename, again);
