// The end comes while works are in every state, and others wait for them: nothing hangs, nothing is printed.
import { current, Pool } from 'weft:pool';
import { chan, go, sleep } from 'weft:go';

const pool = new Pool({ concurrency: 5, onEvent: () => {} }), full = new Pool({ concurrency: 1, maxQueued: 1, rejection: 'block' });
const asleep = new Pool({ suspended: true, timeout: 1e6 });
const never = chan(), group = pool.group('all');
const loud = (fn) => () => {
    try {
        return fn();
    } finally {
        console.log('never');
    }
};
const works = [];
for (const fn of [loud(() => never.recv()), loud(() => sleep(1e6)), async () => sleep(1e6), loud(() => pool.run(() => never.recv())),
    () => go(() => never.recv())])
    works.push(pool.submitWith({ group, timeout: 1e6 }, fn));
for (let i = 0; i < 20; i++)
    works.push(pool.submitWith({ group, retry: 'requeue', deadline: 1e6 }, loud(() => never.recv())));
works.push(pool.submitWith({ after: works.slice(0, 3) }, () => console.log('never')));
works.push(asleep.submit(() => console.log('never')));
const paused = asleep.submit(() => current.pausePoint());
paused.pause();
for (let i = 0; i < 4; i++)
    full.submit(loud(() => never.recv()));
for (const work of works) {
    work.wait().finally(() => console.log('never'));
    go(loud(() => work.wait()));
}
pool.wait().finally(() => console.log('never'));
group.wait().finally(() => console.log('never'));
go(loud(() => pool.close()));
while (pool.stats().running < 5)
    await sleep(0);
works[1].forceStop(); // and it prints nothing any more
process.exit(8);
