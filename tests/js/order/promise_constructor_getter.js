// Who reads constructor and then of a promise, and when.
const log = (text) => console.log(text);
function watched(name, settle = Promise.resolve(name)) {
    const then = settle.then;
    Object.defineProperty(settle, 'constructor', { get() { log(`${name}.constructor`); return Promise; } });
    Object.defineProperty(settle, 'then', { get() { log(`${name}.then`); return then; } });
    return settle;
}
log('Promise.resolve'); Promise.resolve(watched('a'));
log('resolve function'); new Promise((resolve) => resolve(watched('b')));
log('await'); (async () => { log(`got ${await watched('c')}`); })();
log('return in async'); (async () => watched('d'))();
log('then'); watched('e').then(() => {});
log('catch'); watched('f').catch(() => {});
log('finally'); watched('g').finally(() => {});
log('all'); Promise.all([watched('h')]);
log('race'); Promise.race([watched('i')]);
log('yield'); (async function* () { yield watched('j'); })().next();
log('for await'); (async () => { for await (const value of [watched('k')]) log(`got ${value}`); })();
log('return in async generator'); (async function* () { return watched('l'); })().next();
log('generator return()'); (async function* () {})().return(watched('m'));
log('end');
