// SPDX-License-Identifier: MIT
// js/lib/clone.js - structuredClone, and what messages between instances may be made of. The walk over a graph of objects is the
// host's (js/clone_write.c, js/clone_read.c); here are the objects that have more to them than properties and elements.
// host: clone(value, list), typeTag(object) names the engine's class of an object, isProxy(object) gives undefined unless it is
//       one, isLoaded(library)
(function (host, need) {
    'use strict';

    const idl = need('idl');
    const { hasOwn, defineProperty } = Object;
    // The engine's own, whatever the program makes of the names.
    const { BigInt, Boolean, Date, Map, Number, RegExp, Set, String } = globalThis;
    const mapSet = Map.prototype.set;
    const mapForEach = Map.prototype.forEach;
    const setAdd = Set.prototype.add;
    const setForEach = Set.prototype.forEach;
    const getTime = Date.prototype.getTime;
    const errorNames = ['EvalError', 'RangeError', 'ReferenceError', 'SyntaxError', 'TypeError', 'URIError'];
    const errors = Object.fromEntries(['Error', ...errorNames].map((name) => [name, globalThis[name]]));

    // Classes of the library whose objects can be cloned or transferred: name -> { test, take, make }.
    const cloneables = new Map();
    const transferables = new Map();

    function cloneError(message) {
        const { DOMException } = need('dom_exception');
        return new DOMException(message, 'DataCloneError');
    }

    // ---- What cannot be cloned ----

    // In the words of V8.
    function refuse(value) {
        let shown;
        if (typeof value === 'function' || typeof value === 'symbol') {
            shown = typeof value === 'symbol' ? String(value) : Function.prototype.toString.call(value);
        } else if (host.isProxy(value) !== undefined) {
            shown = '#<Object>';
        } else {
            let name;
            try {
                name = value.constructor?.name;
            } catch {
                // The name is for the message only.
            }
            shown = typeof name === 'string' && name !== '' ? `#<${name}>` : Object.prototype.toString.call(value);
        }
        throw cloneError(`${shown} could not be cloned.`);
    }

    function refuseDetached() {
        throw cloneError('An ArrayBuffer is detached and could not be cloned.');
    }

    // ---- Taking objects apart: [name, how many of the values it is made of, ...values]; the rest is filled in afterwards ----

    function takeError(object) {
        if (idl.isPlatformObject(object)) {
            return takePlatform(object);
        }
        const given = object.name;
        const name = given === undefined ? 'Error' : `${given}`;
        const own = Object.getOwnPropertyDescriptor(object, 'message');
        const message = own !== undefined && 'value' in own ? `${own.value}` : undefined;
        const rest = hasOwn(object, 'cause') ? [object.cause] : [];
        const stack = object.stack;
        return ['error', 3, errorNames.includes(name) ? name : 'Error', message, typeof stack === 'string' ? stack : undefined,
            ...rest];
    }

    function takeEntries(name, object, forEach) {
        const parts = [name, 0];
        forEach.call(object, name === 'map' ? (value, key) => parts.push(key, value) : (value) => parts.push(value));
        return parts;
    }

    function takePlatform(object) {
        for (const [name, { test, take }] of cloneables) {
            if (test(object)) {
                const parts = take(object);
                return ['platform', parts.length + 1, name, ...parts];
            }
        }
        if (transferableOf(object) !== undefined) {
            throw need('errors').withCode(new TypeError('Object that needs transfer was found in message but not listed in '
                + 'transferList'), 'ERR_MISSING_TRANSFERABLE_IN_TRANSFER_LIST');
        }
        return refuse(object);
    }

    const isChannel = (object) => host.isLoaded('channel') && need('channel').sharedHandle(object) !== undefined;

    // Undefined for an object that has no more than properties.
    function take(object) {
        if (host.isProxy(object) !== undefined) {
            return refuse(object);
        }
        switch (host.typeTag(object)) {
        case 'Object':
            return idl.isPlatformObject(object) || isChannel(object) ? takePlatform(object) : undefined;
        case 'Date':
            return ['date', 1, getTime.call(object)];
        case 'RegExp':
            return ['regexp', 2, object.source, object.flags];
        case 'Number':
            return ['boxed', 1, Number.prototype.valueOf.call(object)];
        case 'String':
            return ['boxed', 1, String.prototype.valueOf.call(object)];
        case 'Boolean':
            return ['boxed', 1, Boolean.prototype.valueOf.call(object)];
        case 'BigInt':
            return ['boxed', 1, BigInt.prototype.valueOf.call(object)];
        case 'Map':
            return takeEntries('map', object, mapForEach);
        case 'Set':
            return takeEntries('set', object, setForEach);
        case 'Error':
            return takeError(object);
        default:
            return refuse(object);
        }
    }

    // What is on the transfer list and is not a buffer.
    function move(object) {
        for (const [name, entry] of transferables) {
            if (entry.test(object)) {
                const parts = entry.take(object);
                return ['transferred', parts.length + 1, name, ...parts];
            }
        }
        return refuse(object);
    }

    // ---- Putting them together ----

    function make(kind, values) {
        switch (kind) {
        case 'date':
            return new Date(values[0]);
        case 'regexp':
            return new RegExp(values[0], values[1]);
        case 'boxed':
            return Object(values[0]);
        case 'map':
            return new Map();
        case 'set':
            return new Set();
        case 'error':
            return makeError(values);
        default: {
            const [name, ...parts] = values;
            return (kind === 'platform' ? cloneables : transferables).get(name).make(parts);
        }
        }
    }

    function makeError([name, message, stack]) {
        const error = message === undefined ? new errors[name]() : new errors[name](message);
        if (stack !== undefined) {
            defineProperty(error, 'stack', { value: stack, writable: true, enumerable: false, configurable: true });
        }
        return error;
    }

    function fill(kind, object, values, from) {
        if (kind === 'map') {
            for (let i = 0; i < values.length; i += 2) {
                mapSet.call(object, values[i], values[i + 1]);
            }
        } else if (kind === 'set') {
            for (let i = 0; i < values.length; i++) {
                setAdd.call(object, values[i]);
            }
        } else {
            defineProperty(object, 'cause', { value: values[from], writable: true, enumerable: false, configurable: true });
        }
    }

    const makeBigInt = (text) => BigInt(text);

    // ---- Transfers ----

    function transferableOf(object) {
        for (const entry of transferables.values()) {
            if (entry.test(object)) {
                return entry;
            }
        }
        return undefined;
    }

    // Checks what is to be transferred; nothing is taken away yet. Undefined for nothing.
    function checkTransfers(list) {
        const seen = new Set();
        for (const object of list) {
            const isBuffer = host.typeTag(object) === 'ArrayBuffer';
            const entry = isBuffer ? undefined : transferableOf(object);
            if (!isBuffer && entry === undefined) {
                throw cloneError('Value could not be transferred');
            }
            if (seen.has(object)) {
                throw cloneError(`Transfer list contains duplicate ${isBuffer ? 'ArrayBuffer' : entry.name}`);
            }
            entry?.check?.(object);
            seen.add(object);
        }
        return list.length > 0 ? list : undefined;
    }

    function toTransferList(options) {
        const init = idl.toDictionary(options, 'The options of structuredClone');
        const given = init?.transfer;
        return given === undefined ? [] : idl.toSequence(given, 'The transfer list', (object) => {
            if (!idl.isObject(object)) {
                throw new TypeError('Found invalid object in transferList');
            }
            return object;
        });
    }

    function structuredClone(value, options = undefined) {
        idl.needArguments('structuredClone', arguments.length, 1);
        return host.clone(value, checkTransfers(toTransferList(options)));
    }

    // Lets the objects of a class be cloned: test(object), take(object) -> array of values, make(array) -> object. The receiver
    // may be another instance, whose library has not been loaded: so entries are here, and load what they need.
    function addCloneable(name, entry) {
        cloneables.set(name, entry);
    }

    // Lets the objects of a class be transferred: the same, and check(object), which throws for one that has gone before.
    function addTransferable(name, entry) {
        transferables.set(name, { name, ...entry });
    }

    addCloneable('DOMException', {
        test: (object) => need('dom_exception').isDOMException(object),
        take: (object) => [object.message, object.name],
        make: ([message, name]) => new (need('dom_exception').DOMException)(message, name),
    });

    addCloneable('Blob', {
        test: (object) => host.isLoaded('blob') && need('blob').isBlob(object),
        take(object) {
            const { isFile, partsOf } = need('blob');
            const { parts, type } = partsOf(object);
            return isFile(object) ? [type, object.name, object.lastModified, ...parts] : [type, null, null, ...parts];
        },
        make([type, name, lastModified, ...parts]) {
            const { Blob, File } = need('blob');
            return name === null ? new Blob(parts, { type }) : new File(parts, name, { type, lastModified });
        },
    });

    // Those of weft:go stay in their instance, those of weft:parallel can be used by several.
    addCloneable('Channel', {
        test: isChannel,
        take(object) {
            const handle = need('channel').sharedHandle(object);
            return handle === null ? refuse(object) : [handle];
        },
        make: ([handle]) => new (need('channel').Channel)(handle),
    });

    addTransferable('MessagePort', {
        test: (object) => host.isLoaded('message') && need('message').isPort(object),
        check: (object) => need('message').checkPort(object),
        take: (object) => [need('message').takeHandle(object)],
        make: ([handle]) => need('message').adopt(handle),
    });

    return {
        structuredClone, toTransferList, checkTransfers, addCloneable, addTransferable,
        take, move, make, fill, makeBigInt, refuse, refuseDetached,
    };
})
