// SPDX-License-Identifier: MIT
// js/lib/child_process_options.js - arguments and options of node:child_process, checked as Node checks them.
(function (host, need) {
    'use strict';
    const { nodeError, invalidArgType, invalidArgValue, outOfRange, validateString, validateObject,
        validateBoolean } = need('node_error');
    const { signals } = need('signal_names');
    const { throughShell } = need('program');
    const INHERIT = 0, NULL = 1, PIPE = 2, STREAM = 3, NUMBER = 4;
    const words = { pipe: PIPE, overlapped: PIPE, ignore: NULL, inherit: INHERIT };

    function checkText(text, name) {
        validateString(text, name);
        if (text.includes('\0'))
            throw invalidArgValue(name, text, 'must be a string without null bytes');
    }

    const unavailable = (text) => nodeError(Error, 'ERR_FEATURE_UNAVAILABLE_ON_PLATFORM', text);
    const isMissing = (value) => value === undefined || value === null;

    function folder(cwd) {
        if (isMissing(cwd))
            return undefined;
        const path = cwd instanceof URL ? need('module').fileURLToPath(cwd) : cwd;
        if (typeof path !== 'string')
            throw invalidArgType('options.cwd', ['string', 'Buffer', 'URL'], cwd);
        if (path.includes('\0'))
            throw invalidArgValue('options.cwd', path, 'must be a string without null bytes');
        return path;
    }

    // [args, options] of those that may leave either out.
    function sort(args, options) {
        if (Array.isArray(args))
            args = args.slice();
        else if (isMissing(args))
            args = [];
        else if (typeof args !== 'object')
            throw invalidArgType('args', 'object', args);
        else
            [args, options] = [[], args];
        if (options === undefined)
            options = {};
        else
            validateObject(options, 'options');
        return [args, options];
    }

    // The same with a callback behind.
    function sortArguments(args, options, callback) {
        if (typeof args === 'function')
            [args, options, callback] = [[], undefined, args];
        else if (!isMissing(args) && !Array.isArray(args) && typeof args === 'object')
            [args, options, callback] = [[], args, options];
        if (typeof options === 'function')
            [options, callback] = [undefined, options];
        return [args ?? [], options ?? {}, callback ?? undefined];
    }

    function checkOptions({ detached, uid, gid, shell, argv0 }) {
        if (!isMissing(detached))
            validateBoolean(detached, 'options.detached');
        for (const [name, value] of [['uid', uid], ['gid', gid]]) {
            if (isMissing(value))
                continue;
            if (!Number.isInteger(value))
                throw invalidArgType(`options.${name}`, 'int32', value);
            throw unavailable(`weft starts no child as another user (options.${name})`);
        }
        if (!isMissing(shell) && typeof shell !== 'boolean' && typeof shell !== 'string')
            throw invalidArgType('options.shell', ['boolean', 'string'], shell);
        if (!isMissing(argv0))
            checkText(argv0, 'options.argv0');
    }

    function environmentOf(env) {
        if (isMissing(env))
            return undefined;
        const copy = {};
        for (const name in env) { // what is inherited, too
            if (env[name] === undefined)
                continue;
            checkText(name, `options.env['${name}']`);
            checkText(`${env[name]}`, `options.env['${name}']`);
            copy[name] = `${env[name]}`;
        }
        return copy;
    }

    function normalize(file, args, options) {
        checkText(file, 'file');
        if (file.length === 0)
            throw invalidArgValue('file', file, 'cannot be empty');
        [args, options] = sort(args, options);
        args.forEach((each, i) => checkText(`${each}`, `args[${i}]`));
        checkOptions(options);
        const [program, rest] = throughShell(options.shell, file, args.map(String));
        return {
            ...options, file: program, args: [options.argv0 ?? program, ...rest], cwd: folder(options.cwd),
            env: environmentOf(options.env), isDetached: !!options.detached, given: [file, ...args],
        };
    }

    // ---- stdio ----

    // Three times [kind, thing].
    function stdioOf(stdio = 'pipe') {
        if (typeof stdio === 'string') {
            if (!Object.hasOwn(words, stdio))
                throw invalidArgValue('stdio', stdio);
            stdio = [stdio, stdio, stdio];
        } else if (!Array.isArray(stdio)) {
            throw invalidArgValue('stdio', stdio);
        }
        const more = stdio.slice(3).some((each) => !isMissing(each) && each !== 'ignore');
        if (more || stdio.includes('ipc'))
            throw unavailable('A child of weft has three descriptors, and no channel');
        return [0, 1, 2].map((i) => descriptor(stdio[i], i));
    }

    function descriptor(value, which) {
        if (isMissing(value))
            return [PIPE, undefined];
        if (typeof value === 'string' && Object.hasOwn(words, value))
            return [words[value], undefined];
        const number = typeof value === 'number' ? value : value.fd;
        if (Number.isInteger(number) && number >= 0)
            return number === which ? [INHERIT, undefined] : [NUMBER, number];
        if (value._handle?.stream) {
            value._handle.lend();
            return [STREAM, value._handle.stream];
        }
        throw invalidArgValue('stdio', value);
    }

    // ---- Numbers ----

    function toSignal(signal) {
        if (typeof signal === 'number' && Object.values(signals).includes(signal))
            return signal;
        if (typeof signal === 'string' && Object.hasOwn(signals, signal.toUpperCase()))
            return signals[signal.toUpperCase()];
        throw nodeError(TypeError, 'ERR_UNKNOWN_SIGNAL', `Unknown signal: ${need('util').format('%s', signal)}`);
    }

    function killSignalOf(signal) {
        if (isMissing(signal))
            return signals.SIGTERM;
        if (typeof signal !== 'string' && typeof signal !== 'number')
            throw invalidArgType('options.killSignal', ['string', 'number'], signal);
        return toSignal(signal);
    }

    function checkTimeout(timeout) {
        if (!isMissing(timeout) && !(Number.isInteger(timeout) && timeout >= 0))
            throw outOfRange('timeout', 'an unsigned integer', timeout);
    }

    function checkMaxBuffer(size) {
        if (!isMissing(size) && (typeof size !== 'number' || size < 0))
            throw outOfRange('options.maxBuffer', 'a positive number', size);
    }

    return { PIPE, normalize, sort, sortArguments, stdioOf, toSignal, killSignalOf, checkTimeout, checkMaxBuffer };
})
