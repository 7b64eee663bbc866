// SPDX-License-Identifier: MIT
// URLSearchParams.
const attempt = (f) => {
    try {
        return String(f());
    } catch (error) {
        return `throws ${error.name}`;
    }
};
const log = (...parts) => console.log(parts.join(' '));
const list = (params) => JSON.stringify([...params]);

// Construction.
for (const init of ['', '?', '??a=b', 'a=b', '?a=b&c=d', 'a', '=', '=b', 'a=', '&', '&&a=b&&', 'a=b=c', 'a+b=c+d',
    '%61=%62', 'a=%', 'a=%zz', 'a=%c3%a9', 'a=%ff', 'a=%2B%20+', 'é=ü',
    'a=😀', '\ud800=1', 'a=\0', 'a;b=c', 'a=%EF%BB%BFx', 'a#b=c', undefined, null, 5, true]) {
    log(JSON.stringify(init), list(new URLSearchParams(init)), new URLSearchParams(init).toString());
}
log(list(new URLSearchParams()), new URLSearchParams().size);
log(list(new URLSearchParams([['a', 'b'], ['c', 1], [null, undefined]])), list(new URLSearchParams([])));
log(list(new URLSearchParams(new Map([['x', 'y']]))), list(new URLSearchParams(new Set(['ab', 'cd'].map((s) => [...s])))));
log(list(new URLSearchParams({ b: 2, a: [1, 2], 1: 'one', n: null, u: undefined })));
log(list(new URLSearchParams(new URLSearchParams('a=1&a=2'))));
log(list(new URLSearchParams(Object.create({ inherited: 1 }, { own: { value: 1, enumerable: true },
    hidden: { value: 2 } }))));
log(list(new URLSearchParams((function* () { yield ['g', 'h']; })())));
log(attempt(() => new URLSearchParams([['a']])), attempt(() => new URLSearchParams([['a', 'b', 'c']])),
    attempt(() => new URLSearchParams([1])),
    attempt(() => new URLSearchParams([null])), attempt(() => new URLSearchParams(Symbol('x'))),
        attempt(() => new URLSearchParams({ a: Symbol('x') })),
    attempt(() => URLSearchParams('')), attempt(() => new URLSearchParams({ [Symbol.iterator]: 1 })));

// Methods.
const p = new URLSearchParams('a=1&b=2&a=3');
log(p.get('a'), p.get('z'), p.getAll('a').join(), p.getAll('z').length, p.has('a'), p.has('z'), p.has('a', '3'),
    p.has('a', '2'), p.has('a', undefined), p.size);
p.append('c', 4);
log(String(p));
p.set('a', 'x');
log(String(p));
p.set('new', 'y');
log(String(p));
p.delete('a');
log(String(p));
const q = new URLSearchParams('a=1&a=2&b=1&a=1');
q.delete('a', '1');
log(String(q));
q.delete('a', undefined);
log(String(q), q.append('x', 'y'), q.delete('nothing'), q.set('x', 'z'), q.sort());
const sorted = new URLSearchParams('z=1&a=2&z=0&ﬃ&🌈&a=1&A=3&=5&b');
sorted.sort();
log(list(sorted));
for (const [name, count] of [['append', 2], ['set', 2], ['get', 1], ['getAll', 1], ['has', 1], ['delete', 1],
    ['forEach', 1], ['sort', 0], ['entries', 0], ['keys', 0], ['values', 0],
    ['toString', 0]]) {
    const d = Object.getOwnPropertyDescriptor(URLSearchParams.prototype, name);
    log(name, d.enumerable, d.writable, d.configurable, d.value.length === count, attempt(() => d.value.call({}, 'a', 'b')),
        count > 0 ? attempt(() => new URLSearchParams()[name]()) : '');
}
log(attempt(() => p.forEach(1)), attempt(() => p.get(Symbol('x'))), attempt(() => p.append('a', Symbol('x'))));
const size = Object.getOwnPropertyDescriptor(URLSearchParams.prototype, 'size');
log(typeof size.get, size.set, size.enumerable, attempt(() => size.get.call({})));
log(Object.prototype.toString.call(p), URLSearchParams.length, URLSearchParams.name,
    URLSearchParams.prototype[Symbol.iterator] === URLSearchParams.prototype.entries);

// Serialization.
const all = new URLSearchParams();
let ascii = '';
for (let i = 0; i < 128; i++) {
    ascii += String.fromCharCode(i);
}
all.append(ascii, 'é\u0800😀\ud800');
log(String(all));

// Iteration.
const it = new URLSearchParams('a=1&b=2&c=3');
log([...it.keys()].join(), [...it.values()].join(), [...it.entries()].join(';'));
const self = {};
it.forEach(function (value, name, object) {
    log(value, name, object === it, this === self);
}, self);
const iterator = it[Symbol.iterator]();
log(Object.prototype.toString.call(iterator), typeof iterator[Symbol.iterator],
    iterator[Symbol.iterator]() === iterator, 'constructor' in iterator);
log(JSON.stringify(iterator.next()));
it.append('d', '4');
it.delete('b');
log(JSON.stringify(iterator.next()), JSON.stringify(iterator.next()), JSON.stringify(iterator.next()));
log(attempt(() => iterator.next.call({})), Object.getOwnPropertyDescriptor(Object.getPrototypeOf(iterator),
    'next').enumerable);
const seen = [];
const growing = new URLSearchParams('a=1&b=2');
for (const [name] of growing) {
    seen.push(name);
    if (growing.size < 5) {
        growing.append(`${name}x`, '');
    }
}
log(seen.join());
