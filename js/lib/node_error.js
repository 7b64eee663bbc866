// SPDX-License-Identifier: MIT
// js/lib/node_error.js - errors with a code, as Node's modules throw them, and the checks of arguments that throw them.
// host: write(fd, text).
(function (host, need) {
    'use strict';

    const IS_NODE_ERROR = Symbol.for('weft.nodeError');
    const prototypes = new Map();

    // The prototype shared by all coded errors of one class: only toString differs from the class itself.
    function prototypeFor(Base) {
        let prototype = prototypes.get(Base);
        if (prototype === undefined) {
            prototype = Object.create(Base.prototype, {
                toString: {
                    value: function toString() { return `${this.name} [${this.code}]: ${this.message}`; },
                    writable: true, configurable: true, enumerable: false,
                },
                constructor: { value: Base, writable: true, configurable: true, enumerable: false },
                [IS_NODE_ERROR]: { value: true, writable: true, configurable: true, enumerable: false },
            });
            prototypes.set(Base, prototype);
        }
        return prototype;
    }

    function nodeError(Base, code, message, extra) {
        const error = new Base(message);
        Object.setPrototypeOf(error, prototypeFor(Base));
        error.code = code;
        return extra === undefined ? error : Object.assign(error, extra);
    }

    // " Received ..." at the end of a message: what the value was.
    function received(value) {
        if (value === undefined || value === null) return ' Received ' + value;
        if (typeof value === 'function') return ' Received function ' + value.name;
        const { inspect } = need('inspect');
        if (typeof value === 'object') {
            if (value.constructor && value.constructor.name) return ' Received an instance of ' + value.constructor.name;
            return ' Received ' + inspect(value, { depth: -1 });
        }
        const shown = typeof value === 'string' && value.length > 28 ? value.slice(0, 25) + '...' : value;
        return ' Received type ' + typeof value + ' (' + inspect(shown, { colors: false }) + ')';
    }

    const TYPES = ['string', 'function', 'number', 'object', 'Function', 'Object', 'boolean', 'bigint', 'symbol'];

    function orList(items) {
        if (items.length < 3) return items.join(' or ');
        return items.slice(0, -1).join(', ') + ', or ' + items[items.length - 1];
    }

    // "of type string or an instance of Buffer", from a list of names.
    function expectation(expected) {
        const names = Array.isArray(expected) ? expected : [expected];
        let types = names.filter((name) => TYPES.includes(name)).map((name) => name.toLowerCase());
        const classes = names.filter((name) => !TYPES.includes(name) && /^[A-Z][a-zA-Z0-9]*$/.test(name));
        if (classes.length > 0 && types.includes('object')) {
            types = types.filter((type) => type !== 'object');
            classes.push('Object');
        }
        const others = names.filter((name) => !TYPES.includes(name) && !/^[A-Z][a-zA-Z0-9]*$/.test(name));
        const parts = [];
        if (types.length > 0) parts.push((types.length > 1 ? 'one of type ' : 'of type ') + orList(types));
        if (classes.length > 0) parts.push('an instance of ' + orList(classes));
        if (others.length > 0) {
            const isProper = others[0].toLowerCase() !== others[0];
            parts.push((others.length > 1 ? 'one of ' : isProper ? 'an ' : '') + orList(others));
        }
        return parts.join(' or ');
    }

    function subject(name) {
        if (name.endsWith(' argument')) return 'The ' + name;
        return 'The "' + name + '" ' + (name.includes('.') ? 'property' : 'argument');
    }

    function invalidArgType(name, expected, value) {
        return nodeError(TypeError, 'ERR_INVALID_ARG_TYPE',
            subject(name) + ' must be ' + expectation(expected) + '.' + received(value));
    }

    function invalidArgValue(name, value, reason = 'is invalid') {
        let shown = need('inspect').inspect(value);
        if (shown.length > 128) shown = shown.slice(0, 128) + '...';
        const kind = name.includes('.') ? 'property' : 'argument';
        return nodeError(TypeError, 'ERR_INVALID_ARG_VALUE', `The ${kind} '${name}' ${reason}. Received ${shown}`);
    }

    // Large numbers are shown as 1_000_000.
    function showNumber(value) {
        const isLarge = typeof value === 'bigint' ? value > 2n ** 32n || value < -(2n ** 32n)
            : Number.isInteger(value) && Math.abs(value) > 2 ** 32;
        const text = need('inspect').inspect(value);
        return isLarge ? text.replace(/\B(?=(\d{3})+n?$)/g, '_') : text;
    }

    function outOfRange(name, range, value) {
        return nodeError(RangeError, 'ERR_OUT_OF_RANGE',
            `The value of "${name}" is out of range. It must be ${range}. Received ${showNumber(value)}`);
    }

    function validateType(type) {
        return function (value, name) {
            if (typeof value !== type) throw invalidArgType(name, type, value);
        };
    }

    const validateString = validateType('string');
    const validateFunction = validateType('function');
    const validateBoolean = validateType('boolean');

    function validateNumber(value, name, least, most) {
        if (typeof value !== 'number') throw invalidArgType(name, 'number', value);
        if ((least !== undefined && !(value >= least)) || (most !== undefined && !(value <= most))) {
            const low = least === undefined ? '' : '>= ' + least;
            const high = most === undefined ? '' : '<= ' + most;
            throw outOfRange(name, low && high ? low + ' && ' + high : low + high, value);
        }
    }

    function validateInteger(value, name, least = Number.MIN_SAFE_INTEGER, most = Number.MAX_SAFE_INTEGER) {
        if (typeof value !== 'number')
            throw invalidArgType(name, 'number', value);
        if (!Number.isInteger(value))
            throw outOfRange(name, 'an integer', value);
        if (value < least || value > most)
            throw outOfRange(name, `>= ${least} && <= ${most}`, value);
    }

    function validateObject(value, name) {
        if (value === null || typeof value !== 'object' || Array.isArray(value)) throw invalidArgType(name, 'Object', value);
    }

    function validateArray(value, name) {
        if (!Array.isArray(value)) throw invalidArgType(name, 'Array', value);
    }

    function validateAbortSignal(value, name) {
        if (value !== undefined && (value === null || typeof value !== 'object' || !('aborted' in value))) {
            throw invalidArgType(name, 'AbortSignal', value);
        }
    }

    // The error of an operation that its signal has stopped.
    function abortError(signal) {
        const options = signal && signal.reason !== undefined ? { cause: signal.reason } : undefined;
        const error = new Error('The operation was aborted', options);
        error.code = 'ABORT_ERR';
        error.name = 'AbortError';
        return error;
    }

    // A warning of the process: by process.emitWarning where there is one, else on standard error.
    function emitWarning(warning, type, code) {
        const { process } = globalThis;
        if (process && typeof process.emitWarning === 'function') process.emitWarning(warning, type, code);
        else host.write(2, '(weft) ' + (warning instanceof Error ? warning.name + ': ' + warning.message : (type ||
            'Warning') + ': ' + warning) + '\n');
    }

    return { nodeError, received, invalidArgType, invalidArgValue, outOfRange, validateString, validateFunction, validateBoolean,
        validateNumber, validateInteger, validateObject, validateArray, validateAbortSignal, abortError, emitWarning };
})
