// process.exit while a top-level await hangs.
process.on('exit', (code) => console.log(`exit ${code}`));
setTimeout(() => process.exit(), 1);
await new Promise(() => {});
