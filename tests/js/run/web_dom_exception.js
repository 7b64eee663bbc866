// SPDX-License-Identifier: MIT
// DOMException: arguments, codes, the prototype chain and the properties.
const attempt = (f) => {
    try {
        return String(f());
    } catch (error) {
        return `throws ${error.name}`;
    }
};
const show = (e) => `${e.name} | ${e.message} | ${e.code}`;

console.log(show(new DOMException()));
console.log(show(new DOMException('m')));
console.log(show(new DOMException('m', 'AbortError')));
console.log(show(new DOMException(undefined, undefined)));
console.log(show(new DOMException(null, null)));
console.log(show(new DOMException(5, 'constructor')));
console.log(show(new DOMException('m', { name: 'DataCloneError' })));
const names = ['IndexSizeError', 'HierarchyRequestError', 'WrongDocumentError', 'InvalidCharacterError',
    'NoModificationAllowedError', 'NotFoundError', 'NotSupportedError', 'InUseAttributeError', 'InvalidStateError',
    'SyntaxError', 'InvalidModificationError', 'NamespaceError', 'InvalidAccessError', 'TypeMismatchError',
    'SecurityError', 'NetworkError', 'AbortError', 'URLMismatchError', 'QuotaExceededError', 'TimeoutError',
    'InvalidNodeTypeError', 'DataCloneError', 'EncodingError', 'NotReadableError', 'OperationError', 'Unknown'];
console.log(names.map((name) => `${name}=${new DOMException('', name).code}`).join(' '));

const constants = Object.keys(DOMException).filter((key) => /_ERR$/.test(key));
console.log(constants.length);
console.log(constants.map((key) => `${key}=${DOMException[key]}`).join(' '));
console.log(constants.every((key) => DOMException.prototype[key] === DOMException[key]));
const one = Object.getOwnPropertyDescriptor(DOMException, 'ABORT_ERR');
console.log(one.value, one.writable, one.enumerable, one.configurable);

const cause = { why: 1 };
const withCause = new DOMException('m', { name: 'N', cause });
console.log(withCause.cause === cause, Object.getOwnPropertyDescriptor(withCause, 'cause').enumerable);
console.log('cause' in new DOMException('m', { name: 'N' }), 'cause' in new DOMException('m', 'N'));

const e = new DOMException('text', 'AbortError');
console.log(e instanceof DOMException, e instanceof Error, e instanceof TypeError);
console.log(Object.prototype.toString.call(e), String(e));
console.log(Object.getPrototypeOf(DOMException) === Function.prototype);
console.log(Object.getPrototypeOf(DOMException.prototype) === Error.prototype);
console.log(typeof e.stack, Object.keys(e).length);
console.log(DOMException.length, DOMException.name);
for (const name of ['name', 'message', 'code']) {
    const d = Object.getOwnPropertyDescriptor(DOMException.prototype, name);
    console.log(name, typeof d.get, typeof d.set, d.enumerable, d.configurable, attempt(() => d.get.call({})));
}
const tag = Object.getOwnPropertyDescriptor(DOMException.prototype, Symbol.toStringTag);
console.log(tag.value, tag.writable, tag.enumerable, tag.configurable);
console.log(attempt(() => DOMException('x')));
console.log(attempt(() => new DOMException(Symbol('x'))));
console.log(attempt(() => new DOMException('x', Symbol('x'))));
try {
    'use strict';
    throw e;
} catch (caught) {
    console.log(caught === e);
}
class Mine extends DOMException {
    constructor() {
        super('mine', 'MineError');
        this.extra = 1;
    }
}
const mine = new Mine();
console.log(mine instanceof Mine, mine instanceof DOMException, show(mine), mine.extra);
