// Limits of time: of works, of pools, with all that can follow; deadlines that count from the submit; what is told.
import { current, Pool } from 'weft:pool';
import { chan, sleep } from 'weft:go';

async function thrown(what) {
    try {
        return `no error, but ${String(await what())}`;
    } catch (error) {
        return `${error.name} ${error.status ?? ''} ${error.code ?? ''} ${error.message}`;
    }
}
const never = chan();
const pool = new Pool({ concurrency: 2 });
const forever = () => never.recv();
const heed = () => {
    while (!current.stopPoint())
        sleep(1);
};

console.log('force', await thrown(() => pool.runWith({ timeout: 5, timeoutAction: 'force' }, forever)));
console.log('stop', await thrown(() => pool.runWith({ timeout: 5 }, heed)));
console.log('in time', await thrown(() => pool.runWith({ timeout: 1e6 }, () => 'done')));
console.log('only told', await thrown(() => pool.runWith({ timeout: 1, timeoutAction: 'tell' }, () => {
    sleep(10);
    return 'done';
})));
// From its first start, over all attempts.
console.log('attempts', await thrown(() => pool.runWith({ timeout: 60, timeoutAction: 'force', retry: 'requeue', maxRetries: Infinity }, () => {
    sleep(1);
    throw new Error('again');
})));
// From its submit, whether it begins or not.
const one = new Pool({ concurrency: 1 });
const first = one.submit(forever), waiting = one.submitWith({ deadline: 5 }, () => console.log('never'));
console.log('deadline, queued', await thrown(() => waiting.wait()), waiting.result.attempts, first.status);
console.log('deadline, held', await thrown(() => one.runWith({ deadline: 5, after: ['nobody'] }, () => console.log('never'))));
first.forceStop();
console.log('deadline, running', await thrown(() => one.runWith({ deadline: 5, timeoutAction: 'force' }, forever)));

// Of all works of a pool, and of the pool.
const strict = new Pool({ workTimeout: 5, workTimeoutAction: 'force' });
console.log('all works', await thrown(() => strict.run(forever)), await thrown(() => strict.runWith({ timeout: 1e6 }, () => 'has its own')));
const brief = new Pool({ timeout: 200, timeoutAction: 'force', concurrency: 1 });
const cut = [brief.submit(forever), brief.submit(forever)];
console.log('pool', (await Promise.all(cut.map((work) => thrown(() => work.wait())))).join(' | '));
await brief.wait();
console.log('again', await brief.run(() => 'in the next generation'));

// A work that does not come back is given up: it is over, though its function is not.
const hasty = new Pool({ concurrency: 1, grace: 1 });
const release = chan();
let came = 'not yet';
const deaf = hasty.submit(() => {
    for (;;)
        try {
            release.recv();
            break;
        } catch {
            const end = Date.now() + 300;
            while (Date.now() < end); // nobody else runs meanwhile
            break;
        }
    came = 'back';
    return 'too late';
});
while (hasty.stats().running === 0)
    await sleep(0);
deaf.forceStop();
console.log('given up', await thrown(() => deaf.wait()), came !== undefined, await hasty.run(() => 'the next one'), came);

// What is told.
const told = [];
const loud = new Pool({ concurrency: 1, name: 'loud', onEvent: ({ type, work, status }) => told.push(`${type}${work?.id ? ` ${work.id}` : ''}${status === 'pending' ? '' : ` ${status}`}`) });
await loud.runWith({ id: 'good' }, () => {});
await thrown(() => loud.runWith({ id: 'bad' }, () => {
    throw new Error('bad');
}));
await thrown(() => loud.runWith({ id: 'late', timeout: 2, timeoutAction: 'force' }, forever));
await loud.wait();
console.log([...new Set(told.filter((text) => !text.startsWith('running')))].sort().join('\n'));
const ticks = chan(1);
const ticking = new Pool({ tick: 1, onEvent: ({ type }) => type === 'tick' && ticks.length === 0 && ticks.send(type) });
const work = ticking.submit(forever);
console.log(await ticks.recv(), await ticks.recv());
work.forceStop();
await thrown(() => work.wait());
