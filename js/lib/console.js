// SPDX-License-Identifier: MIT
// js/lib/console.js - the console object, and the Console class of node:console.
// host: write(fd, text), now(), isTTY(fd); and what inspect.js lists.
(function (host, need) {
    'use strict';

    // Plain text is printed without inspect: it is loaded with the first value that needs it.
    const inspecting = () => need('inspect');

    // Where text goes: a sink is { write(text), colors }, and colors are asked for when they are needed.
    function fdSink(fd) {
        let colors;
        return {
            stream: undefined,
            usual: undefined, // the stream's own way to write, which comes to the same
            write(text) {
                if (this.stream === undefined || this.stream.write === this.usual) host.write(fd, text);
                else this.stream.write(text);
            },
            hasColors() {
                if (colors === undefined) colors = host.isTTY(fd) && terminalHasColors();
                return colors;
            },
        };
    }

    function terminalHasColors() {
        const environment = (globalThis.process && globalThis.process.env) || {};
        return !environment.NO_COLOR && !environment.NODE_DISABLE_COLORS && environment.TERM !== 'dumb';
    }

    function streamSink(stream, mode, ignoreErrors) {
        return {
            stream,
            write(text) {
                try {
                    stream.write(text);
                } catch (error) {
                    if (!ignoreErrors) throw error;
                }
            },
            hasColors() {
                if (mode !== 'auto') return mode;
                return Boolean(stream.isTTY) && (typeof stream.getColorDepth !== 'function' || stream.getColorDepth() > 2);
            },
        };
    }

    // A duration in milliseconds, in the unit that suits it.
    function durationText(milliseconds) {
        if (milliseconds < 1000) return Number(milliseconds.toFixed(3)) + 'ms';
        const seconds = milliseconds / 1000;
        if (seconds < 60) return seconds.toFixed(3) + 's';
        const hours = Math.floor(seconds / 3600);
        const minutes = Math.floor((seconds % 3600) / 60);
        const rest = (seconds % 60).toFixed(3).padStart(6, '0');
        if (hours === 0) return minutes + ':' + rest + ' (m:ss.mmm)';
        return hours + ':' + String(minutes).padStart(2, '0') + ':' + rest.slice(0, 2) + ' (h:mm:ss)';
    }

    function warn(text) {
        need('node_error').emitWarning(text);
    }

    // Whether the values are text with nothing to fill in.
    function isPlain(values) {
        if (values.length > 1 && typeof values[0] === 'string' && values[0].includes('%')) return false;
        return values.every((value) => typeof value === 'string');
    }

    // One console: what it knows, and how it writes.
    class Output {
        constructor(stdout, stderr, groupIndentation, optionsFor) {
            this.stdout = stdout;
            this.stderr = stderr;
            this.groupIndentation = groupIndentation;
            this.optionsFor = optionsFor;
            this.indent = '';
            this.counts = new Map();
            this.timers = new Map();
        }

        inspectOptions(sink) {
            const options = this.optionsFor(sink);
            if (options !== undefined) return options;
            return sink.hasColors() ? { colors: true } : {};
        }

        write(sink, text) {
            if (this.indent !== '') text = this.indent + text.replaceAll('\n', '\n' + this.indent);
            sink.write(text + '\n');
        }

        print(sink, values) {
            if (isPlain(values)) this.write(sink, values.join(' '));
            else this.write(sink, inspecting().formatWithOptions(this.inspectOptions(sink), ...values));
        }

        time(label, method, values) {
            const start = this.timers.get(label);
            if (start === undefined) {
                warn(`No such label '${label}' for console.${method}()`);
                return;
            }
            this.print(this.stdout, ['%s: %s', label, durationText(host.now() - start), ...values]);
            if (method === 'timeEnd') this.timers.delete(label);
        }
    }

    // All methods are free of this, so that they can be passed about. None of them shows a length.
    function methodsFor(output) {
        const log = (...values) => output.print(output.stdout, values);
        const toError = (...values) => output.print(output.stderr, values);
        const methods = {
            log(...values) { log(...values); },
            warn(...values) { toError(...values); },
            dir(value, options) {
                output.write(output.stdout, inspecting().inspect(value, {
                    customInspect: false, ...output.inspectOptions(output.stdout), ...options,
                }));
            },
            time(label = 'default') {
                label = `${label}`;
                if (output.timers.has(label)) warn(`Label '${label}' already exists for console.time()`);
                else output.timers.set(label, host.now());
            },
            timeEnd(label = 'default') { output.time(`${label}`, 'timeEnd', []); },
            timeLog(label = 'default', ...values) { output.time(`${label}`, 'timeLog', values); },
            trace(...values) {
                const error = new Error(values.length === 0 ? '' : inspecting().formatWithOptions(
                    output.inspectOptions(output.stderr), ...values));
                error.name = 'Trace';
                const lines = need('inspect_error').stackText(error).split('\n');
                // The first frame is this method itself.
                const own = lines.findIndex((line) => /^\s+at trace \(/.test(line));
                if (own >= 0) lines.splice(own, 1);
                toError(lines.join('\n'));
            },
            assert(condition, ...values) {
                if (condition) return;
                values[0] = values.length === 0 ? 'Assertion failed' : `Assertion failed: ${values[0]}`;
                toError(...values);
            },
            clear() {
                // Only a terminal can be cleared: to the top left, and nothing below.
                if (host.isTTY(1) && output.stdout.hasColors()) output.stdout.write('\x1b[1;1H\x1b[0J');
            },
            count(label = 'default') {
                label = `${label}`;
                const count = (output.counts.get(label) || 0) + 1;
                output.counts.set(label, count);
                log(`${label}: ${count}`);
            },
            countReset(label = 'default') {
                if (!output.counts.delete(`${label}`)) warn(`Count for '${label}' does not exist`);
            },
            group(...values) {
                if (values.length > 0) log(...values);
                output.indent += ' '.repeat(output.groupIndentation);
            },
            groupEnd() { output.indent = output.indent.slice(0, output.indent.length - output.groupIndentation); },
            table(data, properties) {
                if (properties !== undefined) need('node_error').validateArray(properties, 'properties');
                if (data === null || typeof data !== 'object') {
                    log(data);
                    return;
                }
                log(need('console_table').table(data, properties, output.inspectOptions(output.stdout)));
            },
            debug(...values) { log(...values); },
            info(...values) { log(...values); },
            dirxml(...values) { log(...values); },
            error(...values) { toError(...values); },
            groupCollapsed(...values) { methods.group(...values); },
        };
        for (const name of Object.keys(methods)) Object.defineProperty(methods[name], 'length', { value: 0, configurable:
            true });
        return methods;
    }

    function isStream(value) {
        return value !== null && typeof value === 'object' && typeof value.write === 'function';
    }

    function Console(options) {
        if (new.target === undefined) return Reflect.construct(Console, arguments);
        const { nodeError, validateNumber } = need('node_error');
        if (!options || typeof options.write === 'function') {
            options = { stdout: options, stderr: arguments[1], ignoreErrors: arguments[2] };
        }
        const { stdout, stderr = stdout, ignoreErrors = true, colorMode = 'auto', inspectOptions,
            groupIndentation } = options;
        for (const [name, stream] of [['stdout', stdout], ['stderr', stderr]]) {
            if (!isStream(stream)) {
                throw nodeError(TypeError, 'ERR_CONSOLE_WRITABLE_STREAM',
                    `Console expects a writable stream instance for ${name}`);
            }
        }
        if (groupIndentation !== undefined) validateNumber(groupIndentation, 'groupIndentation', 0, 1000);
        const output = new Output(streamSink(stdout, colorMode, ignoreErrors), streamSink(stderr, colorMode, ignoreErrors),
            groupIndentation === undefined ? 2 : groupIndentation,
            (sink) => (typeof inspectOptions === 'function' ? inspectOptions(sink.stream) : inspectOptions));
        Object.assign(this, methodsFor(output));
    }

    Object.defineProperty(Console, Symbol.hasInstance, {
        value(value) {
            return value === consoleObject || Function.prototype[Symbol.hasInstance].call(this, value);
        },
    });

    const output = new Output(fdSink(1), fdSink(2), 2, () => undefined);
    const consoleObject = Object.create({});
    Object.assign(consoleObject, methodsFor(output), {
        Console,
        profile() {},
        profileEnd() {},
        timeStamp() {},
        context() { return consoleObject; },
        createTask(name) {
            return { run(callback) { return callback(); } };
        },
    });
    Object.defineProperty(consoleObject, Symbol.toStringTag, { value: 'console', configurable: true });

    // From then on the console writes to this stream if a program has put something else in the place of its write().
    function useStream(name, stream) {
        output[name].stream = stream;
        output[name].usual = stream.write;
    }

    return { console: consoleObject, default: consoleObject, Console, useStream };
})
