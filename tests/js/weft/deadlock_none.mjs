// What looks like a deadlock and is none: something else is alive, or somebody is on the way; and fibers that do not matter.
import { chan, go, select, sleep, wait } from 'weft:go';

const jobs = chan();
go.with({ background: true, name: 'worker' }, () => {
    for (const job of jobs)
        console.log('job', job);
});
chan().recv().then(() => console.log('never'));

// Only time that keeps nobody alive will end it.
const slow = { signal: AbortSignal.timeout(60) };
for (const what of [() => chan().recv(slow), () => select([{ recv: chan() }], slow), () => chan().recv({ timeout: 40 }),
    () => select([{ recv: chan() }, { after: 40 }]).index])
    console.log(await go(() => {
        try {
            return what();
        } catch (error) {
            return error.name === 'TimeoutError' ? error.name : error.code;
        }
    }));

// A wait of the loop, a timer of the loop, a promise of somebody else's.
const late = chan();
setTimeout(() => late.send('timer'), 40);
console.log(await go(() => late.recv()));
const sleeping = sleep(40).then(() => 'slept');
console.log(await go(() => wait(sleeping)));

// Always somebody on the way, and nobody else.
const left = chan(), right = chan();
const rounds = 3000;
go(() => {
    for (let i = 0; i < rounds; i++) {
        left.send(i);
        right.recv();
    }
});
let sum = 0;
await go(() => {
    for (let i = 0; i < rounds; i++) {
        sum += left.recv();
        right.send();
    }
});
console.log(sum);

// Listeners of the end find something to do, once.
let asked = 0;
process.on('beforeExit', () => {
    console.log('before', asked);
    if (asked++ === 0)
        jobs.send('of the end');
});
