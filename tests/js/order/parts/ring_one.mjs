import { two } from './ring_two.mjs';
console.log(`one sees ${two()}`);
await null;
console.log('one after await');
export function one() { return 'one'; }
