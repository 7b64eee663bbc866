// An id is free as soon as whoever waits for its work goes on, however the threads run.
import { Pool } from 'weft:pool';

const pool = new Pool({ concurrency: 2 });
let sum = 0;
for (let i = 0; i < 3000; i++)
    sum += await pool.runWith({ id: 'same' }, () => i);
console.log(sum, pool.find('same'));
