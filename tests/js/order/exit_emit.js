// Emitting exit by hand does nothing but call the listeners.
const log = (text) => console.log(text);
process.on('exit', (code) => log(`exit ${code}`));
process.emit('exit', 77);
log(process.emit('beforeExit', 0), process.listenerCount('exit'));
setTimeout(() => log('timer'), 1);
