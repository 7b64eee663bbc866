// SPDX-License-Identifier: MIT
// events.once and events.on with signals and event targets.
const E = require('events');
const L = (...a) => console.log(...a);
const t = (f) => { try { L('ok', f()); } catch (e) { L(e.name, e.code, e.message); } };
(async () => {
    const m = new E();
    const ac = new AbortController();
    const p = E.once(m, 'r', { signal: ac.signal });
    ac.abort();
    await p.catch((x) => L(x.name, x.code, x.message, x.cause && x.cause.name, Object.keys(x),
        m.listenerCount('r')));
    await E.once(m, 'r', { signal: ac.signal }).catch((x) => L(x.name, x.code));
    t(() => E.on(m, 'x', { signal: ac.signal }));
    const a2 = new AbortController();
    const it = E.on(m, 'v', { signal: a2.signal });
    const nx = it.next();
    a2.abort();
    await nx.catch((x) => L(x.name, x.code));
    L(await it.next());
    const a3 = new AbortController();
    E.addAbortListener(a3.signal, () => L('aborted!'));
    a3.abort();
    t(() => E.addAbortListener(5));
    const et = new EventTarget();
    const op = E.once(et, 'foo');
    et.dispatchEvent(new Event('foo'));
    L((await op)[0].type);
    const ei = E.on(et, 'bar');
    et.dispatchEvent(new Event('bar'));
    L((await ei.next()).value[0].type);
    await ei.return();
    E.setMaxListeners(3, et, m);
    L(m.getMaxListeners(), E.getMaxListeners(et));
})();
