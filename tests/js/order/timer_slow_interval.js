// An interval counts from the end of its callback: a slow one does not catch up, and others get in between.
const log = (text) => console.log(text);
const spin = (ms) => { const until = Date.now() + ms; while (Date.now() < until); };
let n = 0;
const interval = setInterval(() => { log(`interval ${++n}`); spin(100); if (n === 3) clearInterval(interval); }, 50);
setTimeout(() => log('at 130'), 130);
setTimeout(() => log('at 260'), 260);
setTimeout(() => log('at 410'), 410);
