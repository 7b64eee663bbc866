// SPDX-License-Identifier: MIT
// path.win32.
const path = require('path').win32;
const L = (...a) => console.log(...a);
process.cwd = () => 'C:\\work\\dir';
const P = ['', '.', '..', '/', '\\', '//', 'C:', 'c:\\', 'C:/', 'C:a', 'C:\\a', 'C:\\a\\', 'C:/a/b',
    'C:\\a\\..\\b', 'C:..', 'C:..\\a', 'a', 'a\\', 'a\\b', 'a/b', 'a//b\\\\c', '.\\a', '..\\a', '..\\..',
    '\\a', '\\a\\b', '/a/../b', '\\\\server\\share', '//server/share/', '\\\\server\\share\\a',
    '\\\\server\\share\\a\\..\\..\\b', '\\\\server', '\\\\server\\', '//server//share//a', 'a.b', 'a.b.c',
    '.a', '..a', 'a.', 'C:\\a.b\\c.d', 'C:a.txt', 'C:\\.a', 'C:\\file.txt', 'C:file.', 'a\\.b\\..', 'a:b',
    'foo:bar\\baz', 'C:\\a\\b\\..\\..\\..', 'D:\\x', 'd:x', 'a b\\c d', 'ü\\é.ñ', 'C:\\\\a\\\\', '\\\\\\a',
    'x\\y\\z.tar.gz', '\\\\?\\C:\\a', '\\\\.\\pipe\\x'];
for (const p of P) L(JSON.stringify([p, path.normalize(p), path.dirname(p), path.basename(p), path.extname(p),
    path.isAbsolute(p), path.resolve(p), path.parse(p), path.format(path.parse(p)),
    path.toNamespacedPath(p)]));
for (const a of P) for (const b of ['', '\\', '..', '..\\..', 'x', '\\x', './y/', '.txt', 'C:\\a', 'D:',
    'c:x', '\\\\server\\share\\q']) L(JSON.stringify([a, b, path.join(a, b), path.resolve(a, b),
    path.relative(a, b), path.basename(a, b)]));
L(path.join(), path.resolve(), path.sep, path.delimiter, path.win32 === path, path.posix === require('path'),
    Object.keys(path));
for (const f of [() => path.join(5), () => path.resolve('a', 5), () => path.format(5), () => path.parse(null),
    () => path.relative(1, 'a')]) { try { L(f()); } catch (e) { L(e.code, e.message); } }
