// SPDX-License-Identifier: MIT
// js/lib/util_types.js - util.types: what kind of object a value is, whatever it says of itself.
// host: typeTag(value), isProxy(value), isPromise(value).
(function (host, need) {
    'use strict';

    const { className, isModuleNamespace, proxyTarget } = need('inspect_kinds');

    // The engine's name of the kind; a proxy is no kind but its own.
    function kindOf(value) {
        if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return '';
        return proxyTarget(value) === undefined ? className(value) : 'Proxy';
    }

    function is(...kinds) {
        return (value) => kinds.includes(kindOf(value));
    }

    const TYPED = ['Uint8Array', 'Uint8ClampedArray', 'Uint16Array', 'Uint32Array', 'Int8Array', 'Int16Array', 'Int32Array',
        'Float32Array', 'Float64Array', 'BigInt64Array', 'BigUint64Array'];

    const types = {
        isExternal() { return false; },
        isDate: is('Date'),
        isArgumentsObject: is('Arguments'),
        isBigIntObject: is('BigInt'),
        isBooleanObject: is('Boolean'),
        isNumberObject: is('Number'),
        isStringObject: is('String'),
        isSymbolObject: is('Symbol'),
        isNativeError: is('Error'),
        isRegExp: is('RegExp'),
        isAsyncFunction: is('AsyncFunction', 'AsyncGeneratorFunction'),
        isGeneratorFunction: is('GeneratorFunction', 'AsyncGeneratorFunction'),
        isGeneratorObject: is('Generator', 'AsyncGenerator'),
        isPromise: is('Promise'),
        isMap: is('Map'),
        isSet: is('Set'),
        isMapIterator: is('MapIterator'),
        isSetIterator: is('SetIterator'),
        isWeakMap: is('WeakMap'),
        isWeakSet: is('WeakSet'),
        isArrayBuffer: is('ArrayBuffer'),
        isDataView: is('DataView'),
        isSharedArrayBuffer: is('SharedArrayBuffer'),
        isProxy(value) {
            return ((typeof value === 'object' && value !== null) || typeof value === 'function') &&
                proxyTarget(value) !== undefined;
        },
        isModuleNamespaceObject(value) {
            const kind = kindOf(value);
            return kind !== '' && isModuleNamespace(value, kind);
        },
        isAnyArrayBuffer: is('ArrayBuffer', 'SharedArrayBuffer'),
        isBoxedPrimitive: is('Number', 'String', 'Boolean', 'BigInt', 'Symbol'),
        isArrayBufferView: ArrayBuffer.isView,
        isTypedArray: is(...TYPED, 'Float16Array'),
    };
    for (const name of TYPED) types['is' + name] = is(name);
    types.isKeyObject = () => false;
    types.isCryptoKey = () => false;
    return types;
})
