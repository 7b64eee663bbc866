// SPDX-License-Identifier: MIT
// nanoid: short random names.
import { nanoid, customAlphabet, customRandom, urlAlphabet } from 'nanoid';
import { nanoid as weak } from 'nanoid/non-secure';

const names = Array.from({ length: 200 }, () => nanoid());
console.log(new Set(names).size, names.every((name) => /^[\w-]{21}$/.test(name)), nanoid(5).length, urlAlphabet.length);
console.log(/^[abc]{12}$/.test(customAlphabet('abc', 12)()), weak(10).length);
let seed = 0;
const fixed = customRandom('abcdef', 10, (size) => Uint8Array.from({ length: size }, () => seed++ % 256));
console.log(fixed(), fixed());
