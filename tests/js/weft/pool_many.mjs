// Thousands of works with random wishes, to which random things are done: each is over once, what it did is what was told, and
// nothing is left.
import { current, Pool } from 'weft:pool';
import { go, sleep } from 'weft:go';

const seed = Number(process.env.SEED ?? 424242);
process.stderr.write(`seed ${seed}\n`);
let state = seed;
const random = (n) => (state = state * 16807 % 2147483647) % n;
const pick = (list) => list[random(list.length)];

let broken = 0;
const check = (isGood) => {
    broken += !isGood;
};

async function round(options, count) {
    const pool = new Pool({ grace: 60000, ...options });
    const groups = [pool.group(), pool.group()];
    const works = [], runs = new Map(); // work -> how often it was run
    let inside = 0, refused = 0, told = 0;

    const bodies = [
        () => 'value',
        () => {
            throw new Error('on purpose');
        },
        () => sleep(random(3)),
        async () => {
            await sleep(random(2));
            return 'value';
        },
        () => {
            for (let i = 0; i < 5 && !current.stopPoint(); i++)
                sleep(1);
        },
        () => {
            current.pausePoint();
            sleep(0);
        },
        () => sleep(5 + random(20)),
    ];
    function body() {
        const work = current.work, attempt = current.attempt;
        runs.set(work, (runs.get(work) ?? 0) + 1);
        check(attempt === runs.get(work));
        check(!options.concurrency || options.rejection === 'caller-runs' || inside < options.concurrency);
        inside++;
        const fn = pick(bodies);
        let result;
        try {
            result = fn();
        } catch (error) {
            inside--;
            throw error;
        }
        if (!(result instanceof Promise)) {
            inside--;
            return result;
        }
        return result.finally(() => inside--);
    }
    async function submit() {
        const wish = {
            priority: random(5) - 2,
            retry: pick(['never', 'never', 'immediate', 'requeue']),
            maxRetries: 1 + random(3),
            group: pick([undefined, undefined, ...groups]),
            after: works.length && random(4) === 0 ? [pick(works)] : undefined,
            timeout: random(6) === 0 ? 1 + random(10) : undefined,
            timeoutAction: pick(['stop', 'force', 'tell']),
            deadline: random(10) === 0 ? 1 + random(20) : undefined,
        };
        try {
            const work = await pool.submitWith(wish, body);
            works.push(work);
            work.promise.catch(() => {}).finally(() => told++);
        } catch (error) {
            check(error.code === 'EAGAIN');
            refused++;
        }
    }

    const submitters = Array.from({ length: 4 }, async () => {
        for (let i = 0; i < count / 4; i++) {
            await submit();
            if (random(10) === 0)
                await sleep(random(3));
        }
    });
    let isOver = false;
    const disturber = go(() => {
        while (!isOver) {
            const work = works.length ? pick(works.slice(-50)) : undefined;
            switch (random(12)) {
            case 0: case 1: work?.cancel(); break;
            case 2: work?.stop(); break;
            case 3: work?.forceStop(); break;
            case 4: work?.pause(); break;
            case 5: work?.resume(); break;
            case 6: pick(groups)[pick(['cancel', 'stop', 'forceStop', 'pause', 'resume', 'resume'])](); break;
            case 7: pool.pause(); break;
            case 8: case 9: pool.resume(); break;
            default: sleep(random(2));
            }
        }
        groups.forEach((group) => group.resume());
        pool.resume();
    });
    await Promise.all(submitters);
    isOver = true;
    await disturber;
    await pool.wait();
    await Promise.allSettled(works.map((work) => work.wait()));
    await sleep(0);

    const stats = pool.stats();
    const count_ = (status) => works.filter((work) => work.status === status).length;
    check(works.length + refused === count);
    check(told === works.length);
    check(inside === 0);
    check(works.every((work) => work.status !== 'pending' && (runs.get(work) ?? 0) === work.result.attempts));
    check(works.every((work) => (work.status === 'succeeded') === (work.result.error === undefined)));
    check(stats.succeeded === count_('succeeded') && stats.failed === count_('failed') && stats.cancelled === count_('cancelled'));
    check(stats.stopped === count_('stopped') && stats.forceStopped === count_('force-stopped') && stats.timedOut === count_('timed-out'));
    check(stats.idle && stats.running === 0 && stats.queued === 0 && stats.held === 0 && pool.works.length === 0);
    check(groups.every((group) => group.works.length === 0));
    await pool.close();
    return [works.length + refused, broken];
}

const total = Number(process.env.WORKS ?? 600);
console.log('plain', ...await round({}, total));
console.log('limit', ...await round({ concurrency: 3 }, total));
console.log('abort', ...await round({ concurrency: 2, maxQueued: 20 }, total));
console.log('discard', ...await round({ concurrency: 2, maxQueued: 20, rejection: 'discard' }, total));
console.log('discard-queued', ...await round({ concurrency: 2, maxQueued: 20, rejection: 'discard-queued' }, total));
console.log('caller-runs', ...await round({ concurrency: 2, maxQueued: 5, rejection: 'caller-runs' }, total));
console.log('block', ...await round({ concurrency: 4, maxQueued: 5, rejection: 'block', discipline: 'lifo' }, total));
