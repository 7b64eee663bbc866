// Promises of files: their jobs, ticks inside, and what comes between two of them.
import fs from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

const file = fileURLToPath(import.meta.url);
const log = (text) => console.log(text);
await fs.stat(file);
log('awaited');
process.nextTick(() => log('tick'));
Promise.resolve().then(() => log('job'));
await null;
log('after null');
const first = fs.readFile(file, 'utf8').then((text) => {
    log(`read ${text.length > 100}`);
    process.nextTick(() => log('tick of read'));
    setImmediate(() => log('immediate of read'));
    return Promise.resolve().then(() => log('job of read'));
});
await first;
log('read is over');
await new Promise((resolve) => { setImmediate(resolve); });
await fs.readFile('/nothing/at/all').catch((error) => {
    log(error.code);
    process.nextTick(() => log('tick of catch'));
    queueMicrotask(() => log('job of catch'));
});
log('caught');
const handle = await fs.open(file);
process.nextTick(() => log('tick before close'));
await handle.close();
log('closed');
