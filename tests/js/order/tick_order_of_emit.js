// Once the loop runs: ticks and jobs of timers, immediates, and what they beget, over several rounds.
const seen = [];
const note = (text) => seen.push(text);
let rounds = 0;
function round() {
    const r = ++rounds;
    note(`R${r}`);
    process.nextTick(() => {
        note(`t${r}`);
        Promise.resolve().then(() => { note(`j${r}`); process.nextTick(() => note(`tt${r}`)); });
    });
    queueMicrotask(() => { note(`m${r}`); queueMicrotask(() => note(`mm${r}`)); });
    if (r < 4) setImmediate(round); else setTimeout(() => console.log(seen.join(' ')), 1);
}
setTimeout(round, 1);
