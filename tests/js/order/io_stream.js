// Events of a ReadStream between ticks and immediates.
'use strict';
const fs = require('node:fs');
const stream = fs.createReadStream(__filename, { highWaterMark: 1 << 20 });
const note = (text) => console.log(text);
for (const event of ['open', 'ready', 'end', 'close', 'resume']) {
    stream.on(event, () => {
        note(event);
        process.nextTick(() => note(`tick of ${event}`));
        Promise.resolve().then(() => note(`job of ${event}`));
    });
}
stream.on('data', (chunk) => {
    note(`data ${chunk.length > 100}`);
    process.nextTick(() => note('tick of data'));
    Promise.resolve().then(() => note('job of data'));
});
note('main ends');
