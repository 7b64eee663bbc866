// Queues with a limit, and what happens to what has no room; what comes after what.
import { current, Pool } from 'weft:pool';
import { chan, go, isFiber, sleep } from 'weft:go';

async function thrown(what) {
    try {
        return `no error, but ${String(await what())}`;
    } catch (error) {
        return `${error.name} ${error.status ?? ''} ${error.code ?? ''} ${error.message}`;
    }
}
const gate = chan();
// One that runs and one that is queued: there is no room for a third.
async function full(options) {
    const pool = new Pool({ concurrency: 1, maxQueued: 1, ...options });
    const running = await pool.submit(() => gate.recv());
    while (pool.stats().running === 0)
        await sleep(0);
    const queued = await pool.submitWith({ priority: 1 }, () => 'queued');
    return { pool, running, queued };
}
async function finish({ pool, running, queued }, ...others) {
    await gate.send('let go');
    const ends = await Promise.all([thrown(() => running.wait()), thrown(() => queued.wait()), ...others]);
    await pool.wait();
    const { rejected, discarded, succeeded, cancelled } = pool.stats();
    return `${ends.join(' | ')} | ${rejected} ${discarded} ${succeeded} ${cancelled}`;
}

{
    const all = await full();
    console.log(await thrown(() => all.pool.submit(() => {})), await thrown(() => go(() => all.pool.run(() => {}))));
    console.log('abort', await finish(all));
}
{
    const all = await full({ rejection: 'discard' });
    const third = all.pool.submit(() => console.log('never'));
    console.log(third.status, await thrown(() => third.wait()));
    console.log('discard', await finish(all));
}
{
    const all = await full({ rejection: 'discard-queued' });
    const third = all.pool.submitWith({ priority: 2 }, () => 'third');
    console.log('discard-queued', await finish(all, third.wait()));
}
{
    const all = await full({ rejection: 'caller-runs' });
    const seen = [];
    const third = await all.pool.submit(() => {
        seen.push(isFiber(), current.attempt, current.work.status);
        sleep(1);
        return 'third';
    });
    console.log(third.status, third.result?.value ?? await third.wait(), seen.join());
    const fourth = await go(() => all.pool.run(() => {
        sleep(1);
        return all.running.status;
    }));
    console.log(fourth, await thrown(() => go(() => all.pool.run(() => {
        throw new Error('of the caller');
    }))));
    function deep(n) {
        return n === 0 ? 0 : 1 + deep(n - 1);
    }
    console.log(await all.pool.run(() => deep(300)), await thrown(() => go(() => all.pool.run(() => deep(1e9)))).then((text) => text.split(' ')[0]));
    console.log('caller-runs', await finish(all));
}
{
    const all = await full({ rejection: 'block' });
    console.log(await thrown(() => all.pool.submitWith({ submitTimeout: 1 }, () => {})),
        await thrown(() => go(() => all.pool.submitWith({ submitTimeout: 1 }, () => {}))),
        await thrown(() => all.pool.submitWith({ signal: AbortSignal.timeout(1) }, () => {})));
    const third = all.pool.submit(() => 'third'), fourth = go(() => all.pool.run(() => 'fourth'));
    console.log('block', await finish(all, third.then((work) => work.wait()), fourth));
    console.log(all.pool.stats().idle, (await all.pool.submit(() => {})).pool === all.pool);
}

// A pipeline with back pressure: never more queued than the limit.
const narrow = new Pool({ concurrency: 2, maxQueued: 3, rejection: 'block' });
let most = 0, done = 0;
await go(() => {
    for (let i = 0; i < 200; i++) {
        narrow.submit(() => {
            sleep(0);
            done++;
        });
        most = Math.max(most, narrow.stats().queued);
    }
});
await narrow.wait();
console.log(most <= 5, done); // one that is about to begin counts, too

// ---- After others ----
const pool = new Pool({ concurrency: 4 }), order = [];
const step = (name, after, fn = () => sleep(1)) => pool.submitWith({ id: name, after }, () => {
    fn();
    order.push(name);
});
const last = step('d', ['b', 'c']); // of works to come
const c = step('c', ['a']), b = step('b', ['a']);
console.log(pool.stats().held, last.status);
step('a', []);
await last.wait();
console.log(order.splice(0).sort().join(''), order.length);
const chain = [step('0', [])];
for (let i = 1; i < 300; i++)
    chain.push(step(String(i), [chain[i - 1]], () => {}));
await chain.at(-1).wait();
console.log(order.length, order.every((name, i) => name === String(i)));
order.length = 0;
// A failure goes all the way down, with its cause.
const why = new Error('at the root');
const root = pool.submitWith({ id: 'root' }, () => {
    sleep(1);
    throw why;
});
const second = pool.submitWith({ after: [root, b] }, () => console.log('never')), third = pool.submitWith({ after: [second] }, () => console.log('never'));
for (const work of [second, third])
    console.log(await thrown(() => work.wait()), work.result.error.cause === why, work.result.attempts);
const late = pool.submitWith({ after: [root] }, () => console.log('never'));
console.log(await thrown(() => late.wait()), late.result.error.cause === why);
const stopped = pool.submit(() => gate.recv());
const behind = pool.submitWith({ after: [stopped] }, () => console.log('never'));
while (pool.stats().running === 0)
    await sleep(0);
stopped.forceStop();
console.log(await thrown(() => behind.wait()), behind.result.error.cause.status);
console.log(await thrown(() => pool.submitWith({ id: 'me', after: ['me'] }, () => {})));
const one = pool.submitWith({ id: 'one', after: ['two'] }, () => {});
console.log(await thrown(() => pool.submitWith({ id: 'two', after: ['one'] }, () => {})), one.cancel());
// What waits for somebody who never comes.
const lost = pool.submitWith({ after: ['nobody'] }, () => console.log('never'));
console.log(await thrown(() => pool.wait()), await thrown(() => go(() => pool.wait())), lost.cancel(), await pool.wait());
console.log(c.status, pool.stats().held);
