// SPDX-License-Identifier: MIT
// ms: a CommonJS module, by import.
import ms from 'ms';

console.log(['2 days', '1d', '10h', '2.5 hrs', '1m', '5s', '1y', '100', '-3 days', 'x'].map((text) => String(ms(text))).join(' '));
console.log([60000, 2 * 60000, -3 * 60000, ms('10 hours'), 500].map((n) => `${ms(n)}=${ms(n, { long: true })}`).join(', '));
try {
    ms({});
} catch (error) {
    console.log(error.message);
}
