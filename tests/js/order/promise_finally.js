// finally: what it lets through, what it replaces, how long it takes.
const log = (text) => console.log(text);
let chain = Promise.resolve();
for (let i = 1; i < 10; i++)
    chain = chain.then(() => log(`turn ${i}`));
Promise.resolve('v').finally(() => { log('f1'); return 'ignored'; }).then((value) => log(`f1 ${value}`));
Promise.reject('r').finally(() => { log('f2'); return 'ignored'; }).catch((value) => log(`f2 ${value}`));
Promise.resolve('v').finally(() => { log('f3'); throw 'thrown'; }).catch((value) => log(`f3 ${value}`));
Promise.reject('r').finally(() => { log('f4'); throw 'thrown'; }).catch((value) => log(`f4 ${value}`));
Promise.resolve('v').finally(() => Promise.reject('rejected')).catch((value) => log(`f5 ${value}`));
Promise.resolve('v').finally(() => new Promise((resolve) => setTimeout(resolve, 5))).then((value) => log(`f6 ${value}`));
Promise.resolve('v').finally((...args) => log(`f7 ${args.length}`)).then((value) => log(`f7 ${value}`));
Promise.resolve('v').finally(5).then((value) => log(`f8 ${value}`));
Promise.resolve('v').finally({ then(done) { log('never'); done(); } }).then((value) => log(`f9 ${value}`));
Promise.resolve('v').finally(() => ({ then(done) { log('f10 thenable'); done(); } })).then((value) => log(`f10 ${value}`));
const own = { then(a, b) { log(`own then ${typeof a} ${typeof b}`); return 'its answer'; }, constructor: Promise };
log(Promise.prototype.finally.call(own, () => {}));
