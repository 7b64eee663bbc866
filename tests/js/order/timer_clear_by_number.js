// Timers turn into numbers, and can be cleared by them; each clear function clears both kinds.
const log = (text) => console.log(text);
const a = setTimeout(() => log('never a'), 1);
const number = +a;
log(typeof number, number === +a);
clearTimeout(number);
const b = setTimeout(() => log('never b'), 1);
clearTimeout(`${b}`);
const c = setInterval(() => log('never c'), 1);
clearTimeout(c);
const d = setTimeout(() => log('never d'), 1);
clearInterval(d);
const e = setTimeout(() => log('never e'), 1);
e.close();
const f = setTimeout(() => log('never f'), 1);
f[Symbol.dispose]();
const g = setImmediate(() => log('never g'));
g[Symbol.dispose]();
setTimeout(() => log('end'), 5);
