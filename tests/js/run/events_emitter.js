// SPDX-License-Identifier: MIT
// EventEmitter: every method, its errors, order, and what it warns of.
const E = require('events');
const L = (...a) => console.log(...a);
const t = (f) => { try { L('ok', f()); } catch (e) { L(e.name, e.code, e.message); } };
const e = new E();
L(e);
L(Object.getOwnPropertyNames(E.prototype), Object.keys(E).filter((k) => k !== 'EventEmitterAsyncResource'));
L(E.name, E.length);
for (const k of Reflect.ownKeys(E.prototype)) {
    const d = Object.getOwnPropertyDescriptor(E.prototype, k);
    L(String(k), typeof d.value, d.value && d.value.name, d.value && d.value.length, d.enumerable, d.writable,
        d.configurable);
}
for (const v of [undefined, null, 5, 'str', 'x'.repeat(40), {}, [], Symbol('a'), 10n, true, NaN,
    Object.create(null)]) for (const m of ['on', 'once', 'off', 'prependListener',
    'prependOnceListener']) t(() => e[m]('a', v) === e);
t(() => e.setMaxListeners(-1));
t(() => e.setMaxListeners('a'));
t(() => e.setMaxListeners(NaN));
t(() => { E.defaultMaxListeners = -1; });
t(() => e.emit('error', new Error('boom')));
t(() => e.emit('error', 5));
t(() => e.emit('error'));
t(() => e.emit('error', { a: 1 }));
t(() => e.emit('error', null));
t(() => { try { e.emit('error', 'x'); } catch (x) { return [x.context, String(x), Object.keys(x)]; } });
{
    const m = new E();
    const log = [];
    const f1 = (...a) => log.push('f1', ...a), f2 = function (...a) {
        log.push('f2', this === m, ...a);
    }, f3 = () => log.push('f3');
    m.on('a', f1).once('a', f2).prependListener('a', f3);
    L(m.emit('a', 1, 2), m.emit('a'), m.emit('none'));
    L(log.join());
    L(m.listenerCount('a'), m.eventNames(), m.listeners('a').length, m.rawListeners('a').length);
    m.prependOnceListener('a', f2);
    L(m.rawListeners('a')[0] === f2, m.rawListeners('a')[0].listener === f2, m.listeners('a')[0] === f2,
        m.rawListeners('a')[0].name);
    L(m);
    m.off('a', f2).off('a', f1).off('a', f3).off('a', f3);
    L(m.eventNames(), m._eventsCount);
}
{
    const m = new E();
    const log = [];
    m.on('newListener', (n, f) => log.push('new ' + String(n) + ' ' + f.name));
    m.on('removeListener', (n, f) => log.push('rem ' + String(n) + ' ' + f.name));
    function a() {}
    function b() {}
    m.on('x', a);
    m.once('x', b);
    m.on(Symbol('s'), a);
    m.off('x', a);
    m.emit('x');
    m.on('y', a);
    m.on('y', b);
    m.removeAllListeners('y');
    m.on('z', b);
    m.removeAllListeners();
    L(log);
    L(m.eventNames());
}
{
    const m = new E();
    const log = [];
    const a = () => {
        log.push('a');
        m.off('x', b);
        m.on('x', c);
    }, b = () => log.push('b'), c = () => log.push('c');
    m.on('x', a);
    m.on('x', b);
    m.emit('x');
    m.emit('x');
    L(log.join());
}
{
    const m = new E();
    const log = [];
    m.once('x', () => { log.push(1); m.emit('x'); });
    m.emit('x');
    m.emit('x');
    L(log.join());
}
{
    const m = new E();
    const f = () => {};
    m.on('a', f);
    m.on('a', f);
    m.once('a', f);
    L(m.listenerCount('a', f), m.listenerCount('a', () => {}), E.listenerCount(m, 'a'));
    m.off('a', f);
    L(m.rawListeners('a').length);
}
{
    const m = new E();
    m.on(E.errorMonitor, (x) => L('monitor', x.message));
    t(() => m.emit('error', new Error('mon')));
    m.on('error', (x) => L('handled', x.message));
    t(() => m.emit('error', new Error('mon2')));
}
{
    const m = new E();
    for (const n of [1, 's', Symbol('y')]) m.on(n, () => {});
    L(m.eventNames());
    m.removeAllListeners(1);
    L(m.eventNames());
    L(m.removeAllListeners() === m, m.eventNames());
}
{
    function Old() { E.call(this); this.x = 1; }
    Object.setPrototypeOf(Old.prototype, E.prototype);
    const o = new Old();
    o.on('a', () => L('old'));
    o.emit('a');
    L(o);
    class New extends E { constructor() { super(); this.on('q', this.q); } q() { L(this.constructor.name); } }
    new New().emit('q');
    const plain = Object.create(E.prototype);
    plain.on('z', () => L('plain'));
    plain.emit('z');
    L(plain.listenerCount('z'), plain);
    const mix = Object.assign({}, E.prototype);
    mix.on('m', () => L('mixed'));
    mix.emit('m');
}
{
    const m = new E();
    m.on('e', () => { throw new Error('thrown'); });
    m.on('e', () => L('not reached'));
    t(() => m.emit('e'));
}
t(() => E.EventEmitter === E);
t(() => E.defaultMaxListeners);
t(() => e.getMaxListeners());
t(() => e.setMaxListeners(0) === e);
t(() => new E({ captureRejections: 5 }));
t(() => { E.captureRejections = 5; });
process.on('warning', (w) => L(w.name, w.message, Object.keys(w), w.count, String(w.type),
    w.emitter instanceof E));
{
    const m = new E();
    for (let i = 0; i < 13; i++) m.on('x', () => {});
    class Foo extends E {}
    const f = new Foo();
    f.setMaxListeners(1);
    const s = Symbol('t');
    f.on(s, () => {});
    f.on(s, () => {});
    L(f);
    const g = new E();
    g.setMaxListeners(0);
    for (let i = 0; i < 13; i++) g.on('x', () => {});
}
