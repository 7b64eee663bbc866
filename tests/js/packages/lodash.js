// SPDX-License-Identifier: MIT
// lodash: collections, paths, deep copies, templates, words, debouncing.
'use strict';
const _ = require('lodash');
const fp = require('lodash/fp');

const people = [
    { name: 'Ada', born: 1815, tags: ['maths', 'engines'] },
    { name: 'Alan', born: 1912, tags: ['maths', 'logic'] },
    { name: 'Grace', born: 1906, tags: ['compilers'] },
];
console.log(JSON.stringify(_.groupBy(people, (person) => Math.floor(person.born / 100))));
console.log(_.map(_.orderBy(people, ['born'], ['desc']), 'name').join(' '));
console.log(JSON.stringify(_.countBy(_.flatMap(people, 'tags'))));
console.log(_.get({ a: [{ b: { c: 3 } }] }, 'a[0].b.c'), _.get({}, 'a.b', 'default'));
console.log(JSON.stringify(_.set({}, 'x[1].y', 5)));
const deep = { list: [1, { two: new Date(0) }], map: new Map([['k', new Set([1])]]), at: /x/gi };
const copy = _.cloneDeep(deep);
console.log(_.isEqual(deep, copy), copy.list !== deep.list, copy.map.get('k') !== deep.map.get('k'), copy.at.flags);
console.log(JSON.stringify(_.merge({ a: { b: 1 }, l: [1, 2] }, { a: { c: 2 }, l: [3] })));
console.log(_.template('<% _.forEach(names, (n) => { %><li><%- n %></li><% }) %>')({ names: ['a', '<b>'] }));
console.log(_.camelCase('Foo bar-baz'), _.kebabCase('fooBarBaz'), _.startCase('--foo-bar--'), _.deburr('déjà vu'));
console.log(_.words('fred, barney, & pebbles').join('|'), _.truncate('hi-diddly-ho there, neighborino', { length: 24 }));
console.log(_.chunk([1, 2, 3, 4, 5], 2).join(' / '), _.zip(['a', 'b'], [1, 2]).join(' / '), _.range(0, 20, 5).join());
console.log(_.chain([3, 1, 2]).map((n) => n * n).sortBy().reverse().value().join());
console.log(fp.flow(fp.filter((n) => n % 2), fp.map((n) => n * 10), fp.sum)([1, 2, 3]));
console.log(_.toPath('a.b["c d"].e').join('|'), _.padStart('7', 3, '0'), _.escape('<a & "b">'), _.unescape('&lt;&#39;'));
const once = _.memoize((n) => ({ n }));
console.log(once(1) === once(1), once(1) === once(2), _.isPlainObject(Object.create(null)), _.isTypedArray(new Uint8Array(1)));
const seen = [];
const slow = _.debounce((n) => {
    seen.push(n);
    console.log('debounced', seen.join(), _.now() > 0);
}, 5);
slow(1);
slow(2);
slow(3);
