// node:querystring.
'use strict';
const qs = require('node:querystring');
for (const text of ['', 'a=b', 'a=b&a=c&a=d', 'a&b=', '=v', '=', '&&a=1&&', 'a=b=c', 'a+b=c+d', '%61=%62', 'x=%E2%82%AC', 'x=%E2%82', 'x=%zz', 'x=%', '__proto__=1&toString=2', 'a=1;b=2', '%=%',
    'a=%2B+%20', '\u00fc=ü', 'a%3Db=c', 'hasOwnProperty=1'])
    console.log(JSON.stringify(text), JSON.stringify(qs.parse(text)));
console.log(JSON.stringify(qs.parse('a:1;b:2', ';', ':')), JSON.stringify(qs.parse('a::1&&b::2', '&&', '::')), JSON.stringify(qs.parse('a=1&b=2&c=3', null, null, { maxKeys: 2 })));
console.log(JSON.stringify(qs.parse('a=x', '&', '=', { decodeURIComponent: (part) => `<${part}>` })), Object.getPrototypeOf(qs.parse('a')));
console.log(Object.keys(qs.parse(Array.from({ length: 1200 }, (_, i) => `k${i}=1`).join('&'))).length,
    Object.keys(qs.parse(Array.from({ length: 1200 }, (_, i) => `k${i}=1`).join('&'), '&', '=', { maxKeys: 0 })).length);
for (const value of [{ a: 'b c', d: ['x', 'y'], e: '' }, { n: 1.5, t: true, f: false, u: undefined, z: null, i: Infinity, g: 10n, o: {}, s: 'ü&=' }, {}, [1, 2], { a: [] }, { "!'()*~-._": "!'()*~-._" },
    { a: [null, undefined, 1] }])
    console.log(qs.stringify(value));
console.log(qs.stringify({ a: 1, b: [2, 3] }, ';', ':'), qs.stringify('text') === '', qs.stringify(null) === '', qs.stringify() === '');
console.log(qs.stringify({ a: 'x y' }, '&', '=', { encodeURIComponent: (text) => text.toUpperCase() }), qs.encode === qs.stringify, qs.decode === qs.parse);
console.log(qs.escape('a b&ü€😀'), qs.escape(5), qs.escape({}), qs.unescape('a%20b%zz'), qs.unescape('%E2%82%AC'), qs.unescapeBuffer('a%41%zz%4').toString());
try {
    qs.escape('\ud800');
} catch (error) {
    console.log(error.name, error.code, error.message);
}
