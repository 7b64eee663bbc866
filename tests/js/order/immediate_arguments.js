// Immediates: arguments, this, what clear does during the batch, nested ones.
const log = (text) => console.log(text);
setImmediate(function (...args) { log(`${args} ${this === globalThis || this.constructor.name}`); }, 1, 2, 3);
const a = setImmediate(() => { log('a'); clearImmediate(a); clearImmediate(b); });
const b = setImmediate(() => log('never b'));
setImmediate(() => {
    log('c');
    setImmediate(() => log('nested c'));
    clearImmediate(setImmediate(() => log('never nested')));
});
setImmediate(async () => { log('d'); await null; log('d goes on'); setImmediate(() => log('nested d')); });
setImmediate(() => log('e'));
log(a.constructor.name, a.hasRef());
