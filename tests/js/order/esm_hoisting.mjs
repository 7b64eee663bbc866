// Imports come before everything else of the module, wherever they are written.
console.log('main begins');
console.log(typeof later, before());
import { later } from './parts/hoisted.mjs';
function before() { return 'a function'; }
export default class { static name2 = (console.log('class body'), 'x'); }
export { before as renamed };
import * as self from './esm_hoisting.mjs';
console.log(Object.keys(self).join(), self.default.name);
console.log(this === undefined, typeof import.meta.url);
