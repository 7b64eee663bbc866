// Things that are no errors can be thrown too.
const log = (text) => console.log(text);
process.on('uncaughtException', (error, origin) => log(`uncaught ${typeof error} ${String(error)} ${origin}`));
const values = [undefined, null, 0, 'text', false, 10n, Symbol('s')];
for (const value of values)
    setImmediate(() => { throw value; });
setImmediate(() => log('end'));
