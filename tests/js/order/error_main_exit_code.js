// An exit code that was set before the error.
process.exitCode = 5;
process.on('exit', (code) => console.log(`exit ${code} ${process.exitCode}`));
throw new Error('main');
