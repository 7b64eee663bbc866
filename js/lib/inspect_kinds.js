// SPDX-License-Identifier: MIT
// js/lib/inspect_kinds.js - how inspect shows each kind of object: lists, maps, functions, buffers, promises and the rest.
// host: typeTag(value), isProxy(value), isPromise(value), previewEntries(iterator or weak collection).
(function (host, need) {
    'use strict';

    const text = need('inspect_text');
    const hasOwn = Object.hasOwn;
    const TYPED = /^(?:Ui|I)nt(?:8|16|32)(?:Clamped)?Array$|^Float(?:16|32|64)Array$|^Big(?:Ui|I)nt64Array$/;
    // The states that host.isPromise() tells.
    const PENDING = 0;
    const REJECTED = 2;
    const BOXED = { Number, String, Boolean, BigInt, Symbol };
    const BUILT_IN = ('Object Function Array Number Boolean String Symbol Date Promise RegExp Error AggregateError ' +
        'EvalError RangeError ReferenceError SyntaxError TypeError URIError ArrayBuffer Uint8Array ' +
        'Int8Array Uint16Array Int16Array Uint32Array Int32Array Float16Array Float32Array Float64Array ' +
        'Uint8ClampedArray BigUint64Array BigInt64Array DataView Map BigInt Set WeakMap WeakSet WeakRef ' +
        'Proxy Reflect FinalizationRegistry SharedArrayBuffer Atomics JSON Math Iterator WebAssembly Intl ' +
        'InternalError').split(' ');
    let builtIn;

    function isBuiltIn(name) {
        if (builtIn === undefined) builtIn = new Set(BUILT_IN);
        return builtIn.has(name);
    }

    // The target of a proxy, null for one that is revoked, undefined for what is no proxy.
    const proxyTarget = host.isProxy;

    // The engine's own name of the kind of object, without the space some of them have.
    function className(value) {
        const name = host.typeTag(value);
        return name.includes(' ') ? name.replaceAll(' ', '') : name;
    }

    function isModuleNamespace(value, kind) {
        if (kind === 'Module') return true;
        if (kind !== 'Object' || Object.getPrototypeOf(value) !== null) return false;
        const tag = Object.getOwnPropertyDescriptor(value, Symbol.toStringTag);
        return tag !== undefined && tag.value === 'Module' && !tag.writable && !tag.configurable &&
            !Object.isExtensible(value);
    }

    // The functions of inspect.js that the kinds call back; it hands them over in bind().
    let tools;
    let formatValue, formatPrimitive, formatProperty, prefix, keysOf, keysBesideIndices, isIndex, plain, ELEMENT;

    function bind(given) {
        tools = given;
        ({ formatValue, formatPrimitive, formatProperty, prefix, keysOf, keysBesideIndices, isIndex, plain,
            ELEMENT } = given);
        return { shapeOf, proxyTarget, isBuiltIn, className };
    }

    function list(braces, keys, format) {
        return { keys, braces, base: '', format, isList: true };
    }

    function object(open, keys, format, base = '') {
        return { keys, braces: [open, '}'], base, format, isList: false };
    }

    function more(count, what = 'item') {
        return '... ' + count + ' more ' + what + (count > 1 ? 's' : '');
    }

    function emptyItems(context, count) {
        return context.stylize('<' + count + ' empty item' + (count > 1 ? 's' : '') + '>', 'undefined');
    }

    function limitOf(context, length) {
        return Math.min(Math.max(0, context.maxArrayLength), length);
    }

    function formatArray(context, value, depth) {
        const limit = limitOf(context, value.length);
        const entries = [];
        for (let i = 0; i < limit; i++) {
            if (!hasOwn(value, i)) return formatHoles(context, value, depth, limit, entries, i);
            entries.push(formatProperty(context, value, depth, i, ELEMENT));
        }
        if (value.length > limit) entries.push(more(value.length - limit));
        return entries;
    }

    // From the first hole on: a run of holes counts as one entry.
    function formatHoles(context, value, depth, limit, entries, index) {
        const keys = Object.keys(value);
        for (let i = index; i < keys.length && entries.length < limit; i++) {
            if (!isIndex(keys[i])) break;
            const at = Number(keys[i]);
            if (at !== index) {
                entries.push(emptyItems(context, at - index));
                index = at;
                if (entries.length === limit) break;
            }
            entries.push(formatProperty(context, value, depth, keys[i], ELEMENT));
            index++;
        }
        const remaining = value.length - index;
        if (remaining > 0) entries.push(entries.length === limit ? more(remaining) : emptyItems(context, remaining));
        return entries;
    }

    function formatTyped(source) {
        return function (context, value, depth) {
            const limit = limitOf(context, source.length);
            const entries = [];
            for (let i = 0; i < limit; i++) entries.push(formatPrimitive(context, context.stylize, source[i]));
            if (source.length > limit) entries.push(more(source.length - limit));
            if (context.showHidden) {
                context.indentationLvl += 2;
                for (const key of ['BYTES_PER_ELEMENT', 'length', 'byteLength', 'byteOffset', 'buffer']) {
                    entries.push('[' + key + ']: ' + formatValue(context, value[key], depth, true));
                }
                context.indentationLvl -= 2;
            }
            return entries;
        };
    }

    function formatSet(context, value, depth) {
        return formatItems(context, Set.prototype.values.call(value), setSize(value), depth);
    }

    function formatItems(context, items, size, depth) {
        const limit = limitOf(context, size);
        const entries = [];
        context.indentationLvl += 2;
        for (const item of items) {
            if (entries.length >= limit) break;
            entries.push(formatValue(context, item, depth));
        }
        if (size > limit) entries.push(more(size - limit));
        context.indentationLvl -= 2;
        return entries;
    }

    function formatMap(context, value, depth) {
        const size = mapSize(value);
        const limit = limitOf(context, size);
        const entries = [];
        context.indentationLvl += 2;
        for (const [key, item] of Map.prototype.entries.call(value)) {
            if (entries.length >= limit) break;
            entries.push(formatValue(context, key, depth) + ' => ' + formatValue(context, item, depth));
        }
        if (size > limit) entries.push(more(size - limit));
        context.indentationLvl -= 2;
        return entries;
    }

    // Keys and values in turn, as "[ key, value ]" or, for weak maps, as "key => value".
    function formatPairs(context, flat, depth, asMap) {
        const count = flat.length / 2;
        const limit = limitOf(context, count);
        const entries = [];
        context.indentationLvl += 2;
        for (let i = 0; i < limit; i++) {
            const pair = [formatValue(context, flat[i * 2], depth), formatValue(context, flat[i * 2 + 1], depth)];
            entries.push(asMap ? pair.join(' => ') : text.joinEntries(context, pair, '', ['[', ']'], true, depth));
        }
        context.indentationLvl -= 2;
        if (count > limit) entries.push(more(count - limit));
        return entries;
    }

    function formatIterator(shape) {
        return function (context, value, depth) {
            if (host.previewEntries === undefined) return [context.stylize('<items unknown>', 'special')];
            const [flat, isPairs] = host.previewEntries(value);
            if (!isPairs) return formatItems(context, flat, flat.length, depth);
            shape.braces[0] = shape.braces[0].replace(/ Iterator\] \{$/, ' Entries] {');
            return formatPairs(context, flat, depth, false);
        };
    }

    function formatWeak(context, value, depth) {
        if (!context.showHidden || host.previewEntries === undefined) return [context.stylize('<items unknown>', 'special')];
        const [flat, isPairs] = host.previewEntries(value);
        return isPairs ? formatPairs(context, flat, depth, true) : formatItems(context, flat, flat.length, depth);
    }

    function formatPromise(context, value, depth) {
        const [state, result] = host.isPromise(value);
        if (state === PENDING) return [context.stylize('<pending>', 'special')];
        context.indentationLvl += 2;
        const shown = formatValue(context, result, depth);
        context.indentationLvl -= 2;
        return [state === REJECTED ? context.stylize('<rejected>', 'special') + ' ' + shown : shown];
    }

    function formatBytes(context, value) {
        let bytes;
        try {
            bytes = new Uint8Array(value);
        } catch {
            return [context.stylize('(detached)', 'special')];
        }
        const limit = limitOf(context, bytes.length);
        let shown = Array.from(bytes.subarray(0, limit), (byte) => byte.toString(16).padStart(2, '0')).join(' ');
        if (bytes.length > limit) shown += ' ' + more(bytes.length - limit, 'byte');
        return [context.stylize('[Uint8Contents]', 'special') + ': <' + shown + '>'];
    }

    // An export that is not initialised yet cannot be read.
    function formatNamespace(context, value, depth) {
        const entries = [];
        for (const key of keysOf(value, context.showHidden)) {
            try {
                entries.push(formatProperty(context, value, depth, key, 0));
            } catch (error) {
                if (!(error instanceof ReferenceError)) throw error;
                entries.push(key + ': ' + context.stylize('<uninitialized>', 'special'));
            }
        }
        return entries;
    }

    function mapSize(value) {
        return Object.getOwnPropertyDescriptor(Map.prototype, 'size').get.call(value);
    }

    function setSize(value) {
        return Object.getOwnPropertyDescriptor(Set.prototype, 'size').get.call(value);
    }

    function iteratorShape(context, value, tag, name) {
        if (tag !== name + ' Iterator') tag = (tag === '' ? '' : tag + '] [') + name + ' Iterator';
        const shape = object('[' + tag + '] {', keysOf(value, context.showHidden));
        shape.format = formatIterator(shape);
        return shape;
    }

    // Lists and collections; undefined for what is neither.
    function iterableShape(context, value, constructor, tag, kind, bare) {
        if (Array.isArray(value)) {
            const lead = constructor === 'Array' && tag === '' ? '' : prefix(constructor, tag, 'Array', '(' +
                value.length + ')');
            const keys = keysBesideIndices(value, context.showHidden);
            if (value.length === 0 && keys.length === 0 && bare) return lead + '[]';
            return list([lead + '[', ']'], keys, formatArray);
        }
        if (kind === 'Set' || kind === 'Map') {
            const size = kind === 'Set' ? setSize(value) : mapSize(value);
            const lead = prefix(constructor, tag, kind, '(' + size + ')');
            const keys = keysOf(value, context.showHidden);
            if (size === 0 && keys.length === 0 && bare) return lead + '{}';
            return object(lead + '{', keys, kind === 'Set' ? formatSet : formatMap);
        }
        if (TYPED.test(kind)) {
            const source = constructor === null ? new globalThis[kind](value) : value;
            const lead = prefix(constructor, tag, constructor === null ? kind : '', '(' + source.length + ')');
            const keys = keysBesideIndices(value, context.showHidden);
            if (source.length === 0 && keys.length === 0 && !context.showHidden) return lead + '[]';
            return list([lead + '[', ']'], keys, formatTyped(source));
        }
        if (kind === 'MapIterator') return iteratorShape(context, value, tag, 'Map');
        if (kind === 'SetIterator') return iteratorShape(context, value, tag, 'Set');
        return undefined;
    }

    // A class of ours, whose source is not kept: its prototype cannot be replaced, and it is none of the language's.
    function isClassWithoutSource(value, source) {
        if (!source.includes('[native code]') || isBuiltIn(value.name) || proxyTarget(value) !== undefined) return false;
        const descriptor = Object.getOwnPropertyDescriptor(value, 'prototype');
        return descriptor !== undefined && descriptor.writable === false;
    }

    function isClass(value, source) {
        if (!source.startsWith('class') || !source.endsWith('}')) return isClassWithoutSource(value, source);
        const open = source.indexOf('{');
        if (open < 0) return false;
        // A parenthesis may stand in a comment; as in Node, one in the heritage makes it a function.
        const isPlain = !source.slice(5, open).includes('(');
        return isPlain || /^\s[^({]*\{/.test(source.slice(5).replace(/\/\/.*$|\/\*[^]*?\*\//gm, ''));
    }

    function classBase(value, constructor, tag) {
        const name = hasOwn(value, 'name') && value.name ? value.name : '(anonymous)';
        let base = 'class ' + name;
        if (constructor !== 'Function' && constructor !== null) base += ' [' + constructor + ']';
        if (tag !== '' && constructor !== tag) base += ' [' + tag + ']';
        if (constructor === null) return '[' + base + ' extends [null prototype]]';
        const parent = Object.getPrototypeOf(value).name;
        return '[' + base + (parent ? ' extends ' + parent : '') + ']';
    }

    function functionBase(value, constructor, tag, kind) {
        if (isClass(value, Function.prototype.toString.call(value))) return classBase(value, constructor, tag);
        const type = /^(?:Async)?(?:Generator)?Function$/.test(kind) ? kind : 'Function';
        let base = '[' + type + (constructor === null ? ' (null prototype)' : '');
        base += (value.name === '' ? ' (anonymous)' : ': ' + String(value.name)) + ']';
        if (constructor !== type && constructor !== null) base += ' ' + constructor;
        if (tag !== '' && constructor !== tag) base += ' [' + tag + ']';
        return base;
    }

    function boxedShape(context, value, constructor, tag, kind, keys, bare) {
        if (kind === 'String') keys.splice(0, value.length);
        const inner = BOXED[kind].prototype.valueOf.call(value);
        let base = '[' + kind;
        if (kind !== constructor) base += constructor === null ? ' (null prototype)' : ' (' + constructor + ')';
        base += ': ' + formatPrimitive(context, plain, inner) + ']';
        if (tag !== '' && tag !== constructor) base += ' [' + tag + ']';
        if (keys.length === 0 && context.stylize !== plain) base = context.stylize(base, kind.toLowerCase());
        return keys.length === 0 && bare ? base : object('{', keys, undefined, base);
    }

    function bufferShape(context, value, constructor, tag, kind, keys, bare, inView) {
        const lead = prefix(constructor, tag, kind);
        if (inView && keys.length === 0 && bare) {
            return lead + '{ byteLength: ' + formatPrimitive(context, context.stylize, value.byteLength) + ' }';
        }
        return object(lead + '{', ['byteLength', ...keys], inView ? undefined : formatBytes);
    }

    function dateBase(value, constructor, tag) {
        const time = Date.prototype.getTime.call(value);
        const base = Number.isNaN(time) ? Date.prototype.toString.call(value) : Date.prototype.toISOString.call(value);
        const lead = prefix(constructor, tag, 'Date');
        return lead === 'Date ' ? base : lead + base;
    }

    function regexpBase(value, constructor, tag) {
        const base = RegExp.prototype.toString.call(constructor === null ? new RegExp(value) : value);
        const lead = prefix(constructor, tag, 'RegExp');
        return lead === 'RegExp ' ? base : lead + base;
    }

    function otherShape(context, value, constructor, tag, kind, bare, deep, inView) {
        const keys = keysOf(value, context.showHidden);
        const empty = keys.length === 0 && bare;
        if (kind === 'Error' || value instanceof Error) {
            const base = need('inspect_error').errorBase(tools, context, value, constructor, tag, keys);
            if (keys.length === 0 && bare) return base;
            const shape = object('{', keys, undefined, base);
            shape.hiddenStack = kind === 'Error';
            return shape;
        }
        switch (kind) {
        case 'RegExp': {
            const base = regexpBase(value, constructor, tag);
            return empty || deep ? context.stylize(base, 'regexp') : object('{', keys, undefined, base);
        }
        case 'Date': {
            const base = dateBase(value, constructor, tag);
            return empty ? context.stylize(base, 'date') : object('{', keys, undefined, base);
        }
        case 'ArrayBuffer':
        case 'SharedArrayBuffer':
            return bufferShape(context, value, constructor, tag, kind, keys, bare, inView);
        case 'DataView':
            return object(prefix(constructor, tag, kind) + '{', ['byteLength', 'byteOffset', 'buffer', ...keys]);
        case 'Promise':
            return object(prefix(constructor, tag, kind) + '{', keys, formatPromise);
        case 'WeakSet':
        case 'WeakMap':
            return object(prefix(constructor, tag, kind) + '{', keys, formatWeak);
        case 'Number': case 'String': case 'Boolean': case 'BigInt': case 'Symbol':
            return boxedShape(context, value, constructor, tag, kind, keys, bare);
        }
        if (isModuleNamespace(value, kind)) return object(prefix(constructor, tag, 'Module') + '{', [], formatNamespace);
        if (empty) return prefix(constructor, tag, 'Object') + '{}';
        return object(prefix(constructor, tag, 'Object') + '{', keys);
    }

    // What stands before, between and after the braces; or the whole text where nothing stands between them.
    function shapeOf(context, value, constructor, tag, bare, depth, inView) {
        const kind = className(value);
        if (value[Symbol.iterator] || constructor === null) {
            const shape = iterableShape(context, value, constructor, tag, kind, bare);
            if (shape !== undefined) return shape;
        }
        if (kind === 'Arguments') {
            const keys = keysOf(value, context.showHidden);
            return keys.length === 0 && bare ? '[Arguments] {}' : object('[Arguments] {', keys);
        }
        if (constructor === 'Object') {
            const keys = keysOf(value, context.showHidden);
            const lead = tag === '' ? '' : prefix(constructor, tag, 'Object');
            return keys.length === 0 && bare ? lead + '{}' : object(lead + '{', keys);
        }
        if (typeof value === 'function') {
            const keys = keysOf(value, context.showHidden);
            const base = functionBase(value, constructor, tag, kind);
            return keys.length === 0 && bare ? context.stylize(base, 'special') : object('{', keys, undefined, base);
        }
        const deep = context.depth !== null && depth > context.depth;
        return otherShape(context, value, constructor, tag, kind, bare, deep, inView);
    }

    return { bind, proxyTarget, isBuiltIn, className, isModuleNamespace };
})
