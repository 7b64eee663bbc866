// process.exit(undefined) after a code was set.
process.exitCode = 4;
process.on('exit', (code) => console.log(`exit ${code} ${process.exitCode}`));
process.exit(undefined);
