// SPDX-License-Identifier: MIT
// js/lib/ffi.js - weft:ffi: functions and variables of shared libraries, and functions of JavaScript as callbacks of C.
// host: ffiOpen(path or null), ffiClose(library), ffiIsClosed(library), ffiSymbol(library, name) -> pointer,
//       ffiFunction(library or null, symbol or pointer, name, result, [types], how many are fixed, is fast, wants errno)
//           -> [function, function that returns a promise],
//       ffiErrno(), ffiCallback(handle, fn, prototype), ffiCallbackPointer(callback), ffiCallbackClose(callback),
//       ffiCallbackKeep(callback, keeps)
(function (host, need) {
    'use strict';
    const { typeOf, handleOf, callbackType, ...memory } = need('ffi_type');
    const dispose = Symbol.dispose ?? Symbol('dispose');
    const hide = (object, key, value) => Object.defineProperty(object, key, { value, configurable: true, writable: true });

    // ---- Functions ----

    const known = ['returns', 'parameters', 'variadic', 'fast', 'errno', 'symbol'];

    // [returns, parameters, options] or { returns, parameters, ...options }. Of the parameters those behind '...' are variable; if
    // '...' is the last one, or with the option variadic, their types come with each call.
    function signatureOf(description) {
        const [returns, parameters, options] = Array.isArray(description)
            ? description
            : [description?.returns, description?.parameters, description];
        const list = parameters ?? [];
        if (typeof description !== 'object' || description === null || !Array.isArray(list))
            throw new TypeError('A signature is [returns, [parameters]] or { returns, parameters }');
        for (const key of Object.keys(options ?? {}))
            if (!known.includes(key))
                throw new TypeError(`A signature has no member '${key}'`);
        const dots = list.indexOf('...');
        const types = list.filter((_, index) => index !== dots).map(typeOf);
        return {
            returns: typeOf(returns ?? 'void'), types, fixed: dots < 0 ? undefined : dots,
            isOpen: Boolean(options?.variadic) || (dots >= 0 && dots === list.length - 1),
            isFast: Boolean(options?.fast), wantsErrno: Boolean(options?.errno),
        };
    }

    function bindTypes(place, name, signature, types, fixed) {
        const [fn, later] = host.ffiFunction(place.library, place.symbol, name, handleOf(signature.returns), types.map(handleOf),
            fixed, signature.isFast, signature.wantsErrno);
        hide(fn, 'async', later);
        return fn;
    }

    // Behind the parameters of the signature come types and values in turn. One function of the host for each list of types.
    function bindOpen(place, name, signature) {
        const fixed = signature.types.length;
        const known = new Map();
        const find = (rest) => {
            if (rest.length % 2 !== 0)
                throw new TypeError(`${name}: behind the first ${fixed} arguments come types and values in turn`);
            const types = rest.filter((_, index) => index % 2 === 0).map(typeOf);
            const key = types.map((type) => type.id).join();
            let fn = known.get(key);
            if (!fn) {
                fn = bindTypes(place, name, signature, [...signature.types, ...types], fixed);
                known.set(key, fn);
            }
            return fn;
        };
        const split = (values) => [...values.slice(0, fixed), ...values.slice(fixed).filter((_, index) => index % 2 === 1)];
        const fn = (...values) => find(values.slice(fixed))(...split(values));
        hide(fn, 'async', async (...values) => find(values.slice(fixed)).async(...split(values)));
        hide(fn, 'name', name);
        find([]); // what is wrong with the rest of it is told now
        return fn;
    }

    function bindAny(place, name, description) {
        const signature = signatureOf(description);
        return signature.isOpen ? bindOpen(place, name, signature)
            : bindTypes(place, name, signature, signature.types, signature.fixed);
    }

    // A function whose address a program has.
    function bind(pointer, signature, name = 'function') {
        return bindAny({ library: null, symbol: pointer }, String(name), signature);
    }

    // ---- Libraries ----

    const handles = new WeakMap(); // of libraries

    function pathOf(path) {
        if (path === null || typeof path === 'string')
            return path;
        if (path instanceof URL)
            return need('module').fileURLToPath(path);
        throw new TypeError('The path of a library is a string, a URL, or null for the program itself');
    }

    function defineVariable(library, handle, key, name, type) {
        const pointer = host.ffiSymbol(handle, name);
        const check = () => {
            if (host.ffiIsClosed(handle))
                throw new TypeError(`The library of ${name} is closed`);
            return pointer;
        };
        Object.defineProperty(library, key, {
            configurable: true,
            enumerable: true,
            get: () => type.get(check(), 0),
            set: (value) => type.write(check(), value),
        });
    }

    function define(library, handle, key, description) {
        const name = (Array.isArray(description) ? description[2] : description)?.symbol ?? key;
        if (description?.variable !== undefined) {
            defineVariable(library, handle, key, name, typeOf(description.variable));
            return;
        }
        const value = description?.address === true ? host.ffiSymbol(handle, name)
            : bindAny({ library: handle, symbol: name }, key, description);
        Object.defineProperty(library, key, { value, configurable: true, enumerable: true, writable: true });
    }

    function open(path, symbols = {}) {
        const handle = host.ffiOpen(pathOf(path));
        const library = {};
        handles.set(library, handle);
        hide(library, 'close', () => host.ffiClose(handle));
        hide(library, dispose, () => host.ffiClose(handle));
        try {
            for (const key of Object.keys(symbols))
                define(library, handle, key, symbols[key]);
        } catch (error) {
            host.ffiClose(handle);
            throw error;
        }
        return library;
    }

    // Also for a library that has a function of that name.
    function close(library) {
        const handle = handles.get(library);
        if (handle === undefined)
            throw new TypeError('This is no library');
        host.ffiClose(handle);
    }

    // ---- Callbacks ----

    function Callback() {
        throw new TypeError('Callbacks come from callback');
    }

    const methods = {
        get pointer() {
            return host.ffiCallbackPointer(this);
        },
        close() {
            host.ffiCallbackClose(this);
        },
        // Whether the program goes on as long as it is open.
        ref() {
            host.ffiCallbackKeep(this, true);
            return this;
        },
        unref() {
            host.ffiCallbackKeep(this, false);
            return this;
        },
        [dispose]() {
            host.ffiCallbackClose(this);
        },
    };
    for (const key of Reflect.ownKeys(methods))
        Object.defineProperty(Callback.prototype, key,
            { ...Object.getOwnPropertyDescriptor(methods, key), enumerable: false });

    const callback = (signature, fn) => {
        if (typeof signature !== 'object' || signature === null)
            throw new TypeError('A signature is [returns, [parameters]] or { returns, parameters }');
        return host.ffiCallback(handleOf(callbackType(signature)), fn, Callback.prototype);
    };

    const errno = () => host.ffiErrno();
    const sizeof = (type) => typeOf(type).size;
    const alignof = (type) => typeOf(type).alignment;

    const exported = { open, close, bind, callback, Callback, errno, sizeof, alignof, ...memory };
    return { ...exported, default: exported };
})
