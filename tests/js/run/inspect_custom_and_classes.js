// SPDX-License-Identifier: MIT
// Custom inspect functions, circles, classes, keys and functions.
const util = require('util');
const { inspect } = util;
const show = (...a) => {
    try { console.log(inspect(...a)); } catch (e) { console.log('threw', e.name, e.message); }
};
show({ [inspect.custom](depth, options) { return inspect({ depth, nested: true }, options); } });
show({ a: { b: { [inspect.custom](depth) { return 'depth ' + depth; } } } });
show({ a: { [inspect.custom]() { return 'line1\nline2'; } } });
show({ a: { [inspect.custom]() { return { x: 'y'.repeat(40), z: 'w'.repeat(40) }; } } });
show({ [inspect.custom]() { return null; } });
show({ [inspect.custom]() { return 42; } });
show({ [inspect.custom]() { return undefined; } });
show({ [inspect.custom]() { return this; }, a: 1 });
show({ [inspect.custom]() { throw new Error('thrown'); } });
show({ [inspect.custom]() { return 'x'; } }, { customInspect: false });
show({ a: 1 }, { extra: 'user', depth: 3 });
show({ [inspect.custom](d, o) {
    return Object.keys(o).join() + o.extra + o.stylize('s', 'string');
} }, { extra: 'user' });
show(class { static [inspect.custom]() { return 'static custom'; } });
class WithCustom { [inspect.custom]() { return 'inst'; } }
show(WithCustom.prototype);
show(new WithCustom());
show(WithCustom);
{ const m = new Map(); m.set('self', m); m.set(m, 1); show(m); }
{ const s = new Set(); s.add(s); show(s); }
{ const a = { x: {} }; a.x.a = a; a.x.x = a.x; show(a); show([a, a]); show({ a: a.x, b: a }); }
{ const f = function f() {}; f.f = f; show(f); }
{ class C { constructor() { this.me = this; } } show(new C()); }
{ const o = {}; o.a = { b: { c: { o } } }; show(o, { depth: 5 }); }
{ const a = [1]; a.a = a; show(a, { compact: true }); }
{ const p = Promise.resolve({}); p.p = p; show(p); }
class Base { constructor() { this.own = 1; } get acc() { return 1; } static s = 2; method() {} }
Base.prototype.shared = 'proto';
class Derived extends Base { get more() { return 2; } }
show(new Derived());
show(new Derived(), { showHidden: true });
show(new Derived(), { showHidden: true, getters: true });
show(Object.create({ inherited: 1 }), { showHidden: true });
show(Base);
show([new Derived()], { depth: 0 });
show(Base.prototype);
show(Derived.prototype);
show(Object.create(Derived.prototype));
show(Object.create(Base));
show(Derived);
show({ a: 1n, b: Symbol('x\ny'), [Symbol('a\'b')]: 1, [Symbol()]: 2, [Symbol.iterator]: 3 });
show(Object.defineProperties({}, { hidden: { value: 1 }, shown: { value: 2, enumerable: true }, [Symbol('h')]:
    { value: 3 } }));
show(Object.defineProperties({}, { hidden: { value: 1 }, 'hidden-2': { value: 2 }, [Symbol('h')]: { value:
    3 } }), { showHidden: true });
show({ 'a b': 1, 1: 2, '01': 3, 'ünï': 4, 'it\'s': 5, '': 6, a1: 7, _: 8, 'A-': 9, class: 10 });
show({ undefined: undefined, null: null });
show({ f() {}, async g() {}, *h() {}, async *i() {}, j: () => {}, k: class {}, ['computed']() {},
    get l() { return 1; } });
show(function () {});
show(Object.assign(() => {}, { x: { y: { z: { w: 1 } } } }));
show(Math.max);
show(function f() {}.bind(null));
show((class A { static m() {} }).m);
show(Object.defineProperty(function () {}, 'name', { value: 'renamed' }));
show(Object.defineProperty(function f() {}, 'name', { value: 5 }));
show(Object.defineProperty(class A {}, 'name', { value: 'B' }));
show(class { static name = 'static name'; });
show(class A extends null {});
show(class A extends (class {}) {});
show(class A extends Object {});
show(Object.assign(class A {}, { [Symbol.toStringTag]: 'T' }));
show((() => class {})());
show(class/**/A{});
show(class { constructor(a = (1)) {} });
show(class A extends Base { x = 1; });
show(Symbol);
show(Proxy);
show(Promise.resolve);
show([class A {}, function b() {}]);
