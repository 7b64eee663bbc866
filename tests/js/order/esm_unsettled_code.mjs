// An exit code that was set wins over 13.
process.exitCode = 3;
process.on('exit', (code) => console.log(`exit ${code} ${process.exitCode}`));
await new Promise(() => {});
