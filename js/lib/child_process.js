// SPDX-License-Identifier: MIT
// js/lib/child_process.js - node:child_process: children as emitters. What it does not have: fork, channels to children, more
// descriptors than three. The synchronous ones: js/lib/child_process_sync.js.
// host: processSpawn(program), processWait(child, milliseconds), processKill(child, signal), netPipe(is a pair),
//       waitKeep(wait, keeps), nextTick(fn)
(function (host, need) {
    'use strict';
    const { EventEmitter } = need('events');
    const { Buffer } = need('buffer');
    const { Wire } = need('wire');
    const { whenDone } = need('abortable');
    const { describe } = need('program');
    const { nodeError, validateAbortSignal, validateFunction, validateString, abortError } = need('node_error');
    const { errnoException, codeOf } = need('system_error');
    const { nameOf } = need('signal_names');
    const settings = need('child_process_options');
    const told = new Set([-13, -11, -24, -23, -2]); // EACCES, EAGAIN, EMFILE, ENFILE, ENOENT: an event, and no exception
    const ESRCH = -3, EINVAL = -22;

    class ChildProcess extends EventEmitter {
        #handle;
        #wait;
        #keeps = true;

        constructor() {
            super();
            this._closesNeeded = 1;
            this._closesGot = 0;
            this.connected = false;
            this.signalCode = null;
            this.exitCode = null;
            this.killed = false;
            this.spawnfile = null;
        }

        spawn(options) {
            const stdio = settings.stdioOf(options.stdio);
            this.spawnfile = options.file;
            this.spawnargs = options.args;
            const started = host.processSpawn(describe(options.file, options.args, options, stdio));
            if (typeof started === 'number')
                this.#refuse(started, stdio);
            else
                this.#begin(started);
        }

        #begin([handle, pid, ...streams]) {
            this.#handle = handle;
            this.pid = pid;
            host.nextTick(() => this.emit('spawn'));
            this.#attach(streams);
            this.#wait = whenDone(() => host.processWait(handle, -1), (error, end) => {
                this.#handle = undefined;
                const [code, signal] = end ?? [error.errno, 0];
                this.#ended(signal ? null : code, signal ? nameOf(signal) : null);
            }, !this.#keeps);
        }

        // It does not run: its streams are at their ends, as if it had ended at once.
        #refuse(number, stdio) {
            if (!told.has(number))
                throw errnoException(number, 'spawn');
            host.nextTick(() => this.#ended(number, null));
            this.#attach(stdio.map(([kind], i) => {
                if (kind !== settings.PIPE)
                    return null;
                const [reader, writer] = host.netPipe(false);
                host.netClose(i === 0 ? reader : writer);
                return i === 0 ? writer : reader;
            }));
        }

        #attach(streams) {
            const { Socket } = need('socket');
            this.stdio = streams.map((stream, i) => {
                if (!stream)
                    return null;
                const socket = new Socket({ handle: new Wire(stream), readable: i > 0, writable: i === 0, manualStart: true });
                if (i > 0) {
                    this._closesNeeded++;
                    socket.on('close', () => this.#closed());
                    host.nextTick(() => socket.read(0)); // until then it may become another child's
                }
                return socket;
            });
            [this.stdin, this.stdout, this.stderr] = this.stdio;
        }

        #ended(code, signal) {
            if (signal)
                this.signalCode = signal;
            else
                this.exitCode = code;
            this.stdin?.destroy();
            if (code < 0)
                this.emit('error', errnoException(code, `spawn ${this.spawnfile}`,
                    { path: this.spawnfile, spawnargs: this.spawnargs.slice(1) }));
            else
                this.emit('exit', this.exitCode, this.signalCode);
            host.nextTick(() => this.#flush());
            this.#closed();
        }

        // What nobody reads is read to its end, so that 'close' comes.
        #flush() {
            for (const stream of this.stdio ?? []) {
                const state = stream?._readableState;
                if (stream?.readable && !state.flowing && !state.readableListening && !stream.readableDidRead)
                    stream.resume();
            }
        }

        #closed() {
            if (++this._closesGot === this._closesNeeded)
                this.emit('close', this.exitCode, this.signalCode);
        }

        kill(signal) {
            const number = signal === 0 ? 0 : settings.toSignal(signal ?? 'SIGTERM');
            const error = this.#handle ? host.processKill(this.#handle, number) : ESRCH;
            if (error === 0) {
                this.killed = true;
                return true;
            }
            if (error === EINVAL)
                throw errnoException(error, 'kill');
            if (error !== ESRCH)
                this.emit('error', errnoException(error, 'kill'));
            return false;
        }

        #keep(keeps) {
            this.#keeps = keeps;
            if (this.#handle)
                host.waitKeep(this.#wait, keeps);
        }

        ref() {
            this.#keep(true);
        }

        unref() {
            this.#keep(false);
        }

        [Symbol.dispose]() {
            if (!this.killed)
                this.kill();
        }
    }

    // ---- spawn ----

    function limitTime(child, timeout, signal) {
        const timer = setTimeout(() => {
            try {
                child.kill(signal);
            } catch (error) {
                child.emit('error', error);
            }
        }, timeout);
        child.once('exit', () => clearTimeout(timer));
    }

    function endWith(child, signal, killSignal) {
        const stop = () => {
            try {
                if (child.kill(killSignal))
                    child.emit('error', abortError(signal));
            } catch (error) {
                child.emit('error', error);
            }
        };
        if (signal.aborted) {
            host.nextTick(stop);
            return;
        }
        signal.addEventListener('abort', stop, { once: true });
        child.once('exit', () => signal.removeEventListener('abort', stop));
    }

    function spawn(file, args, options) {
        const normal = settings.normalize(file, args, options);
        settings.checkTimeout(normal.timeout);
        validateAbortSignal(normal.signal, 'options.signal');
        const killSignal = settings.killSignalOf(normal.killSignal);
        const child = new ChildProcess();
        child.spawn(normal);
        if (normal.timeout > 0)
            limitTime(child, normal.timeout, killSignal);
        if (normal.signal)
            endWith(child, normal.signal, killSignal);
        return child;
    }

    // ---- exec, execFile ----

    // What comes out of one stream, up to a limit.
    class Collector {
        #pieces = [];
        #length = 0;

        constructor(stream, encoding, most, full) {
            this.stream = stream;
            if (!stream)
                return;
            if (encoding)
                stream.setEncoding(encoding);
            stream.on('data', (chunk) => {
                const size = typeof chunk === 'string' ? Buffer.byteLength(chunk, stream.readableEncoding) : chunk.length;
                this.#length += size;
                if (this.#length <= most) {
                    this.#pieces.push(chunk);
                    return;
                }
                this.#pieces.push(chunk.slice(0, most - (this.#length - size)));
                full();
            });
        }

        result(encoding) {
            return encoding || this.stream?.readableEncoding ? this.#pieces.join('') : Buffer.concat(this.#pieces);
        }
    }

    function collect(child, options, command, callback) {
        const encoding = options.encoding !== 'buffer' && Buffer.isEncoding(options.encoding) ? options.encoding : null;
        let failure = null, isKilled = false, isOver = false;
        const stop = () => {
            child.stdout?.destroy();
            child.stderr?.destroy();
            isKilled = true;
            try {
                child.kill(options.killSignal);
            } catch (error) {
                failure = error;
                finish();
            }
        };
        const timer = options.timeout > 0 ? setTimeout(stop, options.timeout) : undefined;
        const collector = (name) => new Collector(child[name], encoding, options.maxBuffer, () => {
            failure = nodeError(RangeError, 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER', `${name} maxBuffer length exceeded`);
            stop();
        });
        const out = collector('stdout'), err = collector('stderr');
        function finish(code, signal) {
            if (isOver)
                return;
            isOver = true;
            clearTimeout(timer);
            if (!callback)
                return;
            const stdout = out.result(encoding), stderr = err.result(encoding);
            if (!failure && code === 0 && signal === null) {
                callback(null, stdout, stderr);
                return;
            }
            failure ??= Object.assign(new Error(`Command failed: ${command}\n${stderr}`),
                { code: code < 0 ? codeOf(code) : code, killed: child.killed || isKilled, signal });
            failure.cmd = command;
            callback(failure, stdout, stderr);
        }
        child.on('close', finish);
        child.on('error', (error) => {
            failure = error;
            child.stdout?.destroy();
            child.stderr?.destroy();
            finish();
        });
    }

    function execFile(file, args, options, callback) {
        [args, options, callback] = settings.sortArguments(args, options, callback);
        if (callback !== undefined)
            validateFunction(callback, 'callback');
        options = { encoding: 'utf8', timeout: 0, maxBuffer: 1024 * 1024, killSignal: 'SIGTERM', ...options };
        settings.checkTimeout(options.timeout);
        settings.checkMaxBuffer(options.maxBuffer);
        options.killSignal = settings.killSignalOf(options.killSignal);
        const { cwd, env, gid, shell, signal, uid } = options;
        const child = spawn(file, args, { cwd, env, gid, shell, signal, uid });
        collect(child, options, [file, ...args].join(' '), callback);
        return child;
    }

    function exec(command, options, callback) {
        if (typeof options === 'function')
            [options, callback] = [undefined, options];
        validateString(command, 'command');
        const shell = typeof options?.shell === 'string' ? options.shell : true;
        return execFile(command, [], { ...options, shell }, callback);
    }

    // A promise of { stdout, stderr }, with the child beside it.
    function promised(fn) {
        return (...args) => {
            let child;
            const promise = new Promise((resolve, reject) => {
                child = fn(...args, (error, stdout, stderr) => {
                    if (error === null)
                        resolve({ stdout, stderr });
                    else
                        reject(Object.assign(error, { stdout, stderr }));
                });
            });
            promise.child = child;
            return promise;
        };
    }

    const custom = Symbol.for('nodejs.util.promisify.custom');
    for (const fn of [exec, execFile])
        Object.defineProperty(fn, custom, { enumerable: false, value: promised(fn) });

    function fork() {
        throw nodeError(Error, 'ERR_FEATURE_UNAVAILABLE_ON_PLATFORM', 'weft has no child_process.fork');
    }

    const later = (name) => (...args) => need('child_process_sync')[name](...args);
    return {
        ChildProcess, spawn, exec, execFile, fork, spawnSync: later('spawnSync'), execSync: later('execSync'),
        execFileSync: later('execFileSync'),
    };
})
