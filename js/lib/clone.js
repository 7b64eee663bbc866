// SPDX-License-Identifier: MIT
// js/lib/clone.js - structuredClone, in two steps: a flat list of records is written, then read.
// host: typeTag(object) names the engine's class of an object, isProxy(object) gives undefined unless it is a proxy
(function (host, need) {
    'use strict';

    const idl = need('idl');
    const { isArray } = Array;
    const { hasOwn, keys: keysOf, defineProperty } = Object;
    const mapSet = Map.prototype.set;
    const mapForEach = Map.prototype.forEach;
    const setAdd = Set.prototype.add;
    const setForEach = Set.prototype.forEach;
    const getTime = Date.prototype.getTime;
    const transferBuffer = ArrayBuffer.prototype.transfer;
    const typedArrayKeys = Object.getPrototypeOf(Uint8Array.prototype).keys;
    const push = Array.prototype.push;
    const errorNames = ['EvalError', 'RangeError', 'ReferenceError', 'SyntaxError', 'TypeError', 'URIError'];

    // Classes of the library whose objects can be cloned or transferred: name -> { test, take, make, ... }.
    const cloneables = new Map();
    const transferables = new Map();

    function cloneError(message) {
        const { DOMException } = need('dom_exception');
        return new DOMException(message, 'DataCloneError');
    }

    // What V8 says of a value that it cannot clone.
    function refusal(value) {
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
        return cloneError(`${shown} could not be cloned.`);
    }

    // Whether a view of a resizable buffer has lost its bytes: an iterator is refused then.
    function isOutOfBounds(view, tag) {
        try {
            if (tag === 'DataView') {
                return view.byteLength < 0;
            }
            typedArrayKeys.call(view);
            return false;
        } catch {
            return true;
        }
    }

    // Whether a view follows the length of its resizable buffer: the buffer is changed for a moment to find out.
    function followsLength(view, tag) {
        const buffer = view.buffer;
        const size = view.BYTES_PER_ELEMENT ?? 1;
        const before = view.byteLength;
        const end = view.byteOffset + before;
        const total = buffer.byteLength;
        if (!buffer.resizable) {
            return buffer.growable === true && end + size > total;
        }
        if (end + size <= total) {
            return false;
        }
        if (total + size <= buffer.maxByteLength) {
            buffer.resize(total + size);
            const follows = view.byteLength !== before;
            buffer.resize(total);
            return follows;
        }
        if (before === 0) {
            // Nothing can be taken away, and the buffer is as long as it ever gets.
            return true;
        }
        const kept = new Uint8Array(buffer, end - size).slice();
        buffer.resize(end - size);
        const follows = !isOutOfBounds(view, tag);
        buffer.resize(total);
        new Uint8Array(buffer, end - size).set(kept);
        return follows;
    }

    function copyBuffer(buffer) {
        if (buffer.detached) {
            throw cloneError('An ArrayBuffer is detached and could not be cloned.');
        }
        if (!buffer.resizable) {
            return buffer.slice(0);
        }
        const copy = new ArrayBuffer(buffer.byteLength, { maxByteLength: buffer.maxByteLength });
        new Uint8Array(copy).set(new Uint8Array(buffer));
        return copy;
    }

    // Writes values as records. A value is written as itself if it is primitive, else as [number of its record].
    class Writer {
        records = [];
        // From an object to its reference, so that the same object is written once.
        seen = new Map();
        // Objects whose parts are still to be written; the last one is being worked on.
        open = [];

        constructor(transfers) {
            transfers.forEach((object, index) => this.add(object, ['transfer', index]));
        }

        add(object, record) {
            const reference = [this.records.push(record) - 1];
            this.seen.set(object, reference);
            return reference;
        }

        // Puts aside an object with parts: next(index) gives one part after the other to `into`.
        later(object, record, into, count, next) {
            const reference = this.add(object, record);
            this.open.push({ into, count, next, index: 0 });
            return reference;
        }

        write(value) {
            const root = this.value(value);
            // No recursion: a list of a million links must not exhaust the stack.
            while (this.open.length > 0) {
                const job = this.open[this.open.length - 1];
                if (job.index >= job.count) {
                    this.open.pop();
                } else {
                    job.next(job.index++, job.into);
                }
            }
            return root;
        }

        value(value) {
            if (typeof value === 'symbol' || typeof value === 'function') {
                throw refusal(value);
            }
            if (typeof value !== 'object' || value === null) {
                return value;
            }
            return this.seen.get(value) ?? this.object(value, host.typeTag(value));
        }

        object(object, tag) {
            switch (tag) {
            case 'Object':
                return this.plain(object);
            case 'Array':
                return this.array(object);
            case 'Date':
                return this.add(object, ['date', getTime.call(object)]);
            case 'RegExp':
                return this.add(object, ['regexp', object.source, object.flags]);
            case 'Number':
                return this.add(object, ['boxed', Number.prototype.valueOf.call(object)]);
            case 'String':
                return this.add(object, ['boxed', String.prototype.valueOf.call(object)]);
            case 'Boolean':
                return this.add(object, ['boxed', Boolean.prototype.valueOf.call(object)]);
            case 'BigInt':
                return this.add(object, ['boxed', BigInt.prototype.valueOf.call(object)]);
            case 'Map':
                return this.map(object);
            case 'Set':
                return this.set(object);
            case 'Error':
                return this.error(object);
            case 'ArrayBuffer':
                return this.add(object, ['buffer', copyBuffer(object)]);
            case 'SharedArrayBuffer':
                return this.add(object, ['buffer', object]);
            default:
                if (ArrayBuffer.isView(object)) {
                    return this.view(object, tag);
                }
                throw refusal(object);
            }
        }

        properties(object, record) {
            const keys = keysOf(object);
            const written = [];
            const values = [];
            record.push(written, values);
            return this.later(object, record, values, keys.length, (index) => {
                const key = keys[index];
                // A getter may have removed a property that comes later.
                if (hasOwn(object, key)) {
                    const value = object[key];
                    written.push(key);
                    values.push(this.value(value));
                }
            });
        }

        plain(object) {
            // To the engine a proxy is of the class of plain objects.
            if (host.isProxy(object) !== undefined) {
                throw refusal(object);
            }
            const prototype = Object.getPrototypeOf(object);
            if (prototype !== Object.prototype && prototype !== null && idl.isPlatformObject(object)) {
                return this.platform(object);
            }
            return this.properties(object, ['object']);
        }

        array(object) {
            return this.properties(object, ['array', object.length]);
        }

        items(object, record, items) {
            const written = [];
            record.push(written);
            return this.later(object, record, written, items.length, (index) => written.push(this.value(items[index])));
        }

        map(object) {
            const items = [];
            mapForEach.call(object, (value, key) => items.push(key, value));
            return this.items(object, ['map'], items);
        }

        set(object) {
            const items = [];
            setForEach.call(object, (value) => items.push(value));
            return this.items(object, ['set'], items);
        }

        error(object) {
            if (idl.isPlatformObject(object)) {
                return this.platform(object);
            }
            const given = object.name;
            const name = given === undefined ? 'Error' : `${given}`;
            const message = Object.getOwnPropertyDescriptor(object, 'message');
            const record = ['error', errorNames.includes(name) ? name : 'Error', undefined, undefined];
            if (message !== undefined && 'value' in message) {
                record[2] = `${message.value}`;
            }
            const items = hasOwn(object, 'cause') ? [object.cause] : [];
            const stack = object.stack;
            if (typeof stack === 'string') {
                record[3] = stack;
            }
            return this.items(object, record, items);
        }

        view(view, tag) {
            const buffer = view.buffer;
            if (buffer.detached) {
                throw cloneError('An ArrayBuffer is detached and could not be cloned.');
            }
            if (isOutOfBounds(view, tag)) {
                throw refusal(view);
            }
            const length = tag === 'DataView' ? view.byteLength : view.length;
            const tracking = followsLength(view, tag);
            const reference = this.value(buffer);
            return this.add(view, ['view', tag, reference, view.byteOffset, tracking ? undefined : length]);
        }

        platform(object) {
            for (const [name, { test, take }] of cloneables) {
                if (test(object)) {
                    return this.items(object, ['platform', name], take(object));
                }
            }
            throw refusal(object);
        }
    }

    // The numbers come first and in order among the keys of an array.
    function isDense([, length, keys]) {
        return length > 0 ? keys[length - 1] === String(length - 1) : true;
    }

    // Makes the empty objects of all records first, then fills them.
    class Reader {
        constructor(records, transferred) {
            this.records = records;
            this.transferred = transferred;
            this.objects = [];
        }

        read(root) {
            const later = [];
            for (const record of this.records) {
                const object = this.make(record);
                this.objects.push(object);
                if (object === undefined) {
                    later.push(this.objects.length - 1);
                }
            }
            for (const index of later) {
                const [, name, items] = this.records[index];
                this.objects[index] = cloneables.get(name).make(items.map((item) => this.value(item)));
            }
            this.records.forEach((record, index) => this.fill(this.objects[index], record));
            return this.value(root);
        }

        value(value) {
            return isArray(value) ? this.objects[value[0]] : value;
        }

        make(record) {
            switch (record[0]) {
            case 'object':
                return {};
            case 'array':
                return isDense(record) ? [] : new Array(record[1]);
            case 'date':
                return new Date(record[1]);
            case 'regexp':
                return new RegExp(record[1], record[2]);
            case 'boxed':
                return Object(record[1]);
            case 'map':
                return new Map();
            case 'set':
                return new Set();
            case 'error':
                return this.error(record);
            case 'buffer':
                return record[1];
            case 'transfer':
                return this.transferred[record[1]];
            case 'view':
                return this.view(record);
            default:
                return undefined;
            }
        }

        error([, name, message, stack]) {
            const error = new globalThis[name](...(message === undefined ? [] : [message]));
            if (stack !== undefined) {
                defineProperty(error, 'stack', { value: stack, writable: true, enumerable: false, configurable: true });
            }
            return error;
        }

        // The buffer of a view is always written before the view.
        view([, tag, reference, offset, length]) {
            return new globalThis[tag](this.value(reference), offset, length);
        }

        fill(object, record) {
            switch (record[0]) {
            case 'object':
                return this.properties(object, record[1], record[2]);
            case 'array':
                return this.elements(object, record);
            case 'map':
                for (let i = 0; i < record[1].length; i += 2) {
                    mapSet.call(object, this.value(record[1][i]), this.value(record[1][i + 1]));
                }
                return;
            case 'set':
                for (const item of record[1]) {
                    setAdd.call(object, this.value(item));
                }
                return;
            case 'error':
                for (const item of record[4]) {
                    const value = this.value(item);
                    defineProperty(object, 'cause', { value, writable: true, enumerable: false, configurable: true });
                }
            }
        }

        elements(array, record) {
            const [, length, keys, values] = record;
            let i = 0;
            if (isDense(record)) {
                for (; i < length; i++) {
                    push.call(array, this.value(values[i]));
                }
            }
            this.properties(array, keys, values, i);
        }

        properties(object, keys, values, from = 0) {
            for (let i = from; i < keys.length; i++) {
                const key = keys[i];
                const value = this.value(values[i]);
                if (key in object) {
                    defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
                } else {
                    object[key] = value;
                }
            }
        }
    }

    // Checks what is to be transferred; nothing is taken away yet.
    function checkTransfers(list) {
        const seen = new Set();
        for (const object of list) {
            const tag = host.typeTag(object);
            if (tag !== 'ArrayBuffer' && transferableOf(object) === undefined) {
                throw cloneError('Value could not be transferred');
            }
            if (seen.has(object)) {
                throw cloneError(tag === 'ArrayBuffer' ? 'Transfer list contains duplicate ArrayBuffer' :
                    'Transfer list contains duplicate object');
            }
            seen.add(object);
        }
    }

    function transferableOf(object) {
        for (const entry of transferables.values()) {
            if (entry.test(object)) {
                return entry;
            }
        }
        return undefined;
    }

    function moveAway(list) {
        for (const object of list) {
            if (object.detached === true) {
                throw cloneError('An ArrayBuffer is detached and could not be cloned.');
            }
        }
        return list.map((object) => {
            const entry = transferableOf(object);
            return entry === undefined ? transferBuffer.call(object) : entry.move(object);
        });
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

    // The two halves, for messages between ports: the parcel holds plain data, buffers and what was moved.
    function pack(value, list) {
        checkTransfers(list);
        const writer = new Writer(list);
        const root = writer.write(value);
        return { root, records: writer.records, transferred: moveAway(list) };
    }

    function unpack({ root, records, transferred }) {
        return new Reader(records, transferred).read(root);
    }

    function structuredClone(value, options = undefined) {
        idl.needArguments('structuredClone', arguments.length, 1);
        const list = toTransferList(options);
        if ((typeof value !== 'object' || value === null) && typeof value !== 'function' && typeof value !== 'symbol' &&
            list.length === 0) {
            return value;
        }
        return unpack(pack(value, list));
    }

    // Lets the objects of a class be cloned: test(object), take(object) -> array of primitives, buffers and views,
    // make(array) -> object.
    function addCloneable(name, entry) {
        cloneables.set(name, entry);
    }

    // Lets the objects of a class be transferred: test(object), move(object) -> the object at the other end.
    function addTransferable(name, entry) {
        transferables.set(name, entry);
    }

    addCloneable('DOMException', {
        test: (object) => need('dom_exception').isDOMException(object),
        take: (object) => [object.message, object.name],
        make: ([message, name]) => new (need('dom_exception').DOMException)(message, name),
    });

    addCloneable('Blob', {
        test: (object) => need('blob').isBlob(object),
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

    return { structuredClone, pack, unpack, toTransferList, addCloneable, addTransferable };
})
