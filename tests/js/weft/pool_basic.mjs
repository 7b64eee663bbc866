// Works: results, errors, waits of all kinds, order, retries, what a work knows about itself; bad arguments.
import { current, Pool, Work, WorkError, WorkGroup } from 'weft:pool';
import { chan, go, select, sleep, wait } from 'weft:go';

async function thrown(what) {
    try {
        return `no error, but ${String(await what())}`;
    } catch (error) {
        return error instanceof Error ? `${error.name} ${error.code ?? ''} ${error.message}` : `thrown ${String(error)}`;
    }
}

const pool = new Pool({ name: 'works', concurrency: 4 });
console.log(pool.name, pool.stats().idle, current.work, current.attempt, current.stopping, current.stopPoint(), current.pausePoint());
const work = pool.submit((a, b) => {
    sleep(1);
    return a + b;
}, 1, 2);
console.log(work instanceof Work, work.status, work.result, work.id, work.pool === pool, pool.works.length);
const waits = [work.wait(), go(() => work.wait()), work.promise, go(() => wait(work.promise)), work.wait({ timeout: 1e6 }),
    select([{ recv: chan() }, { work }]).then(({ value }) => value), go(() => select([{ work }]).value)];
console.log((await Promise.all(waits)).join(), work.status, work.result.value, work.result.attempts, pool.works.length);
console.log(await work.wait(), await go(() => work.wait()), await work.promise, (await select([{ work }])).value);

// Functions that wait as fibers do, or are async; that throw anything.
console.log(await pool.run(() => 'at once'), await pool.run(async (x) => {
    await sleep(1);
    return x;
}, 'later'), await go(() => pool.run(() => 'from a fiber')));
const why = new RangeError('why');
for (const fn of [() => {
    throw why;
}, async () => {
    await null;
    throw why;
}])
    for (const run of [() => pool.run(fn), () => go(() => pool.run(fn)), () => pool.submit(fn).promise, () => select([{ work: pool.submit(fn) }])])
        console.log(await run().catch((error) => error === why));
console.log(await thrown(() => pool.run(() => {
    throw undefined;
})), await thrown(() => pool.run(() => {
    throw 'a text';
})));
const failed = pool.submit(() => {
    throw why;
});
await pool.wait();
console.log(failed.status, failed.result.error === why, failed.result.value, failed.cancel(), failed.stop(), failed.pause());

// In the order in which they came, but higher priorities first, however they were submitted.
const one = new Pool({ concurrency: 1 }), order = [];
const gate = chan();
const first = one.submit(() => gate.recv());
while (one.stats().running === 0)
    await sleep(0);
for (const [name, priority] of [['a', 0], ['b', -1], ['c', 5], ['d', 0], ['e', 5]])
    one.submitWith({ priority }, () => order.push(name));
console.log(one.stats().queued, one.stats().running, one.works.length, first.status);
await gate.send('go');
await one.wait();
console.log(order.splice(0).join(''), await first.wait());
const last = new Pool({ concurrency: 1, discipline: 'lifo' });
last.submit(() => gate.recv());
while (last.stats().running === 0)
    await sleep(0);
for (const name of 'abc')
    last.submit(() => order.push(name));
await gate.send('go');
await last.wait();
console.log(order.splice(0).join(''));
const asleep = new Pool({ suspended: true });
const early = Array.from('abc', (name) => asleep.submit(() => order.push(name)));
console.log(asleep.stats().suspended, asleep.stats().held, early[1].cancel(), asleep.start(), asleep.start());
await asleep.wait();
console.log(order.splice(0).join(''), early.map((each) => each.status).join());

// At most so many at a time, although all of them wait.
let inside = 0, most = 0;
await Promise.all(Array.from({ length: 40 }, (_, i) => pool.run(async () => {
    most = Math.max(most, ++inside);
    await sleep(i % 3);
    inside--;
})));
console.log(most, inside);

// Again and again.
for (const retry of ['never', 'immediate', 'requeue']) {
    let runs = 0;
    const attempts = [];
    const result = pool.submitWith({ retry, maxRetries: 3 }, () => {
        attempts.push(current.attempt);
        if (++runs < 3)
            throw new Error(`run ${runs}`);
        return 'done';
    });
    console.log(retry, await thrown(() => result.wait()), attempts.join(), result.result.attempts);
}
let tries = 0;
console.log(await thrown(() => pool.runWith({ retry: 'requeue', maxRetries: Infinity }, () => {
    if (++tries === 20)
        current.work.stopRetry();
    throw new Error(`try ${tries}`);
})), await thrown(() => pool.runWith({ retry: 'immediate' }, () => {
    throw new Error('by default three more');
})), pool.stats().retried);

// What it knows about itself.
const same = await pool.run(function () {
    return [current.work.status, current.attempt, current.stopping, current.stopPoint(), this];
});
console.log(same.join());
const selfish = pool.submit(() => thrown(() => current.work.wait()));
console.log(await selfish.wait());
console.log(await pool.run(() => thrown(() => pool.wait())));
console.log(await pool.run(() => pool.run(() => pool.run(() => 'inside each other'))));
console.log(await pool.run(() => wait(go(() => current.work === undefined))));

// Ids.
const named = one.submitWith({ id: 'mine' }, () => gate.recv());
console.log(named.id, one.find('mine') === named, one.find('other'), one.find(1), await thrown(() => one.submitWith({ id: 'mine' }, () => {})));
await gate.send();
await named.wait();
console.log(one.find('mine'), await one.runWith({ id: 'mine' }, () => 'again'), await one.runWith({ id: 7 }, () => one.find(7) === current.work));

await pool.wait();
const { idle, submitted, succeeded, failed: failures, running, queued, held } = pool.stats();
console.log(idle, submitted === succeeded + failures, running, queued, held);
const measured = new Pool({ measure: true });
const slow = measured.submit(() => sleep(2));
await slow.wait();
await measured.wait();
console.log(slow.result.submitted <= slow.result.started, slow.result.started < slow.result.ended, measured.stats().runTime > 0);

for (const wrong of [() => new Work(), () => new WorkGroup(), () => pool.submit(), () => pool.submitWith({ priority: 0.5 }, () => {}),
    () => pool.submitWith({ id: '' }, () => {}), () => pool.submitWith({ id: 0 }, () => {}), () => pool.submitWith({ retry: 'often' }, () => {}),
    () => pool.submitWith({ maxRetries: 0 }, () => {}), () => pool.submitWith({ timeout: -1 }, () => {}),
    () => pool.submitWith({ deadline: 'x' }, () => {}), () => pool.submitWith({ timeoutAction: 'no' }, () => {}),
    () => pool.submitWith({ after: [{}] }, () => {}), () => pool.submitWith({ after: 5 }, () => {}), () => pool.submitWith({ group: {} }, () => {}),
    () => pool.submitWith({ signal: {} }, () => {}), () => new Pool({ concurrency: 0 }), () => new Pool({ concurrency: 1.5 }),
    () => new Pool({ maxQueued: -1 }), () => new Pool({ rejection: 'no' }), () => new Pool({ discipline: 'no' }), () => new Pool({ timeout: 0 }),
    () => new Pool({ grace: 0 }), () => new Pool({ onEvent: 5 }), () => pool.find(''), () => select([{ work: {} }]),
    () => pool.submitWith({ after: [new Pool().submit(() => {})] }, () => {}), () => pool.wait({ timeout: -1 })])
    console.log(await thrown(wrong));
console.log(new WorkError('failed', 'text', 'CODE') instanceof Error);

// The end.
await pool.close();
console.log(pool.stats().disposed, await thrown(() => pool.submit(() => {})), await pool.close(), await pool.dispose());
{
    await using brief = new Pool();
    brief.submit(() => sleep(1)).promise.then(() => console.log('before the end'));
}
console.log('the end');
