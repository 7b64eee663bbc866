// SPDX-License-Identifier: MIT
// js/lib/inspect_format.js - util.format: a text with placeholders, and the values for them.
// host: nothing.
(function (host, need) {
    'use strict';

    const text = need('inspect_text');

    // Whether String(value) would only say what the language says of any such object.
    function hasBuiltInToString(value) {
        const { proxyTarget } = need('inspect_kinds');
        for (let target = proxyTarget(value); target !== undefined; target = proxyTarget(value)) {
            if (target === null) return true;
            value = target;
        }
        if (typeof value[Symbol.toPrimitive] === 'function' && !(value instanceof Date)) return false;
        if (typeof value.toString !== 'function') return true;
        if (Object.hasOwn(value, 'toString')) return false;
        let owner = value;
        do {
            owner = Object.getPrototypeOf(owner);
        } while (!Object.hasOwn(owner, 'toString'));
        const descriptor = Object.getOwnPropertyDescriptor(owner, 'constructor');
        return descriptor !== undefined && typeof descriptor.value === 'function' &&
            need('inspect_kinds').isBuiltIn(descriptor.value.name);
    }

    function toJSON(value) {
        try {
            return JSON.stringify(value);
        } catch (error) {
            if (error instanceof TypeError && /circular/i.test(error.message)) return '[Circular]';
            throw error;
        }
    }

    function toNumber(value, convert, separators) {
        if (typeof value === 'bigint') return text.bigintText(value, separators);
        if (typeof value === 'symbol') return 'NaN';
        return text.numberText(convert(value), separators);
    }

    let inspect;

    function bind(given) {
        inspect = given;
        return { format, formatWithOptions };
    }

    function toText(value, options) {
        if (typeof value === 'number') return text.numberText(value, options && options.numericSeparator);
        if (typeof value === 'bigint') return text.bigintText(value, options && options.numericSeparator);
        if (typeof value !== 'object' || value === null || !hasBuiltInToString(value)) return String(value);
        return inspect(value, { ...options, depth: 0, colors: false, compact: 3 });
    }

    function placeholder(letter, value, options) {
        const separators = options && options.numericSeparator;
        switch (letter) {
        case 's': return toText(value, options);
        case 'j': return toJSON(value);
        case 'd': return toNumber(value, Number, separators);
        case 'O': return inspect(value, options);
        case 'o': return inspect(value, { ...options, showHidden: true, showProxy: true, depth: 4 });
        case 'i': return toNumber(value, parseInt, separators);
        case 'f': return typeof value === 'symbol' ? 'NaN' : text.numberText(parseFloat(value), separators);
        default: return '';
        }
    }

    function formatList(options, values) {
        const first = values[0];
        if (values.length === 1) return typeof first === 'string' ? first : inspect(first, options);
        let used = 0;
        let result = '';
        if (typeof first === 'string') {
            used = 1;
            let last = 0;
            for (let i = 0; i < first.length - 1; i++) {
                if (first[i] !== '%') continue;
                const letter = first[++i];
                if (letter === '%') {
                    result += first.slice(last, i);
                    last = i + 1;
                } else if (used < values.length && 'sjdOoifc'.includes(letter)) {
                    result += first.slice(last, i - 1) + placeholder(letter, values[used++], options);
                    last = i + 1;
                }
            }
            result += first.slice(last);
        }
        for (let gap = used > 0 ? ' ' : ''; used < values.length; used++, gap = ' ') {
            const value = values[used];
            result += gap + (typeof value === 'string' ? value : inspect(value, options));
        }
        return result;
    }

    function format(...values) {
        return values.length === 0 ? '' : formatList(undefined, values);
    }

    function formatWithOptions(inspectOptions, ...values) {
        if (typeof inspectOptions !== 'object' || inspectOptions === null) {
            throw need('node_error').invalidArgType('inspectOptions', 'object', inspectOptions);
        }
        return values.length === 0 ? '' : formatList(inspectOptions, values);
    }

    return { bind };
})
