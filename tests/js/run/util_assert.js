// SPDX-License-Identifier: MIT
// node:assert: what fails, and with which text.
const assert = require('assert');
const L = console.log;
const t = (f) => {
    try {
        f();
        L('ok')
    } catch (e) {
        L(e.name, '|', e.code, '|', e.generatedMessage, '|', e.operator, '|', Object.keys(e).join(),
            '|'+e.message+'|')
    }
};
t(() => assert.strictEqual(1, 2));
t(() => assert.strictEqual(1, 2, 'mine'));
t(() => assert.strictEqual(1, 2, new TypeError('te')));
t(() => assert.strictEqual('a'.repeat(10), 'b'));
t(() => assert.strictEqual('a\nb', 'a\nc'));
t(() => assert.strictEqual({ a: 1 }, { a: 1 }));
t(() => assert.strictEqual(NaN, 1));
t(() => assert.strictEqual([1, 2, 3], [1, 2, 3]));
t(() => assert.strictEqual({ a: 1 }, { a: 2 }));
t(() => assert.strictEqual('x'.repeat(50), 'y'.repeat(50)));
t(() => assert.equal(1, 2));
t(() => assert.equal(null, { a: 1 }));
t(() => assert.notEqual(1, 1));
t(() => assert.notStrictEqual(1, 1));
t(() => assert.notStrictEqual({ a: 1, b: [1] }, 5));
{ const o = { a: 1 }; t(() => assert.notStrictEqual(o, o)); }
t(() => assert.deepStrictEqual({ a: 1 }, { a: 2 }));
t(() => assert.deepStrictEqual([1, 2, 3], [1, 2, 4]));
t(() => assert.deepStrictEqual({ a: 1, b: { c: [1, 2] } }, { a: 1, b: { c: [1, 3] } }));
t(() => assert.deepEqual({ a: 1 }, { a: 2 }));
t(() => assert.deepEqual([1, 2, [3]], [1, 2, [4]]));
t(() => assert.notDeepStrictEqual({ a: 1 }, { a: 1 }));
t(() => assert.notDeepEqual({ a: 1 }, { a: 1 }));
t(() => assert.deepStrictEqual(1, 2));
t(() => assert.deepStrictEqual(new Map([[1, 2]]), new Map([[1, 3]])));
t(() => assert.deepStrictEqual([1], { 0: 1 }));
t(() => assert.deepStrictEqual(Array.from({ length: 30 }, (_, i) => i), Array.from({ length: 30 }, (_,
    i) => i === 20?99: i)));
t(() => assert.fail());
t(() => assert.fail('boom'));
t(() => assert.fail(new TypeError('x')));
t(() => assert.ok(null, 'msg'));
t(() => assert());
t(() => assert.ok());
t(() => assert.ifError(null));
t(() => assert.ifError(new Error('ie')));
t(() => assert.ifError(5));
t(() => assert.match('abc', /x/));
t(() => assert.match(5, /x/));
t(() => assert.doesNotMatch('abc', /a/));
t(() => assert.match('a', 'b'));
t(() => assert.throws(() => {}));
t(() => assert.throws(() => {}, 'msg'));
t(() => assert.throws(() => {}, Error));
t(() => assert.throws(() => { throw new Error('x') }));
t(() => assert.throws(() => { throw new Error('x') }, TypeError));
t(() => assert.throws(() => { throw new Error('x') }, /y/));
t(() => assert.throws(() => { throw new Error('x') }, { message: 'x'}));
t(() => assert.throws(() => { throw new Error('x') }, { message: 'y', name: 'Error'}));
t(() => assert.throws(() => { throw new Error('x') }, { message: /x/}));
t(() => assert.throws(() => { throw new Error('x') }, () => true));
t(() => assert.throws(() => { throw new Error('x') }, () => false));
t(() => assert.throws(() => { throw new Error('x') }, 'x'));
t(() => assert.throws(5));
t(() => assert.throws(() => {}, 5));
t(() => assert.throws(() => { throw new Error('x') }, {}));
t(() => assert.throws(() => { throw new Error('x') }, (e) => { throw new Error('inner') }));
t(() => assert.throws(() => { throw new Error('x') }, new Error('x')));
t(() => assert.throws(() => { throw new Error('x') }, new Error('y')));
t(() => assert.throws(() => {}, Error, 'mm'));
t(() => assert.throws(() => { throw new Error('x') }, TypeError, 'mm'));
t(() => assert.throws(() => { throw 5 }, { message: 'x'}));
t(() => assert.doesNotThrow(() => {}));
t(() => assert.doesNotThrow(() => { throw new Error('x') }));
t(() => assert.doesNotThrow(() => { throw new Error('x') }, 'mm'));
t(() => assert.doesNotThrow(() => { throw new Error('x') }, TypeError));
t(() => assert.doesNotThrow(() => { throw new Error('x') }, /x/));
t(() => assert.strictEqual(1));
t(() => assert.equal(1));
t(() => assert.strict.equal(1, '1'));
t(() => { throw new assert.AssertionError({ actual: 1, expected: 2, operator: 'strictEqual'}) });
t(() => { throw new assert.AssertionError({ message: 'q'}) });
t(() => new assert.AssertionError());
t(() => assert.deepStrictEqual({ a: 1, b: 2, c: 3 }, { a: 1, b: 2 }));
t(() => assert.deepStrictEqual('abc', 'abd'));
t(() => assert.deepStrictEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10], [1, 2, 3, 4, 5, 6, 7, 8, 9, 11]));
t(() => assert.deepStrictEqual(new Set([1]), new Set([2])));
t(() => assert.deepStrictEqual(new Date(0), new Date(1)));
t(() => assert.deepStrictEqual(-0, 0));
t(() => assert.deepStrictEqual([[[[[1]]]]], [[[[[2]]]]]));
(async() => {
    const ta = async(f) => {
        try { await f(); L('ok') } catch (e) { L(e.name, '|', e.code, '|', e.operator, '|'+e.message+'|') }
    };
    await ta(() => assert.rejects(Promise.resolve(1)));
    await ta(() => assert.rejects(Promise.reject(new Error('x')), /x/));
    await ta(() => assert.rejects(Promise.reject(new Error('x')), /y/));
    await ta(() => assert.rejects(() => 5));
    await ta(() => assert.rejects(5));
    await ta(() => assert.rejects(async() => { throw new TypeError('q') }, TypeError));
    await ta(() => assert.doesNotReject(Promise.resolve()));
    await ta(() => assert.doesNotReject(Promise.reject(new Error('x'))));
    await ta(() => assert.rejects(() => { throw new Error('sync') }));
    L(Object.keys(assert).filter(k => k!='CallTracker'), assert.strict.strict === assert.strict,
        assert.strict.equal === assert.strictEqual, assert.length, assert.name, assert.strict.name);
    try {
        assert.strictEqual(1, 2)
    } catch (e) {
        L(e instanceof assert.AssertionError, e instanceof Error, e.constructor.name,
            Object.prototype.toString.call(e), Object.keys(e), String(e),
            require('util').inspect(e).split('\n').filter(l => !/^ +at /.test(l)).join('\n'))
    }
})();
