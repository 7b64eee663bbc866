// SPDX-License-Identifier: MIT
// js/lib/inspect.js - util.inspect: any value as text that a person can read.
// host: proxyHandler(value); and what inspect_kinds.js lists.
(function (host, need) {
    'use strict';

    const text = need('inspect_text');
    const CUSTOM = Symbol.for('nodejs.util.inspect.custom');
    const OUTPUT_LIMIT = 2 ** 27;
    const PLAIN_KEY = /^[a-zA-Z_][a-zA-Z_0-9]*$/;
    // What an entry of an object is, an element of a list, and a named property of a list.
    const OBJECT = 0;
    const ELEMENT = 1;
    const EXTRA = 2;
    const hasOwn = Object.hasOwn;

    const defaults = { showHidden: false, depth: 2, colors: false, customInspect: true, showProxy: false, maxArrayLength:
        100,
        maxStringLength: 10000, breakLength: 80, compact: 3, sorted: false, getters: false, numericSeparator: false };

    function plain(value) {
        return value;
    }

    function coloured(value, style) {
        const name = inspect.styles[style];
        if (name !== undefined) {
            const pair = inspect.colors[name];
            if (pair !== undefined) return '\x1b[' + pair[0] + 'm' + value + '\x1b[' + pair[1] + 'm';
        }
        return value;
    }

    // The state of one call: the options, and where it stands. Written out, for that is quicker than a spread.
    function makeContext() {
        const d = defaults;
        return { budget: {}, indentationLvl: 0, seen: [], circular: undefined, currentDepth: 0, stylize: plain,
            userOptions: undefined, showHidden: d.showHidden, depth: d.depth, colors: d.colors,
            customInspect: d.customInspect,
            showProxy: d.showProxy, maxArrayLength: d.maxArrayLength, maxStringLength: d.maxStringLength,
            breakLength: d.breakLength, compact: d.compact, sorted: d.sorted, getters: d.getters,
            numericSeparator: d.numericSeparator };
    }

    function inspect(value, options) {
        const context = makeContext();
        if (arguments.length > 1) {
            if (arguments.length > 2) {
                if (arguments[2] !== undefined) context.depth = arguments[2];
                if (arguments.length > 3 && arguments[3] !== undefined) context.colors = arguments[3];
            }
            if (typeof options === 'boolean') context.showHidden = options;
            else if (options) takeOptions(context, options);
        }
        if (context.colors) context.stylize = coloured;
        if (context.maxArrayLength === null) context.maxArrayLength = Infinity;
        if (context.maxStringLength === null) context.maxStringLength = Infinity;
        return formatValue(context, value, 0);
    }

    function takeOptions(context, options) {
        for (const key of Object.keys(options)) {
            if (hasOwn(defaults, key) || key === 'stylize') context[key] = options[key];
            else if (context.userOptions === undefined) context.userOptions = options;
        }
    }

    // What a custom inspect function gets to see: the options, and stylize.
    function optionsForUser(context) {
        const options = { stylize: context.stylize };
        for (const key of Object.keys(defaults)) options[key] = context[key];
        return Object.assign(options, context.userOptions);
    }

    function formatPrimitive(context, stylize, value) {
        switch (typeof value) {
        case 'string': return formatString(context, stylize, value);
        case 'number': return stylize(text.numberText(value, context.numericSeparator), 'number');
        case 'bigint': return stylize(text.bigintText(value, context.numericSeparator), 'bigint');
        case 'boolean': return stylize(String(value), 'boolean');
        case 'undefined': return stylize('undefined', 'undefined');
        default: return stylize(Symbol.prototype.toString.call(value), 'symbol');
        }
    }

    function formatString(context, stylize, value) {
        let trailer = '';
        if (value.length > context.maxStringLength) {
            const remaining = value.length - context.maxStringLength;
            value = value.slice(0, context.maxStringLength);
            trailer = '... ' + remaining + ' more character' + (remaining > 1 ? 's' : '');
        }
        if (context.compact !== true && value.length > 16 && value.length >
            context.breakLength - context.indentationLvl - 4) {
            const lines = value.split(/(?<=\n)/).map((line) => stylize(text.quote(line), 'string'));
            return lines.join(' +\n' + ' '.repeat(context.indentationLvl + 2)) + trailer;
        }
        return stylize(text.quote(value), 'string') + trailer;
    }

    function formatValue(context, value, depth, inView) {
        if (typeof value !== 'object' && typeof value !== 'function') return formatPrimitive(context, context.stylize,
            value);
        if (value === null) return context.stylize('null', 'null');
        const given = value;
        const target = kinds().proxyTarget(value);
        if (target !== undefined) {
            if (target === null || context.showProxy) return formatProxy(context, value, target, depth);
            value = target;
        }
        if (context.customInspect) {
            const custom = value[CUSTOM];
            if (typeof custom === 'function' && custom !== inspect && !isPrototypeOfItsClass(value)) {
                const left = context.depth === null ? null : context.depth - depth;
                const result = custom.call(given, left, optionsForUser(context), inspect);
                if (result !== given) {
                    if (typeof result === 'object') return formatValue(context, result, depth);
                    return `${result}`.replaceAll('\n', '\n' + ' '.repeat(context.indentationLvl));
                }
            }
        }
        if (context.seen.includes(value)) return formatCircular(context, value);
        return formatObject(context, value, depth, inView);
    }

    function isPrototypeOfItsClass(value) {
        const descriptor = Object.getOwnPropertyDescriptor(value, 'constructor');
        return descriptor !== undefined && typeof descriptor.value === 'function' && descriptor.value.prototype === value;
    }

    function formatCircular(context, value) {
        if (context.circular === undefined) context.circular = new Map();
        let index = context.circular.get(value);
        if (index === undefined) {
            index = context.circular.size + 1;
            context.circular.set(value, index);
        }
        return context.stylize('[Circular *' + index + ']', 'special');
    }

    function formatProxy(context, proxy, target, depth) {
        if (target === null) return context.stylize('<Revoked Proxy>', 'special');
        if (depth > context.depth && context.depth !== null) return context.stylize('Proxy [Array]', 'special');
        context.indentationLvl += 2;
        const handler = host.proxyHandler === undefined ? {} : host.proxyHandler(proxy);
        const entries = [formatValue(context, target, depth + 1), formatValue(context, handler, depth + 1)];
        context.indentationLvl -= 2;
        return text.joinEntries(context, entries, '', ['Proxy [', ']'], true, depth + 1);
    }

    function isInstance(value, constructor) {
        try {
            return value instanceof constructor;
        } catch {
            return false;
        }
    }

    // The name of the class the value is an instance of; null where the prototype chain knows none.
    function constructorName(context, value, depth, inherited) {
        let first;
        for (let object = value; object !== null;) {
            const descriptor = Object.getOwnPropertyDescriptor(object, 'constructor');
            const found = descriptor === undefined ? undefined : descriptor.value;
            if (typeof found === 'function' && found.name !== '' && isInstance(value, found)) {
                if (inherited !== undefined && (first !== object || !kinds().isBuiltIn(found.name))) {
                    addInherited(context, value, first || value, depth, inherited);
                }
                return String(found.name);
            }
            object = Object.getPrototypeOf(object);
            if (first === undefined) first = object;
        }
        if (first === null) return null;
        const own = kinds().className(value);
        if (depth > context.depth && context.depth !== null) return own + ' <Complex prototype>';
        const parent = constructorName(context, first, depth + 1, inherited);
        if (parent !== null) return own + ' <' + parent + '>';
        return own + ' <' + inspect(first, { ...context, customInspect: false, depth: -1 }) + '>';
    }

    // With showHidden, data that the classes of the program keep on their prototypes is shown as well.
    function addInherited(context, value, object, depth, entries) {
        const shown = new Set();
        for (let level = 0; level < 3; level++) {
            if (level !== 0 || value === object) {
                object = Object.getPrototypeOf(object);
                if (object === null) return;
                const descriptor = Object.getOwnPropertyDescriptor(object, 'constructor');
                if (descriptor && typeof descriptor.value === 'function' && kinds().isBuiltIn(descriptor.value.name)) return;
            }
            const keys = Reflect.ownKeys(object);
            context.seen.push(value);
            for (const key of keys) {
                if (key === 'constructor' || hasOwn(value, key) || shown.has(key)) continue;
                const descriptor = Object.getOwnPropertyDescriptor(object, key);
                if (typeof descriptor.value === 'function') continue;
                const entry = formatProperty(context, object, depth, key, OBJECT, descriptor, value);
                entries.push(context.colors ? '\x1b[2m' + entry + '\x1b[22m' : entry);
            }
            context.seen.pop();
            for (const key of keys) shown.add(key);
        }
    }

    // The word before the braces: class, size and tag.
    function prefix(constructor, tag, fallback, size = '') {
        if (constructor === null) {
            const end = tag !== '' && fallback !== tag ? '[' + tag + '] ' : '';
            return '[' + fallback + size + ': null prototype] ' + end;
        }
        return constructor + size + ' ' + (tag !== '' && constructor !== tag ? '[' + tag + '] ' : '');
    }

    function isEnumerable(value, key) {
        return Object.prototype.propertyIsEnumerable.call(value, key);
    }

    function keysOf(value, showHidden) {
        const symbols = Object.getOwnPropertySymbols(value);
        if (showHidden) return Object.getOwnPropertyNames(value).concat(symbols);
        let keys;
        try {
            keys = Object.keys(value);
        } catch {
            keys = Object.getOwnPropertyNames(value);
        }
        return symbols.length === 0 ? keys : keys.concat(symbols.filter((key) => isEnumerable(value, key)));
    }

    // The keys of a list that are not indices. The indices come first, in order.
    function keysBesideIndices(value, showHidden) {
        const keys = keysOf(value, showHidden);
        let first = keys.length;
        while (first > 0 && (typeof keys[first - 1] === 'symbol' || !isIndex(keys[first - 1]))) first--;
        return first === 0 ? keys : keys.slice(first);
    }

    function isIndex(key) {
        const code = key.charCodeAt(0);
        return code >= 48 && code <= 57 && /^(?:0|[1-9]\d{0,9})$/.test(key) && Number(key) < 2 ** 32 - 1;
    }

    function tagOf(context, value) {
        const tag = value[Symbol.toStringTag];
        if (typeof tag !== 'string' || tag === '') return '';
        const shownAnyway = context.showHidden ? hasOwn(value, Symbol.toStringTag) : isEnumerable(value, Symbol.toStringTag);
        return shownAnyway ? '' : tag;
    }

    let kindsModule;
    function kinds() {
        if (kindsModule === undefined) kindsModule = need('inspect_kinds').bind(tools);
        return kindsModule;
    }

    function formatObject(context, value, depth, inView) {
        const deep = context.depth !== null && depth > context.depth;
        const inherited = context.showHidden && !deep ? [] : undefined;
        const constructor = constructorName(context, value, depth, inherited);
        const bare = inherited === undefined || inherited.length === 0;
        const shape = kinds().shapeOf(context, value, constructor, tagOf(context, value), bare, depth, inView);
        if (typeof shape === 'string') return shape;
        if (deep) {
            let name = prefix(constructor, tagOf(context, value), shape.isList ? 'Array' : 'Object').slice(0,
                -1);
            if (constructor !== null) name = '[' + name + ']';
            return context.stylize(name, 'special');
        }
        depth++;
        const indentation = context.indentationLvl;
        context.seen.push(value);
        context.currentDepth = depth;
        let entries;
        try {
            entries = shape.format === undefined ? [] : shape.format(context, value, depth);
            for (const key of shape.keys) {
                const descriptor = shape.hiddenStack && key === 'stack' ? hiddenStack(value) : undefined;
                entries.push(formatProperty(context, value, depth, key, shape.isList ? EXTRA : OBJECT, descriptor));
            }
            if (inherited !== undefined) entries.push(...inherited);
        } catch (error) {
            return tooDeep(context, error, constructor, indentation, context.seen.indexOf(value));
        }
        return finish(context, value, depth, shape, entries);
    }

    function hiddenStack(error) {
        return { value: need('inspect_error').stackText(error), enumerable: false };
    }

    function finish(context, value, depth, shape, entries) {
        let { base } = shape;
        const index = context.circular === undefined ? undefined : context.circular.get(value);
        if (index !== undefined) {
            const reference = context.stylize('<ref *' + index + '>', 'special');
            if (context.compact === true) shape.braces[0] = reference + ' ' + shape.braces[0];
            else base = base === '' ? reference : reference + ' ' + base;
        }
        context.seen.pop();
        if (context.sorted) sortEntries(context, entries, shape);
        const result = text.joinEntries(context, entries, base, shape.braces, shape.isList, depth, value);
        const used = (context.budget[context.indentationLvl] || 0) + result.length;
        context.budget[context.indentationLvl] = used;
        // Past the limit nothing more is opened, so that the text cannot eat all memory.
        if (used > OUTPUT_LIMIT) context.depth = -1;
        return result;
    }

    function sortEntries(context, entries, shape) {
        const order = context.sorted === true ? undefined : context.sorted;
        if (!shape.isList) {
            entries.sort(order);
        } else if (shape.keys.length > 1) {
            const from = entries.length - shape.keys.length;
            entries.push(...entries.splice(from).sort(order));
        }
    }

    // Where the engine's stack ends, the text says so, and goes on above.
    function tooDeep(context, error, constructor, indentation, seen) {
        if (!(error instanceof Error) || !/call stack|stack overflow/i.test(error.message)) throw error;
        context.seen.length = seen;
        context.indentationLvl = indentation;
        return context.stylize('[' + prefix(constructor, '', 'Object').slice(0, -1) +
            ': Inspection interrupted prematurely. Maximum call stack size exceeded.]', 'special');
    }

    function formatGetter(context, descriptor, original, depth) {
        const { stylize, getters } = context;
        const label = descriptor.set === undefined ? 'Getter' : 'Getter/Setter';
        const wanted = getters === true || (getters === 'get' && descriptor.set === undefined) ||
            (getters === 'set' && descriptor.set !== undefined);
        if (!wanted) return stylize('[' + label + ']', 'special');
        const open = stylize('[' + label + ':', 'special') + ' ';
        const close = stylize(']', 'special');
        try {
            const value = descriptor.get.call(original);
            context.indentationLvl += 2;
            let result;
            if (value === null) result = open + stylize('null', 'null') + close;
            else if (typeof value === 'object') result = stylize('[' + label + ']', 'special') + ' ' +
                formatValue(context, value, depth);
            else result = open + formatPrimitiveOrFunction(context, value, depth) + close;
            context.indentationLvl -= 2;
            return result;
        } catch (error) {
            return open + '<Inspection threw (' + error.message + ')>' + close;
        }
    }

    function formatPrimitiveOrFunction(context, value, depth) {
        return typeof value === 'function' ? formatValue(context, value, depth) : formatPrimitive(context,
            context.stylize, value);
    }

    function formatKey(context, key, enumerable) {
        if (typeof key === 'symbol') {
            return '[' + context.stylize(text.escapeName(Symbol.prototype.toString.call(key)), 'symbol') + ']';
        }
        if (key === '__proto__') return '[\'__proto__\']';
        if (!enumerable) return '[' + text.escapeName(key) + ']';
        if (PLAIN_KEY.test(key)) return context.stylize(key, 'name');
        return context.stylize(text.quote(key), 'string');
    }

    function formatProperty(context, object, depth, key, kind, descriptor, original = object) {
        descriptor = descriptor || Object.getOwnPropertyDescriptor(object, key) ||
            { value: object[key], configurable: true, enumerable: true };
        let between = ' ';
        let shown;
        const { value } = descriptor;
        if (context.compact !== true && (typeof value === 'number' || typeof value === 'boolean')) {
            shown = formatPrimitive(context, context.stylize, value);
        } else if (value !== undefined) {
            const indent = context.compact === true && kind === OBJECT ? 3 : 2;
            context.indentationLvl += indent;
            shown = formatValue(context, value, depth);
            if (indent === 3 && context.breakLength < text.width(shown)) between = '\n' + ' '.repeat(context.indentationLvl);
            context.indentationLvl -= indent;
        } else if (descriptor.get !== undefined) {
            shown = formatGetter(context, descriptor, original, depth);
        } else {
            shown = descriptor.set === undefined ? context.stylize('undefined', 'undefined') : context.stylize('[Setter]',
                'special');
        }
        if (kind === ELEMENT) return shown;
        return formatKey(context, key, descriptor.enumerable) + ':' + between + shown;
    }

    // A table that is made when it is first looked at.
    function later(name, make) {
        const settle = (value) => Object.defineProperty(inspect, name, { value, writable: true, configurable: true,
            enumerable: true });
        Object.defineProperty(inspect, name, {
            get() { return settle(make())[name]; }, set: settle, configurable: true, enumerable: true,
        });
    }

    const tools = { inspect, formatValue, formatPrimitive, formatProperty, prefix, keysOf, keysBesideIndices, isIndex,
        plain, ELEMENT };

    inspect.custom = CUSTOM;
    Object.defineProperty(inspect, 'defaultOptions', {
        get() { return defaults; },
        set(options) {
            if (options === null || typeof options !== 'object') {
                need('node_error').validateObject(options, 'options');
            }
            Object.assign(defaults, options);
        },
        configurable: false,
        enumerable: false,
    });
    later('colors', text.makeColors);
    later('styles', text.makeStyles);

    const { format, formatWithOptions } = need('inspect_format').bind(inspect);
    return { inspect, format, formatWithOptions };
})
