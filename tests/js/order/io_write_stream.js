// Callbacks and events of a WriteStream.
'use strict';
const fs = require('node:fs');
const stream = fs.createWriteStream('/dev/null');
const note = (text) => console.log(text);
for (const event of ['open', 'ready', 'finish', 'close', 'drain', 'prefinish']) {
    stream.on(event, () => {
        note(event);
        process.nextTick(() => note(`tick of ${event}`));
    });
}
stream.write('a', () => {
    note('a is written');
    process.nextTick(() => note('tick of a'));
    Promise.resolve().then(() => note('job of a'));
});
stream.write('b', () => note('b is written'));
stream.end('c', () => note('all is written'));
note(`main ends ${stream.writableLength}`);
