// Thousands of fibers and promises at locks, of which many give up; what they have counted is all there, and nothing stays locked.
import { Barrier, Cond, go, Mutex, RWLock, Semaphore, sleep, WaitGroup } from 'weft:go';

const seed = Number(process.env.SEED ?? 20240229);
process.stderr.write(`seed ${seed}\n`);
let state = seed;
const random = (n) => (state = state * 16807 % 2147483647) % n;

const mutex = new Mutex(), lock = new RWLock(), permits = new Semaphore(5), changed = new Cond(), group = new WaitGroup();
let inside = 0, writers = 0, readers = 0, held = 0, done = 0, gaveUp = 0, broken = 0;
const check = (isGood) => {
    broken += !isGood;
};

const works = [
    (options) => mutex.run(() => {
        check(++inside === 1);
        if (random(20) === 0)
            sleep(0);
        inside--;
    }, options),
    (options) => lock.runWrite(() => {
        check(++writers === 1 && readers === 0);
        sleep(0);
        writers--;
    }, options),
    (options) => lock.runRead(() => {
        readers++;
        check(writers === 0);
        sleep(0);
        readers--;
    }, options),
    (options) => {
        const count = 1 + random(5);
        permits.acquire(count, options);
        held += count;
        check(held <= 5);
        sleep(0);
        held -= count;
        permits.release(count);
    },
    () => mutex.run(() => {
        try {
            changed.wait(mutex, { timeout: random(3) });
        } finally {
            check(++inside === 1);
            inside--;
        }
    }),
    () => changed.signal(),
];
const limits = [undefined, undefined, { timeout: 1 }, () => ({ signal: AbortSignal.timeout(random(3)) })];
for (let i = 0; i < 3000; i++)
    group.go(() => {
        const limit = limits[random(limits.length)];
        try {
            works[random(works.length)](typeof limit === 'function' ? limit() : limit);
            done++;
        } catch (error) {
            if (error.code !== 'ETIMEDOUT' && error.name !== 'TimeoutError')
                throw error;
            gaveUp++;
        }
    });
await group.wait();
console.log(done + gaveUp, broken, inside, writers, readers, held, permits.permits, mutex.locked, lock.readers, lock.writing);

// All meet at one place, again and again.
const barrier = new Barrier(500);
let last = 0;
await Promise.all(Array.from({ length: 500 }, (_, i) => go(() => {
    for (let round = 0; round < 4; round++) {
        if (i % 7 === 0)
            sleep(0);
        const isLast = barrier.wait();
        last += isLast;
    }
})));
console.log(last, barrier.arrived);
