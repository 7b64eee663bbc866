// The main module throws after an await, nobody listens.
process.on('exit', (code) => console.log(`exit ${code}`));
setTimeout(() => console.log('never'), 50);
await null;
console.log('after await');
throw new Error('module');
