// SPDX-License-Identifier: MIT
// require() made by createRequire: files, folders, packages, JSON, ES modules; and "exports" and "imports" of packages.
import { createRequire } from 'node:module';
import * as inner from './parts/folder/inner.mjs';

const here = import.meta.dirname;
const clean = (text) => `${text}`.replaceAll(here, 'HERE').replace(/ To see where.*/, '');
async function attempt(label, fn) {
    try {
        const value = await fn();
        console.log(label, '=>', typeof value === 'string' ? clean(value) : value);
    } catch (error) {
        const text = error instanceof SyntaxError ? '' : clean(error.message);
        console.log(label, '!!', error?.name, error?.code, text, error.requireStack?.map(clean) ?? '');
    }
}
for (const from of [undefined, './x', 'http://x', 5, null, {}])
    await attempt(`createRequire ${from}`, () => typeof createRequire(from));
await attempt('from a URL', () => typeof createRequire(new URL(import.meta.url)));
await attempt('from a folder', () => createRequire(`${here}/parts/folder/`)('../named.cjs').c);

const require = createRequire(import.meta.url);
for (const name of ['', 5, undefined, './nope', 'nope', '@a/b', './parts', './parts/folder', './parts/folder/',
    './parts/named', './parts/named.cjs', './parts/plain', './parts/plain.json', './parts/broken.json', './parts/throws.cjs',
    './parts/syntax.cjs', './parts/folder/node_modules/pack', 'fs/promises2', 'node:nope'])
    await attempt(`require ${name}`, () => require(name));
for (const name of ['./parts/named.cjs', './parts/folder', 'fs', 'node:fs', './nope'])
    await attempt(`resolve ${name}`, () => require.resolve(name));
await attempt('resolve with paths', () => require.resolve('pack', { paths: [`${here}/parts/folder`] }));
await attempt('paths', () => require.resolve.paths('x').slice(0, 1).map(clean));
await attempt('paths of a file', () => require.resolve.paths('./x').map(clean));
await attempt('paths of a builtin', () => require.resolve.paths('fs'));
await attempt('the same JSON', async () => require('./parts/plain.json')
    === (await import('./parts/plain.json', { with: { type: 'json' } })).default);
await attempt('the same module', () => require('./parts/named.cjs') === require('./parts/../parts/named.cjs'));

await attempt('es module', () => require('./parts/named.mjs'));
await attempt('es module without default', () => Object.keys(require('./parts/folder/inner.mjs')).join());
await attempt('es module is the same', async () => require('./parts/folder/inner.mjs') === inner);
await attempt('es module throws', () => require('./parts/throws.mjs'));
await attempt('es module syntax', () => require('./parts/syntax.mjs'));
await attempt('es module waits', () => require('./parts/await.mjs').default).catch(() => {});

for (const name of ['#inner', '#dep', '#both', '#star/one', '#star/two', '#none', '#nope', 'folder', 'folder/sub/one',
    'folder/sub/hidden', 'folder/nope', 'folder/bad', 'pack', 'pack/lib/other.js', 'pack/lib/nope.js']) {
    await attempt(`import ${name}`, async () => Object.keys(await inner.load(name)).join());
    await attempt(`require ${name}`, () => Object.keys(inner.require(name)).join());
}
for (const name of ['#inner', 'pack', 'folder', './nope.mjs'])
    await attempt(`meta.resolve ${name}`, () => inner.resolve(name));
