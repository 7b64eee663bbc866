import { name as other } from './graph_c.mjs';
console.log(`b ${other}`);
Promise.resolve().then(() => console.log('job of b'));
export const name = 'b';
