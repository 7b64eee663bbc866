// A rejection in beforeExit that nobody handles.
const log = (text) => console.log(text);
process.on('beforeExit', () => { log('beforeExit'); Promise.reject(new Error('late')); });
process.on('exit', (code) => log(`exit ${code}`));
