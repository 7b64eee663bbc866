// A work that waits for one that cannot begin, because the first has the only place, is a deadlock.
import { Pool } from 'weft:pool';
import { chan, sleep } from 'weft:go';

const pool = new Pool({ concurrency: 1, name: 'small' });
const answer = chan();
pool.submit(() => {
    sleep(30);
    console.log('asks');
    return answer.recv();
});
pool.submit(() => answer.send('never'));
// And so is one that its submitter has to run, and that waits for the submitter.
const full = new Pool({ concurrency: 1, maxQueued: 1, rejection: 'caller-runs' });
for (let i = 0; i < 3; i++)
    full.submit(() => chan().recv());
