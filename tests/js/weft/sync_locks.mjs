// Locks: order, holders, what gives up, holds that a block ends; on fibers and beside them.
import { chan, Cond, go, Mutex, RWLock, sleep, wait } from 'weft:go';

async function thrown(what) {
    try {
        return `no error, but ${JSON.stringify(await what())}`;
    } catch (error) {
        return `${error.name} ${error.code ?? ''} ${error.message}`;
    }
}
const log = [];
const flush = (name) => console.log(name, log.splice(0).join(' '));

// First come, first served, fibers and promises alike, though each of them waits with the lock.
const mutex = new Mutex();
await mutex.lock();
console.log(mutex.locked, mutex.tryLock());
const all = [];
for (let i = 0; i < 20; i++) {
    const turn = () => log.push(i);
    all.push(i % 3 === 0 ? mutex.run(async () => {
        turn();
        await sleep(1);
    }) : go(() => mutex.run(() => {
        turn();
        sleep(1);
    })));
    await go(() => {}); // the fiber before has begun
}
mutex.unlock();
await Promise.all(all);
flush('order');
console.log(mutex.locked);

// Only the holder unlocks.
console.log(await thrown(() => mutex.unlock()));
console.log(await thrown(() => go(() => mutex.unlock())));
await mutex.lock();
console.log(await thrown(() => go(() => mutex.unlock())));
mutex.unlock();
await go(() => {
    mutex.lock();
    console.log(mutex.tryLock());
    try {
        mutex.lock();
    } catch (error) {
        console.log(error.code);
    }
    console.log(wait(thrown(() => go(() => mutex.unlock()))));
    console.log(wait(thrown(() => go(() => mutex.lock({ timeout: 1 })))));
    console.log(wait(thrown(() => go(() => mutex.lock({ signal: AbortSignal.timeout(1) })))));
    mutex.unlock();
});
console.log(await thrown(() => mutex.run()), await thrown(() => mutex.lock({ timeout: 'x' })));

// Errors, and ends of blocks, release.
console.log(await thrown(() => mutex.run(() => {
    throw new Error('of the body');
})), mutex.locked);
console.log(await thrown(() => go(() => mutex.run(() => {
    throw new Error('of the body');
}))), mutex.locked);
console.log(await go(() => mutex.run(async () => {
    await null;
    return mutex.locked;
})), mutex.locked);
await go(() => {
    using held = mutex.hold();
    console.log(mutex.locked);
});
{
    using held = await mutex.hold();
    console.log(mutex.locked);
    held.release();
    held.release();
    console.log(mutex.locked);
}
// A hold may be given on.
const held = await go(() => mutex.hold());
console.log(mutex.locked);
held.release();
console.log(mutex.locked);

// Whoever gives up does not get it, and does not keep it from others.
await mutex.lock();
const controller = new AbortController();
const impatient = go(() => mutex.lock({ signal: controller.signal }));
const patient = go(() => mutex.run(() => 'patient'));
await go(() => {});
controller.abort(new Error('enough'));
console.log(await thrown(() => impatient));
mutex.unlock();
console.log(await patient, mutex.locked);
// A cancelled fiber, too.
await mutex.lock();
const cancelled = new AbortController();
const stuck = go.with({ signal: cancelled.signal }, () => mutex.run(() => 'never'));
await go(() => {});
cancelled.abort();
console.log(await thrown(() => stuck));
mutex.unlock();
console.log(mutex.locked);

// ---- Readers and writers ----
const lock = new RWLock();
await go(() => lock.read());
console.log(lock.readers, lock.writing, await thrown(() => lock.unlock()));
const other = new RWLock();
await other.read();
await other.read();
const order = [];
// Two who are let in together may come in either order.
for (const [name, kind] of [['w1', 'runWrite'], ['r', 'runRead'], ['r', 'runRead'], ['w2', 'runWrite'], ['r3', 'runRead']]) {
    order.push(go(() => other[kind](() => {
        log.push(name, `${other.readers}${other.writing ? 'w' : ''}`);
        sleep(1);
    })));
    await go(() => {});
}
other.unlock();
console.log(other.readers);
other.unlock();
await Promise.all(order);
flush('readers and writers');
console.log(other.readers, other.writing, await thrown(() => other.unlock()));
// A writer that gives up lets those behind it through.
await other.read();
const writer = thrown(() => other.write({ timeout: 20 }));
const behind = other.read().then(() => 'behind');
console.log(await writer, await behind, other.readers);
other.unlock();
other.unlock();
await go(() => {
    other.write();
    for (const kind of ['read', 'write'])
        try {
            other[kind]();
        } catch (error) {
            log.push(error.code);
        }
    other.unlock();
    other.read();
    try {
        other.write();
    } catch (error) {
        log.push(error.code);
    }
    other.unlock();
    {
        using one = other.holdRead(), two = other.holdRead();
        log.push(other.readers);
    }
    using three = other.holdWrite();
    log.push(other.writing);
});
flush('itself');
console.log(other.readers, other.writing, await other.runRead(() => 'read'), await other.runWrite(async () => 'written'));

// ---- Conditions ----
const guard = new Mutex(), changed = new Cond();
let ready = 0;
const waiting = [];
for (let i = 0; i < 4; i++) {
    waiting.push(i < 3 ? go(() => guard.run(() => {
        while (ready === 0)
            changed.wait(guard);
        ready--;
        log.push(i);
    })) : guard.run(async () => {
        while (ready === 0)
            await changed.wait(guard);
        ready--;
        log.push(i);
    }));
    await go(() => {});
}
console.log(changed.signal()); // which is none yet
await guard.run(() => {
    ready = 4;
    changed.broadcast();
});
await Promise.all(waiting);
console.log(log.splice(0).sort().join(' '), changed.signal(), changed.broadcast());
console.log(await thrown(() => changed.wait(guard)), await thrown(() => changed.wait()));
await go(() => guard.run(() => {
    for (const options of [{ timeout: 1 }, { signal: AbortSignal.abort(new Error('long ago')) }, { timeout: -1 }])
        try {
            changed.wait(guard, options);
        } catch (error) {
            log.push(error.code ?? error.message, guard.locked);
        }
}));
flush('gives up');
console.log(guard.locked);
await guard.lock();
console.log(await thrown(() => changed.wait(guard, { timeout: 1 })), guard.locked);
guard.unlock();
// A cancelled fiber gets the mutex back first, however long that takes.
const end = new AbortController(), done = chan();
const quitter = go.with({ signal: end.signal }, () => guard.run(() => {
    try {
        changed.wait(guard);
    } finally {
        log.push('has it', guard.locked);
    }
}));
await go(() => {});
await go(() => guard.run(() => {
    end.abort(new Error('enough'));
    sleep(5);
    log.push('gives it');
}));
console.log(await thrown(() => quitter));
flush('quitter');
console.log(guard.locked);
