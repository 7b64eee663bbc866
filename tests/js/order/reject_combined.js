// Which promises of a combination are unhandled.
const log = (text) => console.log(text);
process.on('unhandledRejection', (reason) => log(`unhandled ${reason instanceof Error ? reason.name : reason}`));
Promise.all([Promise.reject('all 1'), Promise.reject('all 2')]);
Promise.allSettled([Promise.reject('settled')]);
Promise.race([Promise.reject('race 1'), Promise.reject('race 2')]);
Promise.any([Promise.reject('any')]);
new Promise((_, reject) => setImmediate(() => setTimeout(reject, 1, 'from a timer')));
new Promise((resolve) => resolve(Promise.reject('adopted')));
Promise.resolve().then(() => { throw 'from then'; }).finally(() => log('finally'));
(async () => {
    const p = Promise.reject('awaited late');
    await null;
    try { await p; } catch (error) { log(`caught ${error}`); }
})();
(async () => {
    const p = Promise.reject('awaited much later');
    await new Promise((resolve) => setImmediate(resolve));
    try { await p; } catch (error) { log(`caught ${error}`); }
})();
(async function* () { throw 'generator'; })().next();
