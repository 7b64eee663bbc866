// Dynamic imports: once each, the same namespace, errors every time, never before the code after them.
const log = (text) => console.log(text);
const first = import('./parts/dynamic.mjs');
const second = import('./parts/dynamic.mjs');
log('after import');
const [x, y] = await Promise.all([first, second]);
log(x === y, x.value, first === second);
for (let i = 0; i < 2; i++)
    await import('./parts/dynamic_throws.mjs')
        .catch((error) => log(`caught ${error.message} ${error === globalThis.thrown}`));
await import('./parts/missing.mjs').catch((error) => log(error.code));
await import('./parts/syntax.mjs').catch((error) => log(error.name));
const text = { toString() { log('toString'); return './parts/dynamic.mjs'; } };
log((await import(text)) === x);
await import({ toString() { throw new Error('toString'); } }).catch((error) => log(`caught ${error.message}`));
await import('./parts/dynamic.mjs?again').then((z) => log(z === x, z.value));
log((await import('./parts/common.js')).default.kind);
const thenable = await import('./parts/thenable.mjs');
log(thenable);
