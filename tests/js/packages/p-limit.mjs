// SPDX-License-Identifier: MIT
// p-limit: so many at a time (it uses node:async_hooks or private fields, depending on the version).
import pLimit from 'p-limit';

const limit = pLimit(2);
let running = 0, most = 0;
const work = (n) => limit(async (value) => {
    most = Math.max(most, ++running);
    await new Promise((resolve) => setTimeout(resolve, 1));
    running--;
    if (value === 3)
        throw new Error('three');
    return value * 10;
}, n);
const results = await Promise.allSettled([1, 2, 3, 4, 5].map(work));
console.log(JSON.stringify(results.map((result) => result.value ?? result.reason.message)), most, limit.activeCount, limit.pendingCount);
const waiting = [work(6), work(7), work(8)];
console.log(limit.activeCount, limit.pendingCount);
await Promise.all(waiting);
console.log((await limit.map([1, 2], async (n) => n + 1)).join());
try {
    pLimit(0);
} catch (error) {
    console.log(error.name, error.message);
}
