// uncaughtExceptionMonitor sees it first, and does not save anybody.
const log = (text) => console.log(text);
process.on('exit', (code) => log(`exit ${code}`));
process.on('uncaughtExceptionMonitor', (error, origin) => log(`monitor ${error.message} ${origin}`));
let n = 0;
function handler(error, origin) {
    log(`handler ${error.message} ${origin}`);
    if (++n === 2) { process.off('uncaughtException', handler); log('off'); }
}
process.on('uncaughtException', handler);
setTimeout(() => { throw new Error('one'); }, 1);
setTimeout(() => { Promise.reject(new Error('two')); }, 30);
setTimeout(() => { throw new Error('three'); }, 60);
setTimeout(() => log('never'), 90);
