// Intervals: arguments, this, clearing from inside and from a job, async callbacks.
const log = (text) => console.log(text);
let n = 0;
const first = setInterval(function (a, b) {
    log(`${++n} ${a}${b} ${this === first}`);
    if (n === 3) { clearInterval(this); log('cleared'); second(); }
}, 2, 'x', 'y');
function second() {
    let m = 0;
    const t = setInterval(() => {
        log(`second ${++m}`);
        queueMicrotask(() => { if (m === 2) { clearInterval(t); third(); } });
    }, 3);
}
function third() {
    let k = 0;
    const t = setInterval(async () => {
        const mine = ++k;
        await null;
        log(`third ${mine}`);
        if (mine === 2) { clearInterval(t); log('end'); }
    }, 1);
}
