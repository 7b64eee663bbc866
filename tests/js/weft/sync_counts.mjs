// Semaphores, wait groups, once, barriers: on fibers and beside them, and with those that give up.
import { Barrier, chan, go, Once, Semaphore, sleep, wait, WaitGroup } from 'weft:go';

async function thrown(what) {
    try {
        return `no error, but ${JSON.stringify(await what())}`;
    } catch (error) {
        return `${error.name} ${error.code ?? ''} ${error.message}`;
    }
}
const log = [];
const flush = (name) => console.log(name, log.splice(0).join(' '));
const settle = () => go(() => {}); // fibers that were started before have begun

// ---- Semaphores ----
const permits = new Semaphore(2);
console.log(permits.permits, permits.tryAcquire(), permits.tryAcquire(2), permits.permits);
permits.release();
// Who wants many is not overtaken.
const wishes = [];
for (const count of [1, 3, 1, 2]) {
    wishes.push(go(() => {
        permits.acquire(count);
        log.push(count);
    }));
    await settle();
}
flush('at once');
permits.release(2);
await wishes[1];
permits.release(2);
await wishes[2];
permits.release();
await wishes[3];
flush('in turn');
// Somebody in front gives up: those behind are next.
permits.release();
const many = thrown(() => permits.acquire(5, { timeout: 20 }));
const few = permits.acquire().then(() => 'few');
console.log(await many, await few, permits.permits);
const reason = new AbortController();
const aborted = thrown(() => go(() => permits.acquire(1, { signal: reason.signal })));
await settle();
reason.abort(new Error('enough'));
console.log(await aborted);
console.log(await thrown(() => permits.acquire(1, { signal: AbortSignal.abort(new Error('long ago')) })));
// At most so many at a time.
const three = new Semaphore(3);
let inside = 0, most = 0;
await Promise.all(Array.from({ length: 50 }, (_, i) => {
    const enter = () => {
        most = Math.max(most, ++inside);
    };
    return i % 2 ? go(() => three.run(() => {
        enter();
        sleep(1);
        inside--;
    })) : three.run(async () => {
        enter();
        await sleep(1);
        inside--;
    });
}));
console.log(most, inside, three.permits);
console.log(await thrown(() => go(() => three.run(() => {
    throw new Error('of the body');
}))), three.permits);
for (const wrong of [() => new Semaphore(-1), () => new Semaphore(1.5), () => new Semaphore('2'), () => three.acquire(0),
    () => three.release(0), () => three.release(2 ** 53), () => three.tryAcquire(-1), () => three.run(), () => three.acquire(NaN)])
    console.log(await thrown(wrong));
console.log(new Semaphore().permits);

// ---- Wait groups ----
const group = new WaitGroup();
await group.wait();
let total = 0;
for (let i = 0; i < 1000; i++)
    group.go((value) => {
        sleep(value % 3);
        total += value;
    }, i);
console.log(group.count, await go(() => group.wait({ timeout: 10000 })), total, group.count);
group.go(() => {
    throw new Error('it counts all the same');
}).catch((error) => log.push(error.message));
await group.wait();
flush('failed');
group.add(2);
console.log(await thrown(() => group.wait({ timeout: 1 })), await thrown(() => go(() => group.wait({ timeout: 1 }))));
const both = Promise.all([group.wait(), go(() => group.wait())]);
group.done();
group.add(-1);
console.log((await both).length, await thrown(() => group.done()), await thrown(() => group.add(0.5)));

// ---- Once ----
const once = new Once();
let calls = 0;
const load = () => {
    sleep(2);
    calls++;
    return 'loaded';
};
console.log((await Promise.all([go(() => once.run(load)), go(() => once.run(load)), once.run(load)])).join(), calls, once.done);
console.log(await once.run(load), await go(() => once.run(load)), calls);
const retried = new Once();
const attempts = Array.from({ length: 3 }, (_, i) => thrown(() => go(() => retried.run(() => {
    sleep(1);
    if (i === 0)
        throw new Error('the first one fails');
    return i;
}))));
const [first, ...others] = await Promise.all(attempts);
console.log(first, others[0] === others[1], retried.done);
const own = new Once();
console.log(await thrown(() => go(() => own.run(() => own.run(() => 1)))), own.done);
console.log(await own.run(async () => {
    await sleep(1);
    return 'later';
}), await go(() => own.run(load)), await thrown(() => own.run()));
const slow = new Once(), never = chan();
const slowly = go(() => slow.run(() => never.recv()));
await settle();
console.log(await thrown(() => go(() => slow.run(load, { timeout: 1 }))), await thrown(() => slow.run(load, { timeout: 1 })));
await never.send('at last');
console.log(await slowly, await slow.run(load));

// ---- Barriers ----
const barrier = new Barrier(3);
const rounds = await Promise.all(Array.from({ length: 3 }, (_, i) => (i === 1 ? (async () => {
    const list = [];
    for (let round = 0; round < 5; round++)
        list.push(await barrier.wait());
    return list;
})() : go(() => Array.from({ length: 5 }, () => barrier.wait())))));
console.log(Array.from({ length: 5 }, (_, round) => rounds.filter((list) => list[round]).length).join(), barrier.arrived);
console.log(await thrown(() => go(() => barrier.wait({ timeout: 1 }))), barrier.arrived, barrier.parties);
const waiting = [barrier.wait(), go(() => barrier.wait())];
await settle();
console.log(barrier.arrived, await barrier.wait(), (await Promise.all(waiting)).join());
console.log(await new Barrier(1).wait(), await thrown(() => new Barrier(0)), await thrown(() => new Barrier()));
console.log(await go(() => wait(thrown(() => go(() => barrier.wait({ signal: AbortSignal.abort() }))))));
