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
