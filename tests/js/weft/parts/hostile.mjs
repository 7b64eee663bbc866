// SPDX-License-Identifier: MIT
// Values that throw, lie or surprise when one looks at them.
import util from 'node:util';

export const boom = () => {
    throw new RangeError('boom');
};

const names = ['name', 'message', 'stack', 'code', 'cause', 'toString', 'valueOf', 'then', 'constructor', 'length', 'size', 'signal',
    'timeout', 'aborted', 'reason', 'type', 'errors', Symbol.toPrimitive, Symbol.toStringTag, Symbol.iterator,
    Symbol.asyncIterator, Symbol.hasInstance, util.inspect.custom];
const traps = Object.fromEntries(['get', 'has', 'ownKeys', 'getOwnPropertyDescriptor', 'getPrototypeOf', 'set', 'defineProperty',
    'deleteProperty', 'isExtensible', 'preventExtensions', 'setPrototypeOf', 'apply', 'construct'].map((name) => [name, boom]));

function withGetters(object) {
    for (const name of names)
        Object.defineProperty(object, name, { get: boom, enumerable: true, configurable: true });
    return object;
}

function revoked(target) {
    const { proxy, revoke } = Proxy.revocable(target, {});
    revoke();
    return proxy;
}

function circular() {
    const object = {};
    object.self = object;
    return object;
}

function detached() {
    const bytes = new Uint8Array(8);
    structuredClone(bytes, { transfer: [bytes.buffer] });
    return bytes;
}

// Made anew each time: whoever gets one may change it.
export const hostiles = () => ({
    getters: withGetters({}),
    'error of getters': withGetters(new Error('inner')),
    methods: Object.fromEntries(names.map((name) => [name, boom])),
    proxy: new Proxy({}, traps),
    'proxy of a function': new Proxy(() => {}, traps),
    'proxy of an array': new Proxy([], traps),
    'proxy of an error': new Proxy(new Error('x'), traps),
    'child of a proxy': Object.create(new Proxy({}, traps)),
    'revoked proxy': revoked({}),
    'revoked function': revoked(() => {}),
    'object without a prototype': Object.create(null),
    'array without a prototype': Object.setPrototypeOf([], null),
    'error without a prototype': Object.setPrototypeOf(new Error('x'), null),
    'no error': Object.setPrototypeOf({ stack: 5 }, Error.prototype),
    class: class { static get name() { return boom(); } },
    function: boom,
    thenable: { then: boom },
    'thenable twice': { then(resolve, reject) { resolve(1); reject(2); boom(); } },
    'very long': { length: 2 ** 53 },
    circular: circular(),
    detached: detached(),
    symbol: Symbol('s'),
    'large number': 10n ** 50n,
    NaN,
    infinity: Infinity,
    null: null,
    undefined,
    'half a letter': '\ud800',
    'no end of a text': 'a\0b',
    'no date': new Date(NaN),
});
