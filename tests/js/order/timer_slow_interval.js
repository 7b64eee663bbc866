// An interval counts from the beginning of its callback: after a slow one the next comes before a timer set at its end, and
// only that one.
const log = (text) => console.log(text);
const spin = (ms) => { const until = Date.now() + ms; while (Date.now() < until); };
let n = 0;
const interval = setInterval(() => {
    const name = `interval ${++n}`;
    log(name);
    spin(60);
    setTimeout(() => log(`set by ${name}`), 1);
    if (n === 3) clearInterval(interval);
}, 50);
