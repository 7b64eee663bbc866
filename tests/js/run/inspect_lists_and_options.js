// SPDX-License-Identifier: MIT
// Long lists, strings, options, tags and prototypes.
const util = require('util');
const { inspect } = util;
const show = (...a) => {
    try { console.log(inspect(...a)); } catch (e) { console.log('threw', e.name, e.message); }
};
show(new Array(5));
show([1, , , 4]);
show([, 1]);
show([undefined, , null]);
show(Object.assign([, 'a'], { x: 1 }));
show(Object.assign(new Array(3), { 5: 1 }));
show(new Array(200));
show(Array.from({ length: 150 }, () => 'ab'));
show([['a', 'b'], ['c', ['d', ['e', ['f']]]]]);
show([1.5, 'x', null]);
show(Array.from({ length: 27 }, (_, i) => 2 ** i));
show(Array.from({ length: 10 }, (_, i) => ({ i })));
show(Array.from({ length: 8 }, (_, i) => [i, 'x'.repeat(i)]));
show(Array.from({ length: 7 }, (_, i) => 'x'.repeat(i * 5)));
show(Array.from({ length: 20 }, (_, i) => (i % 3 ? i : 'abc')));
show(Array.from({ length: 12 }, (_, i) => -i * 1000));
show(Array.from({ length: 9 }, () => null));
show(Array.from({ length: 9 }, () => undefined));
show(Array.from({ length: 9 }, (_, i) => BigInt(i) ** 20n));
show(Array.from({ length: 7 }, () => '日本語'));
show(['a', 'b'].entries());
show('abc'[Symbol.iterator]());
show('abc'.matchAll(/b/g));
show(new Set([[1, 2], [3, 4]]).entries());
show(new Map([[{ a: 1 }, [1]]]).values());
show('a\nb');
show(['a\nb']);
show('\u2028\u2029\ufeff');
show('\'"`');
show('${}\'"');
show('tab\tquote\'"');
show('\ud83d');
show('\ude00x');
show('a'.repeat(200));
show({ s: 'line one\nline two\n' + 'x'.repeat(80) });
show(['word '.repeat(30)]);
show('long\n'.repeat(30));
show(new String('x\ny'));
show('\x1b[31mred\x1b[39m');
show('\\ backslash');
show('\b\f\v\0\x01\x7f\x80\x9f\xa0');
show({ a: { b: { c: { d: 1 } } } }, { depth: 1 });
show({ a: { b: { c: { d: 1 } } } }, { depth: Infinity });
show({ a: { b: 1 } }, { depth: -1 });
show([[[]]], { depth: 0 });
show(new Map([[{ a: { b: 1 } }, { c: { d: 1 } }]]), { depth: 1 });
show({ a: 1, b: 2, c: 3 }, { breakLength: 10 });
show({ a: { b: 1, c: { d: 2 } } }, { compact: 1, breakLength: 200 });
show([{ a: 1, b: { c: 1 } }], { compact: 2 });
show({ b: 1, a: [3, 1, 2], c: new Set([2, 1]), d: new Map([[2, 1], [1, 2]]) }, { sorted: true });
show(Object.assign([3, 2, 1], { z: 1, y: 2 }), { sorted: true });
show([1, 2, 3, 4], { maxArrayLength: 2 });
show([1, 2, 3, 4], { maxArrayLength: null });
show([1, 2], { maxArrayLength: -5 });
show('abc', { maxStringLength: 0 });
show('abc', { maxStringLength: null });
show('abc', { maxStringLength: 2 });
show({ get a() { return 1; }, set a(v) {}, get b() { return [1]; } }, { getters: 'get' });
show({ get a() { return 1; }, set a(v) {}, get b() { return [1]; } }, { getters: 'set' });
show(new Map([['k', new Map([['l', 1]])]]), { colors: true });
show({ a: [1, 'x', null, undefined, true, 1n, Symbol('s'), new Date(0), /r/, () => {}, class A {},
    new Error('q').message] }, { colors: true, compact: false });
show([, 1], { colors: true });
show(Object(Symbol('b')), { colors: true });
show(new Proxy({}, {}), { colors: true, showProxy: true });
{ const o = {}; o.o = o; show(o, { colors: true }); }
show([1, 2, 3], { stylize: (text, style) => '<' + style + ':' + text + '>' });
show(Array.from({ length: 20 }, (_, i) => i * 7), { colors: true });
show((function () { return arguments; })());
show((function () { return arguments; })(1, [2]));
show(Object.assign((function () { return arguments; })(1), { x: 1 }));
show([(function () { return arguments; })(1)], { depth: 0 });
show(Object.create({}, { x: { value: 1, enumerable: true } }));
show(Object.create(Object.create({})));
show(Object.create([]));
show(Object.create(new Map()));
show(Object.create(Map.prototype));
show(Object.create(Array.prototype));
show(Object.create(Date.prototype));
show(Object.create(Promise.prototype));
show(Map.prototype);
show(Array.prototype);
show(Object.prototype);
show(Date.prototype);
show(RegExp.prototype);
show(Symbol.prototype);
show(Number.prototype);
show(String.prototype);
show(Set.prototype);
show(Promise.prototype);
show(WeakMap.prototype);
show(Int8Array.prototype);
show(ArrayBuffer.prototype);
show(Error.prototype);
show(TypeError.prototype);
{ class Foo {} Object.defineProperty(Foo.prototype, Symbol.toStringTag, { value: 'Foo' }); show(new Foo()); }
{
    class T2 { get [Symbol.toStringTag]() { return 'Other'; } constructor() { this.x = 1; } }
    show(new T2());
    show([new T2()], { depth: 0 });
    show({ t: { t: { t: new T2() } } });
}
show({ [Symbol.toStringTag]: 'own', a: 1 });
show(Object.assign([1], { [Symbol.toStringTag]: 'arr' }));
show(Object.defineProperty({}, Symbol.toStringTag, { value: 'hidden' }));
show(Object.defineProperty({}, Symbol.toStringTag, { value: 5 }));
show(Object.defineProperty(new Map(), Symbol.toStringTag, { value: 'MM' }));
show(Object.defineProperty([], Symbol.toStringTag, { value: 'AA' }));
show(Object.defineProperty(() => {}, Symbol.toStringTag, { value: 'FF' }));
show({ constructor: { name: 'Fake' } });
show(Object.create({ constructor: function Named() {} }));
{ const X = function () {}; X.prototype.constructor = undefined; show(new X()); }
{ function Y() {} Y.prototype = { y: 1 }; show(new Y()); }
{ function Z() {} Object.defineProperty(Z, 'name', { value: '' }); show(new Z()); }
show(globalThis.undefinedThing);
show(Object.freeze({ a: 1 }));
show(Object.seal([1]));
show(JSON.parse('{"__proto__": {"x": 1}}'));
show({ __proto__: { a: 1 }, b: 2 });
show({ ['__proto__']: 1 });
show([[], {}, [[]], [{}], { a: {} }, { a: [] }]);
show({ a: [], b: {}, c: new Map(), d: new Set(), e: [[]], f: '' });
show([[[{}]]]);
show([[[{ a: 1 }]]]);
show([[[[]]]]);
show({ x: [[[]]] });
show(-1);
show([-0, 0, NaN, Infinity, -Infinity, 1e21, 1e-7, 0.1, 123456789.123]);
show([1e21, 123456.789, 1234567n, -0, NaN, 0.0001234], { numericSeparator: true });
