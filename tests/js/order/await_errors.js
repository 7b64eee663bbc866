// try, catch and finally around await; return and throw in finally.
const log = (text) => console.log(text);
async function fails(name) { log(`${name} runs`); throw new Error(name); }
async function one() {
    try { return await fails('one'); } catch (error) { log(`caught ${error.message}`); return 'recovered'; } finally {
        log('finally one');
        await null;
        log('after await in finally');
    }
}
async function two() { try { return fails('two'); } catch { log('never'); } finally { log('finally two'); } }
async function three() { try { throw 1; } finally { return 'finally wins'; } }
async function four() { try { return 'lost'; } finally { throw new Error('four'); } }
async function five(a = fails('default')) { await a; }
async function six({ x } = null) { return x; }
const tell = (name, promise) => promise.then((value) => log(`${name} -> ${value}`),
    (error) => log(`${name} x ${error.name}`));
tell('one', one());
tell('two', two());
tell('three', three());
tell('four', four());
tell('five', five());
tell('six', six());
(async () => {
    for (let i = 0; i < 3; i++) {
        try { if (i === 1) continue; await null; log(`loop ${i}`); } finally { await null; log(`finally of loop ${i}`); }
    }
})();
log('end');
