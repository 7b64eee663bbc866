// Thousands of fibers at thousands of events, completed at random, of which each is told once and rightly.
import { EventSystem } from 'weft:events';
import { go, select, sleep } from 'weft:go';

const seed = Number(process.env.SEED ?? 7654321);
process.stderr.write(`seed ${seed}\n`);
let state = seed;
const random = (n) => (state = state * 16807 % 2147483647) % n;

const system = new EventSystem();
const events = Array.from({ length: 1000 }, () => system.create());
const verdicts = new Map(); // event -> undefined or the reason
let told = 0, gaveUp = 0, broken = 0;

function check(event, error) {
    if (error?.code === 'ETIMEDOUT' || error?.name === 'TimeoutError') {
        gaveUp++;
        return;
    }
    told++;
    broken += !verdicts.has(event) || verdicts.get(event) !== error;
}

const ways = [
    (event) => event.wait(),
    (event) => event.wait({ timeout: random(20) }),
    (event) => event.wait({ signal: AbortSignal.timeout(random(20)) }),
    (event) => select([{ event }]),
    (event) => select([{ event }, { event: system.create() }], { timeout: 100000 }),
];
const waiters = Array.from({ length: 3000 }, () => {
    const event = events[random(events.length)], way = ways[random(ways.length)];
    const wait = random(3) === 0 ? (async () => way(event))() : go(way, event);
    return wait.then(() => check(event, undefined), (error) => check(event, error));
});
const completers = Array.from({ length: 20 }, () => go(() => {
    for (let i = 0; i < 200; i++) {
        const event = events[random(events.length)];
        const reason = random(2) ? undefined : new Error(`reason ${i}`);
        const wasPending = event.status === 'pending';
        const isFirst = reason ? event.poison(reason) : event.trigger();
        if (isFirst !== wasPending)
            broken++;
        if (isFirst)
            verdicts.set(event, reason);
        if (random(10) === 0)
            sleep(random(3));
    }
}));
await Promise.all(completers);
for (const event of events)
    if (event.trigger())
        verdicts.set(event, undefined);
await Promise.all(waiters);
const { created, triggered, poisoned } = system.stats();
console.log(told + gaveUp, broken, verdicts.size, triggered + poisoned, created >= 1000);
console.log(events.every((event) => (verdicts.get(event) ? event.reason === verdicts.get(event) : event.status === 'ready')));
