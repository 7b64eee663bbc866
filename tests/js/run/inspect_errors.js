// SPDX-License-Identifier: MIT
// Errors: the first line, keys, causes. The frames are left out, they are the engine's.
const util = require('util');
const i = util.inspect;
const show = (...a) => {
    let s;
    try { s = i(...a); } catch (e) { s = 'threw ' + e.name + e.message; }
    console.log(s.replace(/(\n +at [^\n]*[^\n{])+( \{)?/g, (m, a, b) => '\n  AT' + (b || '')));
};
show(new Error('x'));
show(new Error(''));
show(new Error());
show(new TypeError('multi\nline'));
show({ e: new RangeError('in object') });
show([new Error('in array')]);
class FooError extends Error { constructor(m) { super(m); this.name = 'FooError'; } }
show(new FooError('x'));
class BarError extends Error {}
show(new BarError('x'));
class Bar extends Error {}
show(new Bar('x'));
class Baz extends Error { get name() { return 'BazName'; } }
show(new Baz('x'));
class Q extends TypeError {}
Q.prototype.name = 'Qqq';
show(new Q('x'));
show(Object.assign(new Error('m'), { code: 'E', name: 'Foo' }));
show(Object.assign(new Error('m'), { message: 'other' }));
show(Object.assign(new Error('m'), { stack: 'hello' }));
show(Object.defineProperty(new Error('m'), 'stack', { value: undefined, enumerable: false }));
show(Object.assign(new Error('m'), { stack: 'Error: m\n    at x' }));
Error.stackTraceLimit = 2;
show(new Error('a', { cause: new Error('b') }));
show({ e: new Error('a', { cause: new TypeError('b', { cause: 'c' }) }) });
Error.stackTraceLimit = 10;
show(new Error('a', { cause: 'b' }));
show(new Error('a', { cause: undefined }));
show(new AggregateError([new Error('1'), 2], 'agg'));
show(Object.setPrototypeOf(new Error('np'), null));
show(Object.create(Error.prototype));
show(Object.create(TypeError.prototype, { message: { value: 'm' } }));
{ const e = new Error('x'); e.self = e; show(e); }
{ const e = new Error('x'); e[Symbol('s')] = 1; show(e); }
{ const e = new Error('x'); delete e.message; show(e); }
{ const e = new Error('x'); e.name = undefined; show(e); }
show({ a: { b: { c: { d: new Error('deep') } } } });
show({ a: { b: { c: Object.assign(new Error('deep'), { x: 1 }) } } }, { depth: 1 });
show({ a: { b: { c: new Error('deep') } } });
show({ a: { b: { c: Object.assign(new Error('deep'), { x: 1 }) } } });
{ const e = new Error('x'); e.message = 5; show(e); }
{ const e = new Error('x'); e.message = ''; show(e); }
class Tagged extends Error { get [Symbol.toStringTag]() { return 'TT'; } }
show(new Tagged('x'));
show(Object.assign(new Error('x'), { toString() { return 'hi'; } }));
show(new (class X extends Error { constructor() {
    super('q');
    Object.defineProperty(this, 'name', { value: 'HiddenName' });
} })());
Error.stackTraceLimit = 0;
show(new Error('nostack'));
show({ a: new TypeError('nostack') });
show(new FooError('n'));
show(new Bar('n'));
show(new Q('n'));
show(new (class extends Error {})('anon'));
Error.stackTraceLimit = 10;
