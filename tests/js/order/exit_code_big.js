// Only eight bits get out.
process.on('exit', (code) => console.log(`exit ${code}`));
process.exit(257 + 41);
