// SPDX-License-Identifier: MIT
// Proxies, buffers and objects without prototypes.
const util = require('util');
const { inspect } = util;
const show = (...a) => {
    try { console.log(inspect(...a)); } catch (e) { console.log('threw', e.name, e.message); }
};
{
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    show(proxy);
    show({ proxy });
    show(proxy, { showProxy: true });
}
show(new Proxy(new Map([[1, 2]]), {}));
show(new Proxy(new Proxy([1], {}), {}));
show(new Proxy(new Proxy({ a: 1 }, {}), { get() {} }), { showProxy: true });
show(new Proxy({ a: { b: { c: 1 } } }, {}), { showProxy: true, depth: 0 });
show([new Proxy({}, {})], { showProxy: true, depth: 0 });
show(new Proxy(class Q {}, {}));
show(new Proxy({ [inspect.custom]() { return 'custom of target'; } }, {}));
show(new Proxy({}, { get() {
    throw new Error('trap');
}, ownKeys() {
    throw new Error('trap');
}, getOwnPropertyDescriptor() { throw new Error('trap'); }, getPrototypeOf() { throw new Error('trap'); } }));
{
    const b = new ArrayBuffer(8);
    show(b);
    b.transfer ? b.transfer() : structuredClone(b, { transfer: [b] });
    show(b);
}
show(new ArrayBuffer(200));
show(new ArrayBuffer(3), { showHidden: true });
show(new Uint8Array(3), { showHidden: true });
show(Object.assign(new Uint8Array(2), { extra: 1 }));
show(Object.assign(new ArrayBuffer(1), { extra: 1 }));
show(new Uint8Array(0));
show(new Uint8Array(0), { showHidden: true });
show(new DataView(new ArrayBuffer(4), 1, 2));
show(new Uint8Array(120));
show([new Uint8Array(3).buffer], { depth: 0 });
show(new (class Sub extends Uint8Array {})(2));
show(Object.setPrototypeOf(new Uint8Array(2), null));
show(Object.setPrototypeOf(new Map([[1, 2]]), null));
show(Object.setPrototypeOf(new Set([1]), null));
show(Object.setPrototypeOf([1], null));
show(Object.setPrototypeOf(/a/, null));
show(Object.setPrototypeOf(new Date(0), null));
show(Object.setPrototypeOf(function f() {}, null));
show(Object.setPrototypeOf(class K {}, null));
show(Object.setPrototypeOf(Object(1), null));
show(Object.setPrototypeOf(Promise.resolve(1), null));
show(Object.setPrototypeOf(new ArrayBuffer(1), null));
show(Object.setPrototypeOf(new WeakMap(), null));
show(new (class D extends Date {})(0));
show(Object.assign(new Date(0), { x: 1 }));
show(new (class R extends RegExp {})('a', 'g'));
show(Object.assign(/a/, { x: 1 }));
show(new (class P extends Promise {})(() => {}));
show(Object.assign(Promise.resolve(), { x: 1 }));
show(new (class N extends Number {})(5));
show(new (class S extends String {})('abc'));
show(new (class F extends Function {})());
show(new WeakRef({}));
show(new FinalizationRegistry(() => {}));
show(new (class E extends Object {})());
