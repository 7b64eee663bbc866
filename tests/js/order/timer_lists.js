// Timers of one delay are a list: those that are due run together, before a list that was due later.
const log = (text) => console.log(text);
const spin = (ms) => { const until = Date.now() + ms; while (Date.now() < until); };
setTimeout(() => log('1 a'), 1);
setTimeout(() => log('9 a'), 9);
spin(5);
setTimeout(() => log('1 b'), 1);
spin(30);
setTimeout(() => log('1 c'), 1);
setTimeout(() => log('9 b'), 9);
setTimeout(() => log('5 a'), 5);
spin(30);
