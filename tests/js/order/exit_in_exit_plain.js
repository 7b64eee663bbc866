// process.exit without a code inside an exit listener keeps the code.
process.on('exit', (code) => { console.log(`exit ${code}`); process.exit(); });
process.exit(8);
