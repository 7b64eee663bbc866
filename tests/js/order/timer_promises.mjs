// node:timers/promises.
import { setTimeout as wait, setImmediate as soon, setInterval as every } from 'node:timers/promises';
import timers from 'node:timers';
import { promisify } from 'node:util';
const log = (text) => console.log(text);
log(await wait(1, 'value'));
log(await soon('immediate value'));
let n = 0;
for await (const value of every(1, 'tick')) { log(value); if (++n === 3) break; }
const control = new AbortController();
const waiting = wait(10000, 'never', { signal: control.signal });
control.abort();
await waiting.catch((error) => log(`${error.name} ${error.code}`));
await wait(1, 0, { signal: AbortSignal.abort() }).catch((error) => log(`${error.name} ${error.code}`));
await soon(0, { signal: AbortSignal.abort() }).catch((error) => log(`${error.name} ${error.code}`));
log(timers.setTimeout === setTimeout, timers.promises.setTimeout === wait);
log(await promisify(setTimeout)(1, 'promisified'));
log(await promisify(setImmediate)('promisified too'));
wait(5000, 'never', { ref: false });
process.nextTick(() => log('tick'));
await wait(1);
log('end');
