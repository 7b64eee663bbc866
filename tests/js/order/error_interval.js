// An interval that throws goes on.
const log = (text) => console.log(text);
process.on('uncaughtException', (error) => log(`uncaught ${error.message}`));
let n = 0;
const interval = setInterval(() => { if (++n === 4) clearInterval(interval); log(`n ${n}`); throw new Error(`${n}`); }, 2);
