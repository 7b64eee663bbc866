// Thousands of each, counted.
const seen = [];
const note = (kind) => { if (seen.at(-1)?.[0] === kind) seen.at(-1)[1]++; else seen.push([kind, 1]); };
for (let i = 0; i < 3000; i++) {
    setImmediate(() => note('immediate'));
    queueMicrotask(() => note('job'));
    process.nextTick(() => note('tick'));
}
let left = 20000;
(async () => { while (left-- > 0) await null; note('loop of awaits'); })();
process.on('exit', () => console.log(JSON.stringify(seen)));
