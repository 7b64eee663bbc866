// SPDX-License-Identifier: MIT
// Where errors say that they happened: the call, the property, the throw, however many lines an expression has.
const places = (error) => error.stack.match(/error_places\.mjs:\d+:\d+/g).map((text) => text.replace(/^.*?:/, '')).join(' ');
function show(fn) {
    try {
        fn();
    } catch (error) {
        console.log(places(error).split(' ').slice(0, -1).join(' '));
    }
}
const o = { a: { b() { throw new Error('x'); }, get c() { throw new TypeError('c'); } } };
function thrower(a, b) {
    throw new
        Error(
            'x'.trim(),
            { cause: 1 });
}
show(() => thrower(String(1), String(2)));
show(() => {
    thrower(
        String(1),
        [String(2)].map((text) => text.trim()));
});
show(() => o.a.b(
    String(1)));
show(() => {
    o
        .a
        .b(
            Number(3),
        );
});
show(() => o.a['b'](String(1)));
show(() => o.a['b' + ''](String(1)));
show(() => o?.['a'].b());
show(() => o.a.b?.());
show(() => (o.a.b)());
show(() => (() => o.a.b)()());
show(() => o.x.y);
show(() => o.x.y(String(1)));
show(() => new o.zz.b(1));
show(() => new o.a);
show(() => o.a.c);
show(() => 1 + o.a.c);
show(() => nope);
show(() => {
    nope2;
    let nope2 = 1;
});
show(() => [3, 2].map((x) => { throw new RangeError(x); }));
show(() => JSON.parse('1'.repeat(3), () => { throw new Error('revived'); }));
class A { constructor() { o.a.b(); } }
class B extends A { constructor() { super(String(1)); } }
show(() => new B(String(4)));
class OwnError extends Error { constructor(text) { super(String(text)); } }
show(() => { throw new OwnError('own'); });

// The first line is made when somebody looks, and stays.
const first = (error) => console.log(error.stack.split('\n')[0]);
class Named extends Error { constructor(text) { super(text); this.name = 'Late'; } }
first(new Named('named'));
first(Object.assign(new Error('one'), { message: 'two' }));
const seen = new Error('seen');
first(seen);
seen.message = 'changed';
first(seen);
first(new Error());
first(new TypeError('a\nb'));
first(Object.assign(new Error('x'), { name: '' }));

// Of any object, without the functions above the one that is named.
function make(text) {
    const it = { name: 'It', message: text };
    Error.captureStackTrace(it, make);
    return it;
}
const made = make('made');
console.log(made.stack.split('\n')[0], /make/.test(made.stack), Object.keys(made), Object.hasOwn(made, 'stack'));
made.stack = 'other';
console.log(made.stack);
function Old(text) {
    Error.captureStackTrace(this, Old);
    this.name = 'Old';
    this.message = text;
}
first(new Old('old'));
function deep(n) {
    return n === 0 ? new Error('deep') : deep(n - 1);
}
for (const limit of [0, 1, 3, 10]) {
    Error.stackTraceLimit = limit;
    console.log(limit, deep(20).stack.split('\n').length);
}
