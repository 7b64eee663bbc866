import { ready } from './late_shared.mjs';
console.log(`a ${ready}`);
await new Promise((resolve) => setTimeout(resolve, 5));
console.log('a ends');
