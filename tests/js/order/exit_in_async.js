// process.exit in an async function, among other jobs.
const log = (text) => console.log(text);
process.on('exit', (code) => log(`exit ${code}`));
process.nextTick(() => log('tick'));
(async () => { try { await null; process.exit(2); } catch { log('never'); } finally { log('never'); } })();
Promise.resolve().then(() => log('never'));
(async () => { await null; log('never'); })();
