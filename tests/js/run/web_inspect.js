// SPDX-License-Identifier: MIT
// What util.inspect prints of the web classes.
const { inspect } = require('node:util');
const log = (value, options) => console.log(inspect(value, options));
const url = new URL('http://u:p@h:8/p?q=1#f');
for (const value of [url, new URLSearchParams('a=b&c=d'), new URLSearchParams(), new AbortController(), AbortSignal.abort(1), new EventTarget(),
    performance.mark('b', { startTime: 1, detail: { x: 1 } }), performance.measure('c', { start: 1, end: 2 }), new TextDecoder(),
    new TextDecoder('utf-16le', { fatal: true }), new TextEncoder(), new URLSearchParams('a=b').entries(),
    new URLSearchParams('a=b&c=d').keys(), new URLSearchParams('a=b').values(),
    new URLSearchParams(`a=${'x'.repeat(50)}&b=${'y'.repeat(60)}`)]) {
    log(value);
}
class OwnTarget extends EventTarget {}
class OwnURL extends URL {}
log(new OwnTarget());
log(new OwnURL('http://h/'));
log({ a: { b: new URL('http://h/'), d: new AbortController(), e: new URLSearchParams('a=b') } });
log({ a: { b: { c: new URL('http://h/'), d: new AbortController(), e: new URLSearchParams('a=b'), f: new EventTarget() } } });
for (const value of [new Event('x'), url, new AbortController(), new URLSearchParams('a=b'), new TextDecoder(), new EventTarget()]) {
    log([value], { depth: 0 });
}
console.log(inspect(new Event('x')).replace(/[\d.]+/, 'N'));
console.log(inspect(new CustomEvent('x', { detail: 1 })).replace(/[\d.]+/, 'N'));
