// beforeExit may settle what the module waits for.
const log = (text) => console.log(text);
let settle, n = 0;
process.on('beforeExit', () => { log(`beforeExit ${++n}`); settle?.('settled'); settle = undefined; });
process.on('exit', (code) => log(`exit ${code}`));
log(await new Promise((resolve) => { settle = resolve; }));
process.nextTick(() => log('tick'));
