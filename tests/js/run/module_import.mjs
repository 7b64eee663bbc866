// SPDX-License-Identifier: MIT
// import(): what is found and what is not, JSON and data URLs, and in which words it is said.
import { isBuiltin, builtinModules } from 'node:module';

const here = import.meta.dirname;
const clean = (text) => `${text}`.replaceAll(here, 'HERE').split('\n')[0];
async function attempt(label, fn) {
    try {
        console.log(label, '=>', await fn());
    } catch (error) {
        const text = error instanceof SyntaxError ? '' : clean(error.message);
        console.log(label, '!!', error?.name, error?.code, text, clean(error.url));
    }
}
const json = { with: { type: 'json' } };
const plain = './parts/plain.json';

await attempt('json', async () => (await import(plain, json)).default);
await attempt('json namespace', () => import(plain, json));
await attempt('json without attribute', () => import(plain));
await attempt('json as css', () => import(plain, { with: { type: 'css' } }));
await attempt('json with another attribute', () => import(plain, { with: { foo: 'css' } }));
await attempt('javascript as json', () => import('./parts/named.mjs', json));
await attempt('builtin as json', () => import('node:fs', json));
await attempt('broken json', () => import('./parts/broken.json', json));
await attempt('json twice', async () => (await import(plain, json)).default === (await import(plain, json)).default);
await attempt('json with a query', async () =>
    (await import(`${plain}?x`, json)).default === (await import(plain, json)).default);

await attempt('data', () => import('data:text/javascript,export default 5; export const u = import.meta.url'));
await attempt('data meta', async () => Object.keys((await import('data:text/javascript,export default import.meta')).default));
await attempt('data base64', async () => (await import('data:text/javascript;base64,ZXhwb3J0IGRlZmF1bHQgJ8OkJw==')).default);
await attempt('data charset', async () => (await import('data:text/javascript;charset=utf-8,export default "%C3%A4"')).default);
await attempt('data application', async () => (await import('data:application/javascript,export default 1')).default);
await attempt('data json', async () => (await import('data:application/json,{"a":1}', json)).default);
await attempt('data json without', () => import('data:application/json,{"a":1}'));
await attempt('data plain', () => import('data:text/plain,hello'));
await attempt('data nothing', () => import('data:,hello'));
await attempt('data relative', () => import('data:text/javascript,import "./x.mjs"'));
await attempt('data bare', () => import('data:text/javascript,import "x"'));
await attempt('data builtin', async () =>
    (await import('data:text/javascript,import fs from "fs"; export default typeof fs.readFileSync')).default);

await attempt('http', () => import('http://example.com/x.js'));
await attempt('foo:', () => import('foo:bar'));
await attempt('node:nope', () => import('node:nope'));
await attempt('missing', () => import('./nope.mjs'));
await attempt('missing package', () => import('nope'));
await attempt('missing scoped package', () => import('@a/b'));
await attempt('half a scoped package', () => import('@a'));
await attempt('bad name', () => import('.x'));
await attempt('folder', () => import('./parts/folder'));
await attempt('folder/', () => import('./parts/folder/'));
await attempt('other ending', () => import('./parts/other.foo'));
await attempt('no ending', async () => Object.keys(await import('./parts/plain')));
await attempt('encoded slash', () => import('./a%2fb.mjs'));
await attempt('host', () => import('file://host/x.mjs'));
await attempt('encoded space', async () => (await import('./parts/with%20space.mjs')).default);
await attempt('space', async () => (await import('./parts/with space.mjs')).default);
await attempt('query', async () => (await import('./parts/named.mjs?1')).default === (await import('./parts/named.mjs')).default);
await attempt('url', async () => Object.keys(await import(new URL('./parts/named.mjs', import.meta.url))).join());

await attempt('commonjs', async () => Object.keys(await import('./parts/named.cjs')).join());
await attempt('commonjs throws', () => import('./parts/throws.cjs'));
await attempt('commonjs syntax', () => import('./parts/syntax.cjs'));
await attempt('syntax', () => import('./parts/syntax.mjs'));
await attempt('syntax again', () => import('./parts/syntax.mjs'));
await attempt('throws', () => import('./parts/throws.mjs'));
await attempt('throws again', () => import('./parts/throws.mjs'));
await attempt('missing file inside', () => import('./parts/missing_file.mjs'));
await import('./parts/missing_export.mjs').catch((error) => console.log(error.name, error.message));
await attempt('builtins', () => [isBuiltin('fs'), isBuiltin('node:fs'), isBuiltin('x'), builtinModules.includes('fs')].join());
await attempt('throwing name', () => import({ toString() { throw new RangeError('name'); } }));
await attempt('null', () => import(null));

await attempt('meta', () => Object.keys(import.meta).join());
await attempt('meta values', () => [import.meta.url, import.meta.dirname, import.meta.filename].map(clean).join());
for (const name of ['./nope.mjs', 'fs', 'nope', undefined, 5, '/x y?z#q', 'http://a/b', 'data:,x', './parts/folder'])
    await attempt(`resolve ${name}`, () => clean(import.meta.resolve(name)));
