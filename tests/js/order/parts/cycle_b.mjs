import { a, hoisted } from '../esm_cycle.mjs';
export let early;
try { early = a; } catch (error) { early = error.name; }
console.log(`b: ${hoisted()}`);
export const b = 'b';
export const seeA = () => a;
