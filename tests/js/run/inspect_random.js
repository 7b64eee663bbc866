// SPDX-License-Identifier: MIT
// Values made at random, always the same ones, with options at random.
const util = require('util');
let seed = 12345;
const rnd = (n) => { seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff; return (seed >> 8) % n; };
const WORDS = ['a', 'bc', 'foo-bar', 'x y', 'über', '日本', 'it\'s', '"q"', '\n', 'long'.repeat(5), 'e\u0301',
    '😀', '', '\x1b[1m', '`${'];
const word = () => WORDS[rnd(WORDS.length)];
class Foo { constructor(v) { this.v = v; } }
class Bar extends Foo {}
class Arr extends Array {}
class M extends Map {}
function make(depth) {
    const k = depth <= 0 ? rnd(12) : rnd(38);
    switch (k) { case 0: return rnd(1000); case 1: return word(); case 2: return -rnd(100) / 8; case 3:
        return null; case 4: return undefined; case 5: return rnd(2) === 0; case 6:
        return BigInt(rnd(100000)); case 7: return Symbol(word()); case 8: return Math.max; case 9:
        return word().repeat(rnd(8)); case 10: return new Date(rnd(1e6) * 1000); case 11: return /r[e]/gi;
        case 12: case 13: case 14: case 15: { const o = {}; for (let n = rnd(6); n > 0; n--) o[word() +
        rnd(5)] = make(depth - 1); return o; } case 16: case 17: case 18: { const a = []; for (let n = rnd(9);
        n > 0; n--) a.push(make(depth - 1)); return a; } case 19: { const a = []; for (let n = rnd(40); n > 0;
        n--) a.push(rnd(3) ? rnd(10 ** (1 + rnd(5))) : -rnd(10)); return a; } case 20: { const a = [];
        for (let n = rnd(40); n > 0; n--) a.push(word()); return a; } case 21: { const m = new Map();
        for (let n = rnd(5); n > 0; n--) m.set(make(depth - 2), make(depth - 1)); return m; } case 22:
        { const m = new Set(); for (let n = rnd(5); n > 0; n--) m.add(make(depth - 1)); return m; } case 23:
        return new Foo(make(depth - 1)); case 24: return new Bar(make(depth - 1)); case 25:
        { const o = Object.create(null); o[word()] = make(depth - 1); return o; } case 26: { const a = [1];
        a[rnd(10)] = make(depth - 1); a.length = 12; return a; } case 27:
        return new Uint8Array(rnd(20)).map(() => rnd(256)); case 28: return new Uint8Array(rnd(9)).buffer;
        case 29: { const o = { self: null, v: make(depth - 1) }; o.self = rnd(2) ? o : [o, { o }]; return o;
        } case 30: return Promise.resolve(make(depth - 1)); case 31: return new Proxy(Object(make(depth - 1)),
        {}); case 32: return Object.defineProperty({ get x() { return 5; } }, word(), { value:
        make(depth - 1), enumerable: !rnd(2) }); case 33: return Object.assign(Math.min.bind(null), { p:
        make(depth - 1) }); case 34: { const a = new Arr(); a.push(make(depth - 1)); a.extra = word();
        return a; } case 35: return new M([[word(), make(depth - 1)]]).entries(); case 36:
        return Object.assign(Object(word()), { z: make(depth - 1) }); case 37:
        { const e = Object.assign(new Error(word()), { code: make(depth - 1) }); e.stack = rnd(2) ?
        'Error: ' + e.message + '\n    at foo (a.js:1:2)\n    at bar (b.js:3:4)' : 'Error: ' + e.message;
        return e; } }
}
for (let n = 0; n < 250; n++) {
    const v = make(4);
    const o = {};
    if (rnd(3) === 0) o.depth = [0, 1, 5, null, Infinity][rnd(5)];
    if (rnd(3) === 0) o.breakLength = [20, 40, 60, 80, 120, Infinity][rnd(6)];
    if (rnd(3) === 0) o.compact = [true, false, 0, 1, 2, 3, 5][rnd(7)];
    if (rnd(5) === 0) o.showHidden = true;
    if (rnd(4) === 0) o.colors = true;
    if (rnd(4) === 0) o.sorted = true;
    if (rnd(4) === 0) o.getters = true;
    if (rnd(4) === 0) o.maxArrayLength = rnd(8);
    if (rnd(4) === 0) o.maxStringLength = rnd(8);
    if (rnd(5) === 0) o.showProxy = true;
    if (rnd(5) === 0) o.numericSeparator = true;
    let s;
    try { s = util.inspect(v, o); } catch (e) { s = 'threw ' + e.name + e.message; }
    console.log('#' + n + ' ' + Object.entries(o).map(String).join(';') + '\n' + s);
}
