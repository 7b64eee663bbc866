// Cancelling, stopping, pausing: in every state of a work; of groups, of the whole pool.
import { current, Pool } from 'weft:pool';
import { chan, go, sleep } from 'weft:go';

async function thrown(what) {
    try {
        return `no error, but ${String(await what())}`;
    } catch (error) {
        return `${error.name} ${error.status ?? ''} ${error.code ?? ''} ${error.message}`;
    }
}
const until = async (condition) => {
    while (!condition())
        await sleep(0);
};
const gate = chan(), log = [];
const flush = (name) => console.log(name, log.splice(0).join(' '));
const stay = () => {
    log.push('begins');
    try {
        return gate.recv();
    } catch (error) {
        log.push(error.code);
        throw error;
    } finally {
        log.push('ends');
    }
};
const heed = () => {
    log.push('begins');
    while (!current.stopPoint())
        sleep(1);
    log.push('heeds', current.stopping);
    return 'unused';
};

const pool = new Pool({ concurrency: 1 });
// Held, queued, running, over.
const running = pool.submit(stay);
await until(() => pool.stats().running === 1);
const queued = pool.submit(stay), held = pool.submitWith({ after: [queued] }, stay);
console.log(queued.cancel(), queued.cancel(), await thrown(() => queued.wait()), '|', await thrown(() => held.wait()));
const cut = pool.submitWith({ after: [running] }, stay);
console.log(cut.cancel(), await thrown(() => cut.wait()), running.cancel());
await gate.send('value');
console.log(await running.wait(), running.cancel(), running.stop(), running.forceStop(), running.pause(), running.resume());
flush('cancel');

// Stopping: of one that has not begun, of one that looks, of one that does not, of one that says no.
const busy = pool.submit(stay);
await until(() => pool.stats().running === 1);
const waiting = pool.submit(stay);
console.log(waiting.stop(), waiting.status, busy.stop(), busy.stop());
await gate.send('it does not look');
console.log(await thrown(() => busy.wait()), '|', await thrown(() => waiting.wait()));
flush('stop');
const looking = pool.submit(heed);
await until(() => log.includes('begins'));
console.log(looking.stop(), await thrown(() => looking.wait()));
flush('heeds');
const stubborn = pool.submit(() => {
    let asked = 0;
    while (asked < 2) {
        current.stopPoint(() => {
            asked++;
            return false;
        });
        sleep(1);
    }
    return 'said no twice';
});
await until(() => pool.stats().running === 1);
console.log(stubborn.stop());
await until(() => stubborn.stop() || stubborn.status !== 'pending');
console.log(await thrown(() => stubborn.wait()));

// By force: its waits are errors; it may clean up, and even succeed.
const forced = pool.submit(stay);
await until(() => log.includes('begins'));
console.log(forced.forceStop(), forced.forceStop(), await thrown(() => forced.wait()), forced.result.error.cause?.code);
flush('force');
const survivor = pool.submit(() => {
    try {
        gate.recv();
    } catch {
        return 'survived';
    }
});
await until(() => pool.stats().running === 1);
console.log(survivor.forceStop(), await thrown(() => survivor.wait()), survivor.status);
const asynchronous = pool.submit(() => gate.recv({ timeout: 1e6 }));
await until(() => pool.stats().running === 1);
console.log(asynchronous.forceStop(), await thrown(() => asynchronous.wait()));

// Pauses.
const pausing = pool.submit(() => {
    for (let i = 0; i < 3; i++) {
        current.pausePoint();
        log.push(i);
        sleep(1);
    }
});
console.log(pausing.pause(), pausing.pause());
await until(() => pool.stats().running === 1);
await sleep(5);
flush('paused');
console.log(pausing.resume(), pausing.resume(), await thrown(() => pausing.wait()));
flush('resumed');
console.log(pool.pause(), pool.stats().paused);
const allPaused = pool.submit(() => {
    current.pausePoint();
    return 'goes on';
});
await until(() => pool.stats().running === 1);
console.log(pool.resume(), pool.resume(), await allPaused.wait(), pool.stats().paused);
const shaken = pool.submit(() => {
    try {
        current.pausePoint();
    } finally {
        log.push('out of the pause');
    }
});
shaken.pause();
await until(() => pool.stats().running === 1);
console.log(shaken.forceStop(), await thrown(() => shaken.wait()));
flush('shaken');

// The whole pool.
const some = Array.from({ length: 5 }, () => pool.submit(stay));
await until(() => pool.stats().running === 1);
console.log(pool.cancel(), pool.cancel());
await gate.send('last');
console.log((await Promise.allSettled(some.map((work) => work.wait()))).map(({ status }) => status).join());
flush('pool cancel');
console.log(pool.stop(), pool.forceStop());
const others = Array.from({ length: 3 }, () => pool.submit(heed));
await until(() => log.includes('begins'));
console.log(pool.stop(), pool.stop(), pool.stats().stopping);
const later = pool.submit(() => 'after the stop');
console.log((await Promise.all(others.map((work) => thrown(() => work.wait())))).join(' | '), await later.wait(), pool.stats().stopping);
flush('pool stop');
const last = [pool.submit(stay), pool.submit(stay)];
await until(() => log.includes('begins'));
console.log(pool.forceStop(), (await Promise.all(last.map((work) => thrown(() => work.wait())))).join(' | '));
flush('pool force');

// Groups.
const wide = new Pool({ concurrency: 10 });
const parent = wide.group('parent'), child = wide.group();
console.log(parent.name, child.name, parent.join(child), parent.join(child), await thrown(() => child.join(parent)),
    await thrown(() => parent.join(parent)), await thrown(() => wide.group('parent')));
const above = wide.submitWith({ group: parent }, stay), below = wide.submitWith({ group: child }, stay), outside = wide.submit(stay);
await until(() => wide.stats().running === 3);
console.log(parent.works.length, child.works[0] === below, parent.add(outside), parent.add(outside), parent.remove(outside), parent.remove(outside));
const gone = [parent.wait(), go(() => parent.wait())];
console.log(await thrown(() => parent.wait({ timeout: 1 })), parent.forceStop(), (await Promise.all(gone)).length);
console.log(await thrown(() => above.wait()), '|', await thrown(() => below.wait()), outside.status, parent.works.length);
await gate.send('outside');
console.log(await outside.wait(), parent.part(child), parent.part(child), await parent.wait());
const paused = wide.group('paused');
console.log(paused.pause());
const member = wide.submitWith({ group: paused }, () => {
    current.pausePoint();
    return 'a member';
});
await until(() => wide.stats().running === 1);
console.log(member.status, paused.resume(), await member.wait(), paused.cancel(), paused.stop());
console.log(await thrown(() => paused.add({})), await thrown(() => pool.submitWith({ group: paused }, () => {})), await thrown(() => wide.group('')));
const inner = wide.submitWith({ group: paused }, () => thrown(() => paused.wait()));
console.log(await inner.wait());

// Signals end waits, not works.
const controller = new AbortController();
const slow = wide.submit(stay);
const ends = [slow.wait({ signal: controller.signal }), go(() => slow.wait({ signal: controller.signal })),
    wide.wait({ signal: controller.signal }), go(() => wide.wait({ signal: controller.signal }))].map((promise) => thrown(() => promise));
await until(() => wide.stats().running === 1);
await go(() => {});
controller.abort(new Error('enough'));
console.log((await Promise.all(ends)).join(), slow.status, await thrown(() => wide.wait({ timeout: 1 })));
log.length = 0;

// The end: nothing more is taken, but from works of its own; what has begun may end, or has to.
const draining = go(() => wide.drain());
await until(() => wide.stats().running === 1);
await go(() => {});
console.log(await thrown(() => wide.submit(stay)), await thrown(() => wide.drain({ timeout: 1 })));
const inside = wide.works[0];
await gate.send('drained');
console.log(await inside.wait(), await draining, wide.stats().idle, await thrown(() => wide.submit(stay)));
const own = new Pool({ concurrency: 2 });
const family = own.submit(() => {
    sleep(1);
    return own.run(() => 'a child');
});
const closing = own.close();
console.log(await family.wait(), await closing, own.stats().disposed);
const hard = new Pool({ concurrency: 1 });
const cuts = [hard.submit(stay), hard.submit(stay)];
await until(() => hard.stats().running === 1);
console.log(await thrown(() => hard.close({ timeout: 1 })), await hard.dispose(), (await Promise.all(cuts.map((work) => thrown(() => work.wait())))).join(' | '));
console.log(hard.stats().disposed, await thrown(() => hard.submit(stay)), hard.start(), hard.cancel(), hard.stop());
const alone = new Pool();
console.log(await alone.run(() => thrown(() => alone.dispose())), await go(() => alone.dispose()));
