// SPDX-License-Identifier: MIT
// js/lib/process.js - the process object, and what becomes of errors that nobody catches.
// host: argumentsOf(), environment(), cwd(), chdir(path), pid(), ppid(), exit(code), setExitCode(code),
//       hrtime(), write(fd, text), nextTick(fn), isTTY(fd), memory()
(function (host, need) {
    'use strict';
    const { EventEmitter } = need('events');
    const { invalidArgument, outOfRange, withCode } = need('errors');
    const told = new WeakSet(); // promises of which unhandledRejection was told
    const UNSETTLED = 13, DEADLOCK = 35;
    const HANDLER_FAILED = 7;
    let handledLate = []; // of those, which have got a handler since
    let exitCode;
    let isExiting = false;
    let isSilent = false; // the end comes without an exit event
    let capture = null;

    function readEnvironment() {
        const entries = {};
        for (const line of host.environment()) {
            const at = line.indexOf('=', 1);
            if (at > 0)
                entries[line.slice(0, at)] = line.slice(at + 1);
        }
        return new Proxy(entries, {
            set(target, name, value) {
                target[name] = String(value);
                return true;
            },
        });
    }

    class Process extends EventEmitter {
        constructor() {
            super();
            this.title = 'weft';
            this.version = 'v20.0.0';
            this.versions = { node: '20.0.0', weft: '0.1.0', quickjs: '0.17.0' };
            this.arch = 'x64';
            this.platform = 'linux';
            this.release = { name: 'weft' };
            this.argv = host.argumentsOf();
            if (host.mainName !== undefined)
                this.argv[1] = host.mainName;
            this.execPath = this.argv[0];
            this.execArgv = need('options').list;
            this.env = readEnvironment();
            this.pid = host.pid();
            this.ppid = host.ppid();
            this.features = {};
            this.config = {};
        }


        get exitCode() {
            return exitCode;
        }

        set exitCode(code) {
            checkExitCode(code);
            exitCode = code;
            host.setExitCode(Number(code ?? 0));
        }

        exit(...code) {
            if (code.length > 0)
                this.exitCode = code[0];
            host.exit(Number(exitCode ?? 0));
        }

        reallyExit(code) {
            isSilent = true;
            host.exit(Number(code ?? 0));
        }

        hasUncaughtExceptionCaptureCallback() {
            return capture !== null;
        }

        setUncaughtExceptionCaptureCallback(fn) {
            if (fn !== null && typeof fn !== 'function')
                throw invalidArgument('fn', ['Function', 'null'], fn);
            if (fn !== null && capture !== null)
                throw withCode(new Error('`process.setupUncaughtExceptionCapture()` was called while a capture callback was '
                    + 'already active'), 'ERR_UNCAUGHT_EXCEPTION_CAPTURE_ALREADY_SET');
            capture = fn;
        }

        cwd() {
            return host.cwd();
        }

        chdir(path) {
            host.chdir(path);
        }

        nextTick(callback, ...args) {
            if (typeof callback !== 'function')
                throw invalidArgument('callback', 'function', callback);
            if (!isExiting)
                host.nextTick(args.length ? () => callback(...args) : callback);
        }

        uptime() {
            return (host.now() - started) / 1000;
        }

        hrtime(before) {
            const now = host.hrtime();
            let seconds = Number(now / 1000000000n), nanoseconds = Number(now % 1000000000n);
            if (before) {
                seconds -= before[0];
                nanoseconds -= before[1];
                if (nanoseconds < 0) {
                    seconds--;
                    nanoseconds += 1e9;
                }
            }
            return [seconds, nanoseconds];
        }

        memoryUsage() {
            const heap = host.memory();
            return { rss: heap, heapTotal: heap, heapUsed: heap, external: 0, arrayBuffers: 0 };
        }

        emitWarning(warning, type, code) {
            let detail;
            if (typeof type === 'object' && type !== null)
                ({ type, code, detail } = type);
            else if (typeof type === 'function')
                type = code = undefined;
            if (typeof code === 'function')
                code = undefined;
            if (type !== undefined && typeof type !== 'string')
                throw invalidArgument('type', 'string', type);
            if (code !== undefined && typeof code !== 'string')
                throw invalidArgument('code', 'string', code);
            if (typeof warning === 'string')
                warning = makeWarning(warning, type, code, detail);
            else if (!(warning instanceof Error))
                throw invalidArgument('warning', ['Error', 'string'], warning);
            if (warning.name === 'DeprecationWarning') {
                if (this.noDeprecation)
                    return;
                if (this.throwDeprecation) {
                    this.nextTick(() => { throw warning; });
                    return;
                }
            }
            this.nextTick(() => this.emit('warning', warning));
        }

        abort() {
            host.exit(134);
        }

        kill(pid, signal) {
            const { errnoException } = need('system_error');
            if (pid != (pid | 0)) // texts of numbers are taken, as in Node
                throw invalidArgument('pid', 'number', pid);
            const number = signal === undefined || signal === null ? 15 : need('signal_names').numberOf(signal);
            if (number === undefined)
                throw withCode(new TypeError(`Unknown signal: ${signal}`), 'ERR_UNKNOWN_SIGNAL');
            const error = host.kill(Number(pid), number);
            if (error)
                throw errnoException(error, 'kill');
            return true;
        }
    }
    // Standard streams are made with the first look at them. The console writes to those that a program has changed.
    function standard(name, open) {
        Object.defineProperty(Process.prototype, name, {
            configurable: true,
            enumerable: true,
            get() {
                const value = open();
                Object.defineProperty(this, name, { configurable: true, enumerable: true, writable: true, value });
                if (name !== 'stdin')
                    need('console').useStream(name, value);
                return value;
            },
            set(value) {
                Object.defineProperty(this, name, { configurable: true, enumerable: true, writable: true, value });
            },
        });
    }
    standard('stdin', () => need('stdin').open());
    standard('stdout', () => need('stdout').open(1));
    standard('stderr', () => need('stdout').open(2));

    Process.prototype.hrtime.bigint = () => host.hrtime();
    Object.defineProperty(Process.prototype, Symbol.toStringTag, { configurable: true, value: 'process' });

    const started = host.now();
    const reminder = Symbol('handled late');
    const reject = Promise.reject.bind(Promise);
    const nothing = () => {};
    const process = new Process();

    process.on('warning', printWarning);
    // Signals are caught while somebody listens. Node has these two listeners as well.
    const isSignal = (name) => typeof name === 'string' && name.startsWith('SIG');
    process.on('newListener', (name) => isSignal(name) && need('signal_watch').begin(process, name));
    process.on('removeListener', (name) => isSignal(name) && need('signal_watch').end(process, name));

    function checkExitCode(code) {
        if (code === undefined || code === null)
            return;
        const number = typeof code === 'string' && code !== '' && Number.isInteger(Number(code)) ? Number(code) : code;
        if (typeof number !== 'number')
            throw invalidArgument('code', 'number', code);
        if (!Number.isInteger(number))
            throw outOfRange('code', 'an integer', code);
    }

    // ---- Warnings ----

    function makeWarning(text, type, code, detail) {
        const warning = new Error(text);
        Object.defineProperty(warning, 'name', {
            value: type || 'Warning', enumerable: false, configurable: true, writable: true,
        });
        if (code !== undefined)
            warning.code = code;
        if (typeof detail === 'string')
            warning.detail = detail;
        return warning;
    }

    function printWarning(warning) {
        if (!(warning instanceof Error))
            return;
        const code = warning.code ? `[${warning.code}] ` : '';
        const detail = typeof warning.detail === 'string' ? `\n${warning.detail}` : '';
        host.write(2, `(weft:${process.pid}) ${code}${warning.name}: ${warning.message}${detail}\n`);
    }

    // ---- What nobody catches ----

    function printLastWords(error, place) {
        let text;
        try {
            text = need('report').report(error, place);
        } catch {
            text = host.plainError(error) ?? 'Uncaught: a value that cannot be shown';
        }
        host.write(2, `${text}\n\nweft ${process.versions.weft}\n`);
    }

    // The end, with the last words on standard error, or to whoever has started this instance. False, for those who ask whether
    // somebody cared.
    function die(error, code = 1, place) {
        if (host.lastWords)
            host.lastWords(error);
        else
            printLastWords(error, place);
        isSilent ||= code === HANDLER_FAILED;
        exitCode = code;
        host.setExitCode(code);
        return false;
    }

    function callListeners(error, origin) {
        process.emit('uncaughtExceptionMonitor', error, origin);
        if (capture !== null) {
            capture(error);
            return true;
        }
        return process.emit('uncaughtException', error, origin);
    }

    function uncaught(error, origin = 'uncaughtException') {
        const place = host.thrownAt();
        let isHandled;
        try {
            isHandled = callListeners(error, origin);
        } catch (another) {
            return die(another, HANDLER_FAILED, host.thrownAt());
        }
        if (!isHandled && host.takeError === undefined)
            return die(error, 1, place);
        if (!isHandled)
            host.takeError(error);
        if (!isExiting)
            need('timers').setImmediate(nothing); // the loop goes round once more
        return true;
    }

    // As uncaught, from where nobody asks for the answer.
    function fatal(error, origin) {
        if (!uncaught(error, origin))
            host.exit(exitCode);
    }

    // An error that must not disturb who reports it.
    function reportError(error) {
        host.nextTick(() => { throw error; });
    }

    // ---- Rejections ----

    // What stands for a reason in a message; none of its methods is called.
    function brief(reason) {
        if (typeof reason === 'function')
            return Function.prototype.toString.call(reason);
        if (typeof reason !== 'object' || reason === null)
            return String(reason);
        const { constructor, toString } = reason;
        if (toString === Object.prototype.toString && typeof constructor === 'function' && constructor.name)
            return `#<${constructor.name}>`;
        return Object.prototype.toString.call(reason);
    }

    function isErrorLike(reason) {
        return reason instanceof Error || (typeof reason === 'object' && reason !== null && Object.hasOwn(reason, 'stack'));
    }

    function wrap(reason) {
        const error = withCode(new Error('This error originated either by throwing inside of an async function without a '
            + 'catch block, or by rejecting a promise which was not handled with .catch(). The promise rejected '
            + `with the reason "${brief(reason)}".`), 'ERR_UNHANDLED_REJECTION');
        Object.defineProperty(error, 'name', {
            value: 'UnhandledPromiseRejection', enumerable: false, configurable: true, writable: true,
        });
        return error;
    }

    // At the end of a checkpoint: promise, reason, promise, reason...
    function rejected(list) {
        const handledNow = handledLate;
        handledLate = [];
        for (const promise of handledNow)
            process.emit('rejectionHandled', promise);
        for (let i = 0; i < list.length; i += 2) {
            const promise = list[i], reason = list[i + 1];
            if (reason === reminder)
                continue;
            told.add(promise);
            if (!process.emit('unhandledRejection', reason, promise))
                fatal(isErrorLike(reason) || host.takeError ? reason : wrap(reason), 'unhandledRejection');
        }
    }

    // A promise that was told of has got a handler. A rejection of our own brings us to the end of the checkpoint.
    function handled(promise) {
        if (told.delete(promise) && handledLate.push(promise) === 1)
            reject(reminder);
    }

    // ---- The end ----

    function quiet() {
        process.emit('beforeExit', Number(exitCode ?? 0));
    }

    // The last thing that runs: what it puts off never comes.
    function exiting(code) {
        isExiting = true;
        try {
            process._exiting = true;
        } catch {
            // it is frozen
        }
        if (code === DEADLOCK)
            exitCode = code;
        const isUnsettled = code === UNSETTLED && (exitCode === undefined || exitCode === null);
        const argument = Number(exitCode ?? (isUnsettled ? 0 : code));
        if (isUnsettled) {
            exitCode = code; // Node's own listener does so, after the argument was made
            need('report').unsettled();
        }
        if (!isSilent) {
            try {
                process.emit('exit', argument);
            } catch (error) {
                uncaught(error);
            }
        }
        return Number(exitCode ?? 0);
    }

    return { process, uncaught, fatal, reportError, rejected, handled, quiet, exiting };
})
