// Intervals as async iterators: values, break, abort, slow bodies.
import { setInterval as every, setTimeout as wait, scheduler } from 'node:timers/promises';
const log = (text) => console.log(text);
let n = 0;
for await (const value of every(2, 'v')) { log(`${value} ${++n}`); if (n === 2) break; }
const control = new AbortController();
try {
    for await (const value of every(2, 'w', { signal: control.signal })) { log(value); control.abort(); }
} catch (error) { log(`${error.name} ${error.code}`); }
const iterator = every(2, 'x');
log(JSON.stringify(await iterator.next()));
log(JSON.stringify(await iterator.return('r')));
log(JSON.stringify(await iterator.next()));
await scheduler.wait(2);
log('waited');
await scheduler.yield();
log('yielded');
for (const bad of [[1, 0, 5], [1, 0, { signal: 5 }], [1, 0, { ref: 5 }]])
    await wait(...bad).catch((error) => log(error.code));
const slow = [];
for await (const value of every(10, 'y')) {
    slow.push(value);
    const until = Date.now() + 35;
    while (Date.now() < until);
    if (slow.length === 3) break;
}
log(slow.length);
