// SPDX-License-Identifier: MIT
// qs: nested query strings.
'use strict';
const qs = require('qs');

for (const text of ['a[b][c]=1&a[b][d]=2', 'list[]=1&list[]=2', 'a=b&a=c', 'x[1]=b&x[0]=a', 'n=%E2%82%AC+x&flag', 'a.b=1', '__proto__[x]=1',
    'a[0][b]=1&a[1][b]=2'])
    console.log(text, JSON.stringify(qs.parse(text)));
console.log(JSON.stringify(qs.parse('?a.b=1&c=1,2', { ignoreQueryPrefix: true, allowDots: true, comma: true })));
console.log(qs.stringify({ a: { b: [1, 2], c: 'ü &' }, d: null, e: undefined, f: new Date(0), g: '' }));
console.log(qs.stringify({ a: [1, 2], b: null }, { arrayFormat: 'brackets', encode: false, strictNullHandling: true }));
console.log(qs.stringify({ b: 1, a: 2 }, { sort: (x, y) => x.localeCompare(y), addQueryPrefix: true }), qs.stringify({ 'ä': 'ö' }, {
    charset: 'iso-8859-1',
}));
