// SPDX-License-Identifier: MIT
// js/lib/children.js - weft:process: programs that are started, talked to, waited for and killed; and signals.
// host: processSpawn(program), processRun(program, input, limit, signal, milliseconds, is synchronous),
//       processWait(child, milliseconds), processKill(child, signal)
(function (host, need) {
    'use strict';
    const { within, whenDone, later, mapped, abortable, timeLimit } = need('abortable');
    const { describe, descriptor, throughShell } = need('program');
    const { connectionOf } = need('connection');
    const { errnoException } = need('system_error');
    const { toNumber, nameOf } = need('signal_names');
    const { asCase, kinds } = need('select_case');
    const OUTPUT_LIMIT = 16 << 20;
    const ESRCH = -3;

    // A code, or the signal that has killed it.
    const endOf = ([code, signal]) => (signal ? { code: null, signal: nameOf(signal) } : { code, signal: null });

    let whenEnded;

    class Child {
        #handle;

        constructor(program, command) {
            const started = host.processSpawn(program);
            if (typeof started === 'number')
                throw errnoException(started, `spawn ${command}`, { path: command });
            this.#handle = started[0];
            this.pid = started[1];
            [this.stdin, this.stdout, this.stderr] = started.slice(2).map((stream) => stream && connectionOf(stream));
        }

        // { code, signal }
        wait(options) {
            return mapped(() => within(options, (limit) => host.processWait(this.#handle, limit)), endOf);
        }

        // A promise of it, on a fiber, too.
        get exited() {
            return later(() => host.processWait(this.#handle, -1)).then(endOf);
        }

        // Whether it was still there.
        kill(signal = 'SIGTERM') {
            const error = host.processKill(this.#handle, toNumber(signal));
            if (error && error !== ESRCH)
                throw errnoException(error, 'kill');
            return error === 0;
        }

        // As a case of select: { exit: child }.
        [asCase](key) {
            return key === 'exit' ? [kinds.end, this.#handle, endOf] : undefined;
        }

        static {
            // Calls fn when it has ended; that alone does not keep the program running.
            whenEnded = (child, fn) => whenDone(() => host.processWait(child.#handle, -1), fn, true);
        }

        async [Symbol.asyncDispose]() {
            this.kill();
            await this.exited;
        }
    }

    const isOptions = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

    function programOf(command, args, options, usual) {
        if (!Array.isArray(args))
            throw new TypeError('The arguments of a program are an array');
        const [file, rest] = throughShell(options.shell, String(command), args.map(String));
        const stdio = ['stdin', 'stdout', 'stderr'].map((name, i) => descriptor(options[name] ?? usual[i], i));
        const { env, cwd, argv0 = file, detached = false } = options;
        return describe(file, [argv0, ...rest], { env, cwd, isDetached: detached }, stdio);
    }

    // Kills it when the signal aborts, or when the time is over.
    function limitLife(child, { signal, timeout, killSignal = 'SIGTERM' }) {
        const kill = () => child.kill(killSignal);
        const limit = timeLimit({ timeout });
        const timer = limit < 0 ? undefined : setTimeout(kill, limit).unref();
        signal?.addEventListener('abort', kill);
        whenEnded(child, () => {
            clearTimeout(timer);
            signal?.removeEventListener('abort', kill);
        });
    }

    // Starts a program and returns a Child. stdin, stdout, stderr: 'inherit', unless it is said otherwise.
    function spawn(command, args = [], options = {}) {
        if (isOptions(args))
            [args, options] = [[], args];
        toNumber(options.killSignal ?? 'SIGTERM');
        timeLimit(options);
        options.signal?.throwIfAborted();
        const program = programOf(command, args, options, ['inherit', 'inherit', 'inherit']);
        const child = new Child(program, String(command));
        if (options.signal || options.timeout !== undefined)
            limitLife(child, options);
        return child;
    }

    const bytesOf = (input) => (typeof input === 'string' ? new TextEncoder().encode(input)
        : input instanceof Uint8Array ? input : new Uint8Array(input.buffer ?? input));

    // Runs a program to its end: { code, signal, stdout, stderr }, texts unless encoding is 'bytes'.
    function run(command, args = [], options = {}) {
        if (isOptions(args))
            [args, options] = [[], args];
        const { input, limit = OUTPUT_LIMIT, killSignal = 'SIGTERM', encoding = 'utf8', signal } = options;
        const program = programOf(command, args, options, [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe']);
        const time = timeLimit(options), number = toNumber(killSignal);
        const given = input === undefined ? undefined : bytesOf(input);
        const output = (bytes) => {
            const kept = bytes?.subarray(0, limit) ?? null;
            return kept === null || encoding === 'bytes' ? kept : new TextDecoder(encoding).decode(kept);
        };
        const result = ([error, id, code, killedBy, out, err]) => {
            const all = { ...endOf([code, killedBy]), stdout: output(out), stderr: output(err) };
            if (!error)
                return all;
            if (!id) // it never ran
                throw errnoException(error, `spawn ${command}`, { path: String(command) });
            const { code: exitCode, ...rest } = all;
            throw errnoException(error, `run ${command}`, { ...rest, exitCode });
        };
        return mapped(() => abortable(signal, () => host.processRun(program, given, limit, number, time, false)), result);
    }

    // ---- Signals ----

    class Signals {
        #handle;

        constructor(names) {
            if (names.length === 0)
                throw new TypeError('signals needs the names of signals');
            const opened = host.signalsOpen(names.map(toNumber));
            if (typeof opened === 'number')
                throw errnoException(opened, `signals ${names.join(', ')}`);
            this.#handle = opened;
        }

        // The name of the next one; undefined once it is closed.
        recv(options) {
            return mapped(() => within(options, (limit) => host.signalsWait(this.#handle, limit)), signalOf);
        }

        // From then on the signals do what they did before.
        close() {
            return host.signalsClose(this.#handle);
        }

        // As a case of select: { signal: signals }, or as a channel { recv: signals }.
        [asCase](key) {
            return key === 'signal' || key === 'recv' ? [kinds.signal, this.#handle, signalOf] : undefined;
        }

        * [Symbol.iterator]() {
            for (let name; (name = this.recv()) !== undefined;)
                yield name;
        }

        async * [Symbol.asyncIterator]() {
            for (let name; (name = await this.recv()) !== undefined;)
                yield name;
        }

        [Symbol.dispose]() {
            this.close();
        }
    }

    const signalOf = (told) => (told ? nameOf(told[0]) : undefined);

    // Catches them from now on.
    const signals = (...names) => new Signals(names);

    // Calls fn(name) for each; does not keep the program running. The result ends it.
    function onSignal(names, fn) {
        if (typeof fn !== 'function')
            throw new TypeError('onSignal needs a function');
        return need('signal_watch').watch([names].flat(), (name) => fn(name));
    }

    const exported = { spawn, run, signals, onSignal, Child, Signals };
    return { ...exported, default: exported };
})
