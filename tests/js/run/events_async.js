// SPDX-License-Identifier: MIT
// events.once, events.on and captured rejections.
const E = require('events');
const L = (...a) => console.log(...a);
const t = (f) => { try { L('ok', f()); } catch (e) { L(e.name, e.code, e.message); } };
(async () => {
    const m = new E();
    setTimeout(() => m.emit('a', 1, 2), 1);
    L(await E.once(m, 'a'));
    setTimeout(() => m.emit('error', new Error('oe')), 1);
    try {
        await E.once(m, 'a');
    } catch (x) { L('caught', x.message, m.listenerCount('a'), m.listenerCount('error')); }
    setTimeout(() => m.emit('error', new Error('direct')), 1);
    L((await E.once(m, 'error'))[0].message);
    for (const a of [[5, 'x'], [m, 'x', { signal: 5 }]]) await E.once(...a).catch((x) => L(x.code,
        x.message));
    t(() => E.on(5, 'x'));
    t(() => E.getEventListeners(5));
    t(() => E.setMaxListeners(5, {}));
    t(() => E.setMaxListeners(-5));
    t(() => E.on(m, 'x', { signal: 5 }));
    t(() => E.getMaxListeners(5));
    t(() => E.getMaxListeners(m));
    t(() => E.getEventListeners(m, 'q'));
    t(() => E.on(m, 'x', { highWaterMark: 0 }));
    {
        const it = E.on(m, 'v');
        m.emit('v', 1);
        m.emit('v', 2, 3);
        L(await it.next(), await it.next());
        const p = it.next();
        m.emit('v', 4);
        L(await p);
        const q = it.next(), r = it.next();
        L(await it.return(), await q, await r, await it.next(), m.listenerCount('v'));
    }
    {
        const it = E.on(m, 'v');
        m.emit('v', 1);
        m.emit('error', new Error('ie'));
        L(await it.next());
        try { await it.next(); } catch (x) { L(x.message); }
        L(await it.next(), m.listenerCount('error'));
    }
    {
        const it = E.on(m, 'v', { close: ['end'] });
        m.emit('v', 'a');
        m.emit('v', 'b');
        m.emit('end');
        const got = [];
        for await (const v of it) got.push(v);
        L(got);
    }
    {
        const it = E.on(m, 'v');
        t(() => it.throw(5));
        it.throw(new Error('thr'));
        try { await it.next(); } catch (x) { L(x.message); }
        L(await it.next());
    }
    {
        const it = E.on(m, 'v');
        L(Object.keys(it), typeof it[Symbol.asyncIterator]);
        let n = 0;
        setTimeout(() => { for (let i = 0; i < 5; i++) m.emit('v', i); }, 1);
        for await (const [v] of it) { if (++n === 3) { L('break', v); break; } }
        L(m.listenerCount('v'));
    }
    {
        const c = new E({ captureRejections: true });
        c.on('error', (x) => L('captured', x.message));
        c.on('a', async () => { throw new Error('rej'); });
        c.emit('a', 1);
        await new Promise((r) => setTimeout(r, 5));
        const d = new E({ captureRejections: true });
        d[Symbol.for('nodejs.rejection')] = (x, n, ...a) => L('rejection', x.message, n, a);
        d.on('b', async () => { throw new Error('rej2'); });
        d.emit('b', 1, 2);
        await new Promise((r) => setTimeout(r, 5));
        L(E.captureRejectionSymbol === Symbol.for('nodejs.rejection'), c.constructor.captureRejections);
    }
})();
