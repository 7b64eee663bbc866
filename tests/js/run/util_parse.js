// SPDX-License-Identifier: MIT
// util.parseArgs and util.parseEnv.
const util = require('util');
const L = (...a) => console.log(...a);
const t = (c) => { try { L(util.parseArgs(c)); } catch (e) { L(e.name, '|', e.code, '|', e.message); } };
const o = { foo: { type: 'boolean', short: 'f' }, bar: { type: 'string', short: 'b' }, many: { type: 'string',
    multiple: true, short: 'm' }, flags: { type: 'boolean', multiple: true, short: 'v' }, def: { type:
    'string', default: 'D' }, defb: { type: 'boolean', default: true }, defm: { type: 'string', multiple:
    true, default: ['a', 'b'] } };
for (const args of [[], ['-f'], ['--foo'], ['--bar', 'x'], ['--bar=x'], ['-b', 'x'], ['-bx'], ['-fbx'],
    ['-fb', 'x'], ['-fvv'], ['-m1', '-m', '2', '--many=3', '--many', '4'], ['--def', 'q', '--defm', 'z'],
    ['--bar='], ['--bar', ''], ['--bar=a=b'], ['--bar', '-'], ['-b=x'], ['--foo', '--bar', 'x',
    '-v']]) t({ args, options: o });
for (const args of [['p'], ['p', '-f', 'q'], ['--', '-f', '--bar'], ['-f', '--', 'x', '--'], ['-'], ['a',
    '--bar', 'b', 'c']]) { t({ args, options: o, allowPositionals: true, tokens: true }); t({ args, options:
    o }); }
for (const args of [['--nope'], ['-x'], ['--foo=1'], ['--foo='], ['--bar'], ['-b'], ['--bar', '--foo'], ['-b',
    '-f'], ['-fx'], ['--no-foo'], ['--__proto__'], ['--many'], ['--bar', '-x'], ['--nope=5']]) { t({ args,
    options: o }); t({ args, options: o, allowPositionals: true }); t({ args, options: o, strict: false });
    t({ args, options: o, strict: false, tokens: true }); t({ args, options: o, allowNegative: true }); }
for (const args of [['--no-foo'], ['--no-bar'], ['--no-flags', '--flags'], ['--no-foo=1'], ['--no-nope'],
    ['--no-defb']]) { t({ args, options: o, allowNegative: true, tokens: true }); t({ args, options: o,
    allowNegative: true, strict: false }); }
for (const options of [{ a: { type: 'x' } }, { a: {} }, { a: 5 }, { a: { type: 'string', short: 'xx' } }, { a:
    { type: 'string', short: '' } }, { a: { type: 'string', short: 5 } }, { a: { type: 'string', multiple:
    1 } }, { a: { type: 'string', default: 1 } }, { a: { type: 'boolean', default: 'x' } }, { a: { type:
    'string', multiple: true, default: 'a' } }, { a: { type: 'string', multiple: true, default: [1] } }, { a:
    { type: 'boolean', multiple: true, default: [true, 5] } }, 5, null, []]) t({ args: [], options });
t({ args: 5 });
t({ args: [], strict: 5 });
t({ args: [], allowPositionals: 'x' });
t({ args: [], tokens: 1 });
t({ args: [] });
t({ args: ['--a'], strict: false });
t({ args: ['-abc', 'd', '--e=f'], strict: false });
for (const e of ['A=1\nB="x y"\n#c\nC=\'q\' # z\nexport D=5\nE=a b  # c\nF="multi\nline"\n' +
    'G=`b`\nH="a\\nb"\nI=\'a\\nb\'\nJ=\n K = v \n', '', 'X', 'A=1\r\nB=2\r\n', 'A==b', 'A="unclosed', 'A=#c',
    'A=a#b', 'A=1\nA=2', 'A= "q" x', 'A=\'it"s\'']) { try { L(util.parseEnv(e)); } catch (x) { L(x.code); } }
try { util.parseEnv(5); } catch (x) { L(x.code, x.message); }
