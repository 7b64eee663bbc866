// Works that wait for somebody who never comes, or for a start that never comes, are a deadlock, too; a pool that is idle is none.
import { Pool } from 'weft:pool';

const idle = new Pool();
await idle.run(() => console.log('runs'));
const pool = new Pool();
pool.submitWith({ after: ['nobody'] }, () => console.log('never'));
new Pool({ suspended: true }).submit(() => console.log('never'));
