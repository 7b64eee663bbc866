// process.exit does not come back: no finally, no catch, no rest of the call chain.
const log = (text) => console.log(text);
process.on('exit', (code) => log(`exit ${code}`));
function leave() { try { process.exit(3); log('never'); } catch { log('never'); } finally { log('never'); } }
try { [1, 2].forEach(() => leave()); } catch { log('never'); } finally { log('never'); }
log('never');
