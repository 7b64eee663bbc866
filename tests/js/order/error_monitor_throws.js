// A monitor that throws: exit code 7.
process.on('exit', (code) => console.log(`exit ${code}`));
process.on('uncaughtExceptionMonitor', () => { console.log('monitor'); throw new Error('in the monitor'); });
process.on('uncaughtException', () => console.log('never'));
setTimeout(() => { throw new Error('one'); }, 1);
