import { ready } from './late_shared.mjs';
console.log(`b ${ready}`);
await new Promise((resolve) => setTimeout(resolve, 60));
console.log('b ends');
