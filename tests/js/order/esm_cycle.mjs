// A cycle: functions are there at once, variables not yet.
import { b, early } from './parts/cycle_b.mjs';
export function hoisted() { return 'a function of a'; }
export let a = 'a';
export const setA = (value) => { a = value; };
console.log(`main sees ${b} ${early}`);
setA('changed');
console.log((await import('./parts/cycle_b.mjs')).seeA());
