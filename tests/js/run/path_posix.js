// SPDX-License-Identifier: MIT
// node:path.
const path = require('path');
const L = (...a) => console.log(...a);
process.cwd = () => '/base/user/dir';
const P = ['', '/', '//', '///', '.', '..', './', '../', '/.', '/..', 'a', 'a/', '/a', '/a/', 'a/b', 'a//b',
    '/a/b/', '/a/../b', 'a/../..', '../a', '/../a', './a/./b', 'a/b/..', 'a/b/../', '.a', 'a.', 'a.b',
    'a.b.c', '.a.b', '..a', '...', 'a/.b', '/a/.b.c', 'a.b/', 'a.b//', '/a.b/c', '/a.b/.', '/a.b/..', '//a',
    '//a/b', '///a', 'file.txt', '/x/file.tar.gz', 'a\\b', 'a b/c d', 'ü/é.ñ', '/foo/bar//baz/asdf/quux/..',
    './../../a', 'a/./../b/', '../../..', '/a/b/c/../../../d', 'foo.', '.foo.', '..foo', 'foo..', '/.foo',
    '/foo.bar.', ' ', '/ ', 'a/..', 'a/../', '/a/..', '/a/../'];
for (const p of P) L(JSON.stringify([p, path.normalize(p), path.dirname(p), path.basename(p), path.extname(p),
    path.isAbsolute(p), path.resolve(p), path.parse(p), path.format(path.parse(p)),
    path.toNamespacedPath(p)]));
for (const a of P) for (const b of ['', '/', '..', '../..', 'x', '/x', './y/', '.txt',
    'a']) L(JSON.stringify([a, b, path.join(a, b), path.resolve(a, b), path.relative(a, b), path.basename(a,
    b)]));
L(path.join(), path.resolve(), path.join('a', '', 'b', '..', '/c'), path.join('', ''), path.resolve('/a', 'b',
    '/c', 'd'), path.resolve('', ''));
for (const [a, b] of [['aaa.bbb', '.bbb'], ['aaa.bbb', 'bbb'], ['aaa.bbb', 'aaa.bbb'], ['/dir/aaa.bbb',
    'aaa.bbb'], ['aaa', 'a'], ['aaabbb/', 'bbb'], ['a/b.js/', '.js'], ['.js', '.js'], ['x.js', ''], ['/',
    '/'], ['//a', 'a'], ['a.js', 'a.js'], ['b/a.js', 'longer than that']]) L(a, b, path.basename(a, b));
for (const o of [{}, { dir: '/d', base: 'b' }, { root: '/', base: 'b' }, { root: '/', dir: '/', base: 'b' },
    { dir: 'd', name: 'n', ext: '.e' }, { name: 'n', ext: 'e' }, { root: '/r', name: 'n' }, { ext: '.e' },
    { dir: '' }, { dir: 'd' }, { root: 'r' }, { base: 'b', name: 'n', ext: 'e' }]) L(JSON.stringify(o),
    path.format(o));
for (const f of [() => path.join(5), () => path.join('a', null), () => path.resolve({}),
    () => path.normalize(), () => path.format(null), () => path.format('a'), () => path.basename('a', 5),
    () => path.basename(5), () => path.relative('a'), () => path.relative(5, 'a'), () => path.dirname(true),
    () => path.extname([]), () => path.parse(Symbol('x')), () => path.isAbsolute(1n), () => path.resolve('a',
    5)]) { try { L(f()); } catch (e) { L(e.name, e.code, e.message); } }
L(path.sep, path.delimiter, path.posix === path, Object.keys(path), path.join.length, path.resolve.length,
    path.basename.length, path.relative.length, path.format.length, path.parse.name,
    path._makeLong === path.toNamespacedPath);
