import { one } from './ring_one.mjs';
console.log(`two sees ${one()}`);
await null;
console.log('two after await');
export function two() { return 'two'; }
