// SPDX-License-Identifier: MIT
// js/lib/util.js - node:util.
// host: isTTY(fd); and what the files it needs list.
(function (host, need) {
    'use strict';

    const inspecting = need('inspect');
    const nodeErrors = need('node_error');
    const PROMISIFY = Symbol.for('nodejs.util.promisify.custom');

    // A function whose last argument is a callback becomes one that returns a promise.
    function promisify(original) {
        nodeErrors.validateFunction(original, 'original');
        if (original[PROMISIFY]) {
            const custom = original[PROMISIFY];
            nodeErrors.validateFunction(custom, 'util.promisify.custom');
            return Object.defineProperty(custom, PROMISIFY, {
                value: custom, enumerable: false, writable: false, configurable: true,
            });
        }
        function promised(...values) {
            return new Promise((resolve, reject) => {
                Reflect.apply(original, this, [...values, (error, value) => {
                    if (error) reject(error);
                    else resolve(value);
                }]);
            });
        }
        Object.setPrototypeOf(promised, Object.getPrototypeOf(original));
        Object.defineProperty(promised, PROMISIFY, { value: promised, enumerable: false, writable: false, configurable:
            true });
        return Object.defineProperties(promised, ownProperties(original));
    }
    promisify.custom = PROMISIFY;

    function ownProperties(value) {
        const descriptors = Object.getOwnPropertyDescriptors(value);
        for (const key of ['prototype', 'arguments', 'caller']) {
            if (descriptors[key] && !descriptors[key].configurable) delete descriptors[key];
        }
        return descriptors;
    }

    function nextTick(callback, ...values) {
        const { process } = globalThis;
        if (process && typeof process.nextTick === 'function') process.nextTick(callback, ...values);
        else queueMicrotask(() => callback(...values));
    }

    // A function that returns a promise becomes one that takes a callback at the end.
    function callbackify(original) {
        nodeErrors.validateFunction(original, 'original');
        function callbackified(...values) {
            const callback = values.pop();
            nodeErrors.validateFunction(callback, 'last argument');
            const call = (...results) => Reflect.apply(callback, this, results);
            Reflect.apply(original, this, values).then(
                (value) => nextTick(call, null, value),
                (reason) => nextTick(call, reason || falsyRejection(reason)));
        }
        const descriptors = ownProperties(original);
        if (typeof descriptors.length.value === 'number') descriptors.length.value++;
        if (typeof descriptors.name.value === 'string') descriptors.name.value += 'Callbackified';
        return Object.defineProperties(callbackified, descriptors);
    }

    function falsyRejection(reason) {
        return nodeErrors.nodeError(Error, 'ERR_FALSY_VALUE_REJECTION', 'Promise was rejected with falsy value', { reason });
    }

    function inherits(ctor, superCtor) {
        if (ctor === undefined || ctor === null) throw nodeErrors.invalidArgType('ctor', 'Function', ctor);
        if (superCtor === undefined || superCtor === null) throw nodeErrors.invalidArgType('superCtor', 'Function',
            superCtor);
        if (superCtor.prototype === undefined) {
            throw nodeErrors.invalidArgType('superCtor.prototype', 'Object', superCtor.prototype);
        }
        Object.defineProperty(ctor, 'super_', { value: superCtor, writable: true, configurable: true });
        Object.setPrototypeOf(ctor.prototype, superCtor.prototype);
    }

    const toldCodes = new Set();

    function deprecate(fn, msg, code, useEmitSync) {
        let told = false;
        if (code !== undefined) nodeErrors.validateString(code, 'code');
        function deprecated(...values) {
            if (!told) {
                told = true;
                if (code === undefined || !toldCodes.has(code)) {
                    if (code !== undefined) toldCodes.add(code);
                    nodeErrors.emitWarning(msg, 'DeprecationWarning', code);
                }
            }
            if (new.target) return Reflect.construct(fn, values, new.target);
            return Reflect.apply(fn, this, values);
        }
        Object.setPrototypeOf(deprecated, fn);
        if (fn.prototype) deprecated.prototype = fn.prototype;
        return deprecated;
    }

    function codesOf(format) {
        const { colors } = inspecting.inspect;
        const pair = colors[format];
        if (pair === undefined) {
            const names = Object.keys(colors).map((name) => `'${name}'`).join(', ');
            throw nodeErrors.invalidArgValue('format', format, `must be one of: ${names}`);
        }
        return pair;
    }

    // Text between the codes of a format, or of several. Off a terminal a single format leaves the text as it is.
    function styleText(format, text, { validateStream = true, stream } = {}) {
        nodeErrors.validateString(text, 'text');
        nodeErrors.validateBoolean(validateStream, 'options.validateStream');
        if (Array.isArray(format)) {
            const pairs = format.map((one) => codesOf(one));
            return pairs.map(([open]) => `\x1b[${open}m`).join('') + text +
                pairs.reverse().map(([, close]) => `\x1b[${close}m`).join('');
        }
        const [open, close] = codesOf(format);
        if (validateStream && !(stream === undefined ? host.isTTY(1) : stream.isTTY)) return text;
        return `\x1b[${open}m${text}\x1b[${close}m`;
    }

    function stripVTControlCharacters(str) {
        nodeErrors.validateString(str, 'str');
        return need('inspect_text').stripControl(str);
    }

    function toUSVString(input) {
        return String(input).toWellFormed();
    }

    // A log that is silent unless NODE_DEBUG names its section.
    function debuglog(section) {
        const name = section.toUpperCase();
        const wanted = (globalThis.process && globalThis.process.env && globalThis.process.env.NODE_DEBUG) || '';
        const enabled = wanted.split(',').some((pattern) => pattern !== '' &&
            new RegExp('^' + pattern.replace(/[|\\{}()[\]^$+?.]/g, '\\$&').replaceAll('*', '.*') + '$', 'i').test(name));
        const logger = (...values) => {
            if (enabled) globalThis.console.error(`${name} ${globalThis.process.pid}: ${inspecting.format(...values)}`);
        };
        return Object.defineProperty(logger, 'enabled', { get() { return enabled; }, configurable: true, enumerable: true });
    }

    // A promise that is resolved when the signal aborts. The resource is kept by the caller; it is not held here.
    async function aborted(signal, resource) {
        if (signal === undefined || signal === null) throw nodeErrors.invalidArgType('signal', 'AbortSignal', signal);
        nodeErrors.validateAbortSignal(signal, 'signal');
        if (resource === null || (typeof resource !== 'object' && typeof resource !== 'function')) {
            throw nodeErrors.invalidArgType('resource', 'Object', resource);
        }
        if (signal.aborted) return undefined;
        return new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    }

    function log(...values) {
        const now = new Date();
        const month = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'][now.getMonth()];
        const time = [now.getHours(), now.getMinutes(), now.getSeconds()].map((part) => String(part).padStart(2,
            '0')).join(':');
        globalThis.console.log('%s - %s', `${now.getDate()} ${month} ${time}`, inspecting.format(...values));
    }

    function later(object, name, make) {
        Object.defineProperty(object, name, {
            get() {
                const value = make();
                Object.defineProperty(object, name, { value, writable: true, configurable: true, enumerable: true });
                return value;
            },
            set(value) { Object.defineProperty(object, name, { value, writable: true, configurable: true, enumerable:
                true }); },
            configurable: true,
            enumerable: true,
        });
    }

    const util = {
        _extend(target, source) {
            return source === null || typeof source !== 'object' ? target : Object.assign(target, source);
        },
        callbackify,
        debug: debuglog,
        debuglog,
        deprecate,
        format: inspecting.format,
        styleText,
        formatWithOptions: inspecting.formatWithOptions,
        inherits,
        inspect: inspecting.inspect,
        isArray: Array.isArray,
        isBoolean(arg) { return typeof arg === 'boolean'; },
        isBuffer(arg) { return typeof globalThis.Buffer === 'function' && arg instanceof globalThis.Buffer; },
        isDeepStrictEqual(a, b) { return need('deep_equal').isDeepStrictEqual(a, b); },
        isNull(arg) { return arg === null; },
        isNullOrUndefined(arg) { return arg === null || arg === undefined; },
        isNumber(arg) { return typeof arg === 'number'; },
        isString(arg) { return typeof arg === 'string'; },
        isSymbol(arg) { return typeof arg === 'symbol'; },
        isUndefined(arg) { return arg === undefined; },
        isRegExp(arg) { return util.types.isRegExp(arg); },
        isObject(arg) { return arg !== null && typeof arg === 'object'; },
        isDate(arg) { return util.types.isDate(arg); },
        isError(arg) { return need('inspect_error').isError(arg); },
        isFunction(arg) { return typeof arg === 'function'; },
        isPrimitive(arg) { return arg === null || (typeof arg !== 'object' && typeof arg !== 'function'); },
        log,
        promisify,
        stripVTControlCharacters,
        toUSVString,
        aborted,
    };
    later(util, 'types', () => need('util_types'));
    util.parseEnv = function parseEnv(content) {
        nodeErrors.validateString(content, 'content');
        return need('util_parse').parseEnv(content);
    };
    util.parseArgs = function parseArgs(config) { return need('util_parse').parseArgs(config); };
    later(util, 'TextDecoder', () => need('encoding').TextDecoder);
    later(util, 'TextEncoder', () => need('encoding').TextEncoder);
    return util;
})
