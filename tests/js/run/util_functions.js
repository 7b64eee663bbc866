// SPDX-License-Identifier: MIT
// node:util: promisify, callbackify, inherits, deprecate and the small ones.
const util = require('util');
const L = (...a) => console.log(...a);
const t = (f) => {
    try { L('ok', f()); } catch (e) { L(e.name, '|', e.code, '|', e.message, '|', Object.keys(e)); }
};
L(Object.keys(util).filter((k) => !/^(_errno|_exception|getSystem|transferable|MIME)/.test(k)).join());
L(util.promisify.custom, util.promisify.length, util.callbackify.length, util.inherits.length,
    util.deprecate.length, util.format.length, util.inspect.length);
for (const v of [5, null, undefined, 'x', {}]) { t(() => util.promisify(v)); t(() => util.callbackify(v)); }
L(util.promisify(function foo(a, b) {}).name, util.promisify(function foo(a, b) {}).length);
L(Object.getOwnPropertyDescriptor(util.promisify(() => {}), util.promisify.custom).enumerable);
L(util.promisify(Object.assign(() => {}, { extra: 1 })).extra);
t(() => util.promisify(Object.assign(() => {}, { [util.promisify.custom]: 5 })));
{
    const c = Object.assign(() => {}, { [util.promisify.custom]: () => 5 });
    L(util.promisify(c) === c[util.promisify.custom],
        util.promisify(util.promisify(c)) === util.promisify(c));
}
L(util.callbackify(async function foo(a) {}).name, util.callbackify(async function foo(a) {}).length);
t(() => util.callbackify(async () => 5)());
t(() => util.callbackify(async () => 5)('x'));
{
    function A() {}
    function B() {}
    B.prototype.hi = () => 'hi';
    util.inherits(A, B);
    L(Object.getOwnPropertyDescriptor(A, 'super_').enumerable, A.super_ === B, new A() instanceof B,
        new A().hi());
    t(() => util.inherits());
    t(() => util.inherits(null, B));
    t(() => util.inherits(A));
    t(() => util.inherits(A, null));
    t(() => util.inherits(A, { prototype: undefined }));
}
{
    class K { constructor(x) { this.x = x; } static s = 3; }
    const D = util.deprecate(K, 'class gone', 'DEP_K');
    L(new D(4).x, new D(1) instanceof K, D.s);
    const d = util.deprecate(function dd(a) { return [this && this.q, a]; }, 'fn gone', 'DEP_F');
    L(d.call({ q: 1 }, 2), d.call({ q: 2 }, 3));
    const d2 = util.deprecate(() => 7, 'same code', 'DEP_F');
    L(d2());
    const d3 = util.deprecate(() => 8, 'no code');
    L(d3(), d3());
    t(() => util.deprecate(() => {}, 'm', 5));
}
L(JSON.stringify([util.styleText('red', 'a', { validateStream: false }), util.styleText(['bold', 'red'], 'x'),
    util.styleText(['bgBlue', 'italic', 'underline'], 'x')]));
t(() => util.styleText('nocolor', 'x'));
t(() => util.styleText(['red', 'nope'], 'x'));
t(() => util.styleText('red', 5));
t(() => util.styleText('red', 'x', { validateStream: 5 }));
for (const s of ['plain', '\x1b[31mred\x1b[39m', '\x1b[1;32;40mx\x1b[0m',
    '\x1b]8;;http://x\x07link\x1b]8;;\x07', '\x9b1mz', '\x1b[2K\x1b[1Gx', 'a\x1b[?25lb',
    '']) L(JSON.stringify(util.stripVTControlCharacters(s)));
t(() => util.stripVTControlCharacters(5));
L(util.toUSVString('a\ud800b\udc00'), util.toUSVString('😀'), util.toUSVString(5));
for (const k of ['isArray', 'isBoolean', 'isNull', 'isNullOrUndefined', 'isNumber', 'isString', 'isSymbol',
    'isUndefined', 'isRegExp', 'isObject', 'isDate', 'isError', 'isFunction', 'isPrimitive', 'isBuffer']) L(k,
    [[], true, null, undefined, 1, 'x', Symbol('s'), /x/, {}, new Date(0), new Error('e'), () => {},
    5n].map((v) => (util[k](v) ? 'y' : '.')).join(''));
L(util._extend({ a: 1 }, { b: 2 }), util._extend({ a: 1 }, null), util.debuglog('x').enabled,
    util.debuglog('x')('silent'));
L(util.TextEncoder === TextEncoder, util.TextDecoder === TextDecoder);
L(util.inspect.custom, Object.keys(util.inspect), util.inspect.defaultOptions);
t(() => { util.inspect.defaultOptions = 5; });
t(() => { util.inspect.defaultOptions = null; });
util.inspect.defaultOptions = { depth: 0 };
L(util.inspect({ a: { b: 1 } }), util.format({ a: { b: 1 } }));
util.inspect.defaultOptions = { depth: 2 };
L(util.inspect.colors.red, util.inspect.colors.grey, util.inspect.styles);
util.inspect.styles.number = 'red';
L(JSON.stringify(util.inspect(5, { colors: true })));
util.inspect.styles.number = 'yellow';
process.on('warning', (w) => L(w.name, w.code, w.message));
(async () => {
    L(await util.promisify((a, b, cb) => cb(null, a + b, 'ignored'))(1, 2));
    await util.promisify((cb) => cb(new Error('pe')))().catch((e) => L(e.message));
    await util.promisify(() => { throw new Error('sync'); })().catch((e) => L(e.message));
    const o = { v: 9, m(cb) { cb(null, this.v); } };
    L(await util.promisify(o.m).call(o));
    L(await util.promisify((cb) => cb())());
    const cb = (label) => (...a) => L(label, ...a.map((x) => (x instanceof Error ? [x.message, x.code,
        x.reason] : x)));
    util.callbackify(async () => 5)(cb('val'));
    util.callbackify(async () => { throw new Error('rej'); })(cb('err'));
    util.callbackify(async () => { throw null; })(cb('null'));
    util.callbackify(async () => { throw undefined; })(cb('undef'));
    util.callbackify(async function (a, b) {
        return [this === 7 || typeof this, a, b];
    }).call({}, 1, 2, cb('args'));
    await new Promise((r) => setTimeout(r, 5));
    const ac = new AbortController();
    const p = util.aborted(ac.signal, {});
    ac.abort();
    L((await p).type, await util.aborted(ac.signal, {}));
    await util.aborted().catch((e) => L(e.code, e.message));
})().catch((e) => L(e));
