// Unreferenced work in beforeExit does not bring it back.
const log = (text) => console.log(text);
process.on('beforeExit', () => {
    log('beforeExit');
    setTimeout(() => log('never'), 1e6).unref();
    const cleared = setTimeout(() => log('never'), 1);
    clearTimeout(cleared);
});
process.on('exit', () => log('exit'));
