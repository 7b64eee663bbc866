// SPDX-License-Identifier: MIT
// js/lib/ffi_type.js - types of C and memory: scalars by name, structs, arrays, and what is seen of them where they lie.
// host: ffiScalar(name), ffiStruct(name, [field, handle...]), ffiArray(handle, count), ffiTextType(bytes),
//       ffiCallbackType(result, [types]), ffiLayout(handle) -> [size, alignment, offsets...], pointerPrototype, ffiAlloc(bytes),
//       ffiPointer(address or view), ffiView(pointer, handle, prototype, offset), ffiOffset(pointer, bytes), ffiAddress(pointer),
//       ffiRoom(pointer), ffiFree(pointer), ffiRead(pointer, handle, offset), ffiWrite(pointer, handle, offset, value),
//       ffiGetBytes(pointer, offset, count), ffiSetBytes(pointer, offset, bytes), ffiGetText(pointer, offset),
//       ffiBuffer(pointer, offset, count)
//
// A view is an object of the host's that knows a place in memory and a type; its fields are read and written there. What read()
// returns is a copy: plain objects, arrays, numbers.
(function (host) {
    'use strict';
    const inspect = Symbol.for('nodejs.util.inspect.custom');
    let handleOf;
    let count = 0;

    class Type {
        #handle;

        constructor(name, handle) {
            this.#handle = handle;
            const [size, alignment] = host.ffiLayout(handle);
            const define = (key, value) => Object.defineProperty(this, key, { value, enumerable: true });
            define('name', name);
            define('size', size);
            define('alignment', alignment);
            Object.defineProperty(this, 'id', { value: count++ }); // for lists of types, as keys
        }

        static {
            handleOf = (type) => type.#handle;
        }

        // What lies there, and what is written there: a scalar, or a view.
        get(place, offset) {
            return host.ffiRead(place, this.#handle, offset);
        }

        // A copy of what lies there.
        read(pointer, offset = 0) {
            return host.ffiRead(pointer, this.#handle, offset);
        }

        write(pointer, value, offset = 0) {
            host.ffiWrite(pointer, this.#handle, offset, value);
        }
    }

    // ---- Structs and arrays ----

    // Of both: memory of its own, or somebody's.
    class Aggregate extends Type {
        #prototype;

        constructor(name, handle, prototype) {
            super(name, handle);
            this.#prototype = prototype;
            Object.defineProperty(prototype, Symbol.toStringTag, { value: name, configurable: true });
            const type = this;
            Object.defineProperty(prototype, inspect, { value(depth, options, show) { return show(type.read(this), options); } });
        }

        get(place, offset) {
            return host.ffiView(place, handleOf(this), this.#prototype, offset);
        }

        // A view on memory that is there already.
        at(pointer, offset = 0) {
            return this.get(pointer, offset);
        }
    }

    function field(prototype, name, type, offset) {
        Object.defineProperty(prototype, name, {
            configurable: true,
            enumerable: true,
            get() {
                return type.get(this, offset);
            },
            set(value) {
                type.write(this, value, offset);
            },
        });
    }

    class Struct extends Aggregate {
        constructor(fields, name) {
            const parts = Object.entries(fields).map(([key, description]) => [key, typeOf(description)]);
            const handle = host.ffiStruct(name, parts.flatMap(([key, type]) => [key, handleOf(type)]));
            const [, , ...offsets] = host.ffiLayout(handle);
            const prototype = Object.create(null);
            super(name, handle, prototype);
            parts.forEach(([key, type], index) => field(prototype, key, type, offsets[index]));
            const value = Object.freeze(Object.fromEntries(parts.map(([key], index) => [key, offsets[index]])));
            Object.defineProperty(this, 'offsets', { value, enumerable: true });
        }

        // A view on memory of its own: fields that are not given are zero.
        new(values = {}) {
            const view = this.get(host.ffiAlloc(this.size), 0);
            for (const key of Object.keys(values)) {
                if (!Object.hasOwn(this.offsets, key))
                    throw new TypeError(`${this.name} has no field ${key}`);
                view[key] = values[key];
            }
            return view;
        }
    }

    function elements(type, length) {
        const check = (index) => {
            if (!Number.isInteger(index) || index < 0 || index >= length)
                throw new RangeError(`Element ${String(index)} of ${length}`);
            return index * type.size;
        };
        return Object.create(null, {
            length: { value: length },
            at: { value(index) { return type.get(this, check(index)); } },
            set: { value(index, value) { type.write(this, value, check(index)); } },
            toArray: { value() { return Array.from({ length }, (_, index) => type.read(this, index * type.size)); } },
            [Symbol.iterator]: {
                * value() {
                    for (let index = 0; index < length; index++)
                        yield this.at(index);
                },
            },
        });
    }

    class ArrayType extends Aggregate {
        constructor(element, length) {
            const type = typeOf(element);
            super(`${type.name}[${length}]`, host.ffiArray(handleOf(type), length), elements(type, length));
            Object.defineProperty(this, 'length', { value: length, enumerable: true });
        }

        new(values) {
            const memory = host.ffiAlloc(this.size);
            if (values !== undefined)
                this.write(memory, values);
            return this.get(memory, 0);
        }
    }

    // ---- By name, or as they are ----

    const scalars = new Map();

    function scalar(name) {
        let type = scalars.get(name);
        if (!type) {
            const handle = host.ffiScalar(name);
            if (handle === undefined)
                throw new TypeError(`There is no type '${name}'`);
            type = new Type(name, handle);
            scalars.set(name, type);
        }
        return type;
    }

    function typeOf(description) {
        if (typeof description === 'string')
            return scalar(description);
        if (description instanceof Type)
            return description;
        if (typeof description === 'object' && description !== null && description.callback !== undefined)
            return callbackType(description.callback);
        throw new TypeError('A type is a name, a struct, an array, or { callback: signature }');
    }

    function callbackType(signature) {
        const [returns, parameters] = Array.isArray(signature) ? signature : [signature?.returns, signature?.parameters];
        const list = parameters ?? [];
        if (!Array.isArray(list))
            throw new TypeError('Parameters are a list of types');
        const types = list.map((each) => handleOf(typeOf(each)));
        return new Type('callback', host.ffiCallbackType(handleOf(typeOf(returns ?? 'void')), types));
    }

    const struct = (fields, name = 'struct') => {
        if (typeof fields !== 'object' || fields === null)
            throw new TypeError('A struct needs an object of fields and their types');
        return new Struct(fields, String(name));
    };
    const array = (element, length) => {
        if (!Number.isInteger(length) || length < 1)
            throw new RangeError('The length of an array is a whole number, 1 or more');
        return new ArrayType(element, length);
    };
    const text = (size) => {
        if (!Number.isInteger(size) || size < 1)
            throw new RangeError('The size of a text is a whole number of bytes, 1 or more');
        return new Type(`text[${size}]`, host.ffiTextType(size));
    };

    // ---- Pointers ----

    function Pointer() {
        throw new TypeError('Pointers come from alloc, pointer, string, and foreign functions');
    }

    const methods = {
        get address() {
            return host.ffiAddress(this);
        },
        // How many bytes are known to be there; undefined: nobody knows.
        get size() {
            return host.ffiRoom(this);
        },
        read(type, offset = 0) {
            return typeOf(type).read(this, offset);
        },
        write(type, value, offset = 0) {
            typeOf(type).write(this, value, offset);
        },
        // A copy of that many bytes; of all that are known, without a number.
        toBytes(size = this.size, offset = 0) {
            return host.ffiGetBytes(this, offset, size);
        },
        setBytes(bytes, offset = 0) {
            host.ffiSetBytes(this, offset, bytes);
        },
        // The memory itself, as an ArrayBuffer.
        toBuffer(size = this.size, offset = 0) {
            return host.ffiBuffer(this, offset, size);
        },
        add(bytes) {
            if (!Number.isSafeInteger(bytes))
                throw new RangeError('The distance is a whole number of bytes');
            return host.ffiOffset(this, bytes);
        },
        free() {
            host.ffiFree(this);
        },
        toString() {
            return `Pointer(0x${this.address.toString(16)})`;
        },
        [inspect]() {
            return this.toString();
        },
        [Symbol.dispose ?? Symbol('dispose')]() {
            host.ffiFree(this);
        },
    };
    for (const key of Reflect.ownKeys(methods))
        Object.defineProperty(host.pointerPrototype, key,
            { ...Object.getOwnPropertyDescriptor(methods, key), enumerable: false });
    Object.defineProperty(host.pointerPrototype, 'constructor', { value: Pointer, configurable: true, writable: true });
    Object.defineProperty(host.pointerPrototype, Symbol.toStringTag, { value: 'Pointer', configurable: true });
    Object.defineProperty(Pointer, 'prototype', { value: host.pointerPrototype });

    const alloc = (size) => host.ffiAlloc(size);
    const pointer = (value) => host.ffiPointer(value);
    const cstring = (from, offset = 0) => host.ffiGetText(from, offset);

    // Memory with the bytes of a text and a zero behind them.
    function string(value) {
        if (typeof value !== 'string')
            throw new TypeError('A string is made of a text');
        if (value.includes('\0'))
            throw new TypeError('The text contains a zero, which is the end of a string in C');
        const bytes = new TextEncoder().encode(value);
        const memory = host.ffiAlloc(bytes.length + 1);
        host.ffiSetBytes(memory, 0, bytes);
        return memory;
    }

    return { Type, typeOf, handleOf, callbackType, struct, array, text, Pointer, alloc, pointer, cstring, string };
})
