// SPDX-License-Identifier: MIT
// js/lib/readline.js - node:readline: lines out of a stream, and questions.
// host: nextTick(fn)
//
// A terminal is left as it is: its own driver lets a line be edited, and gives it when it is complete.
(function (host, need) {
    'use strict';
    const { EventEmitter } = need('events');
    const { StringDecoder } = need('string_decoder');
    const { nodeError, invalidArgType, invalidArgValue, validateString, validateAbortSignal, abortError } = need('node_error');
    const cursor = need('readline_cursor');
    const ENDING = /\r?\n|\r(?!\n)/;
    const MOST_WAITING = 1024; // lines that nobody has asked for yet
    const LEAST_DELAY = 100; // milliseconds in which \r and \n are one end

    function toOptions(input, output, completer, terminal) {
        if (input?.input !== undefined)
            return input;
        return { input, output, completer, terminal };
    }

    function check(options) {
        const { completer, input, historySize, tabSize, signal } = options;
        if (completer !== undefined && typeof completer !== 'function')
            throw invalidArgValue('completer', completer);
        if (typeof input?.on !== 'function')
            throw invalidArgType('options.input', 'Stream', input);
        if (historySize !== undefined && (typeof historySize !== 'number' || Number.isNaN(historySize) || historySize < 0))
            throw typeof historySize === 'number' ? need('node_error').outOfRange('historySize', '>= 0', historySize)
                : invalidArgType('historySize', 'number', historySize);
        if (tabSize !== undefined)
            need('node_error').validateInteger(tabSize, 'tabSize', 1);
        validateAbortSignal(signal, 'options.signal');
    }

    // Old programs call it as a function.
    function Interface(input, output, completer, terminal) {
        if (!(this instanceof Interface))
            return new Interface(input, output, completer, terminal);
        const options = toOptions(input, output, completer, terminal);
        check(options);
        EventEmitter.call(this);
        this.input = options.input;
        this.output = options.output;
        this.terminal = !!(options.terminal ?? options.output?.isTTY);
        this.line = '';
        this.cursor = 0;
        this.history = options.history ?? [];
        this.historySize = options.historySize ?? 30;
        this.crlfDelay = Math.max(LEAST_DELAY, options.crlfDelay ?? LEAST_DELAY);
        this.tabSize = options.tabSize ?? 8;
        this.paused = false;
        begin(this, String(options.prompt ?? '> '));
        if (options.signal)
            closeWith(this, options.signal);
        return undefined;
    }
    Object.setPrototypeOf(Interface.prototype, EventEmitter.prototype);
    Object.setPrototypeOf(Interface, EventEmitter);

    const inside = Symbol('state');

    function begin(reader, prompt) {
        const state = { prompt, oldPrompt: prompt, question: null, rest: '', sawReturn: 0, decoder: new StringDecoder('utf8') };
        Object.defineProperty(reader, inside, { value: state });
        const { input } = reader;
        const onData = (data) => take(reader, state, data);
        const onEnd = () => {
            const rest = state.rest;
            state.rest = '';
            if (rest !== '')
                reader.emit('line', rest);
            reader.close();
        };
        const onError = (error) => reader.emit('error', error);
        input.on('error', onError);
        input.on('data', onData);
        input.on('end', onEnd);
        reader.once('close', () => {
            input.removeListener('error', onError);
            input.removeListener('data', onData);
            input.removeListener('end', onEnd);
        });
        input.resume();
    }

    function closeWith(reader, signal) {
        const close = () => reader.close();
        if (signal.aborted) {
            host.nextTick(close);
            return;
        }
        signal.addEventListener('abort', close, { once: true });
        reader.once('close', () => signal.removeEventListener('abort', close));
    }

    // Lines end in any of the ways that there are; \r at the end of one piece and \n at the beginning of the next are one end.
    function take(reader, state, data) {
        if (data === undefined)
            return;
        let text = state.decoder.write(data);
        if (state.sawReturn && Date.now() - state.sawReturn <= reader.crlfDelay) {
            if (text.startsWith('\n'))
                text = text.slice(1);
            state.sawReturn = 0;
        }
        const hasReturn = text.includes('\r');
        if (!hasReturn && !text.includes('\n')) {
            state.rest += text;
            return;
        }
        text = state.rest + text;
        state.sawReturn = hasReturn && text.endsWith('\r') ? Date.now() : 0;
        const lines = text.split(hasReturn ? ENDING : '\n');
        state.rest = lines.pop();
        for (const line of lines)
            giveLine(reader, state, line);
    }

    function giveLine(reader, state, line) {
        const { question } = state;
        if (question === null) {
            reader.emit('line', line);
            return;
        }
        state.question = null;
        reader.setPrompt(state.oldPrompt);
        question(line);
    }

    function mustBeOpen(reader) {
        if (reader.closed)
            throw nodeError(Error, 'ERR_USE_AFTER_CLOSE', 'readline was closed');
    }

    // Asks, and tells the answer; cancelled: takes the question back.
    function ask(reader, query, callback) {
        const state = reader[inside];
        mustBeOpen(reader);
        if (state.question !== null) {
            reader.prompt();
            return;
        }
        state.oldPrompt = state.prompt;
        reader.setPrompt(query);
        state.question = callback;
        reader.prompt();
    }

    function cancel(reader) {
        const state = reader[inside];
        if (state.question === null)
            return;
        state.question = null;
        reader.setPrompt(state.oldPrompt);
        reader._writeToOutput('\r\n');
    }

    Object.assign(Interface.prototype, {
        setPrompt(prompt) {
            this[inside].prompt = String(prompt);
        },
        getPrompt() {
            return this[inside].prompt;
        },
        prompt() {
            if (this.paused)
                this.resume();
            this._writeToOutput(this[inside].prompt);
        },
        _writeToOutput(text) {
            validateString(text, 'stringToWrite');
            if (this.output !== null && this.output !== undefined)
                this.output.write(text);
        },
        question(query, options, callback) {
            if (typeof options === 'function')
                [options, callback] = [{}, options];
            const { signal } = options ?? {};
            if (signal !== undefined) {
                validateAbortSignal(signal, 'options.signal');
                if (signal.aborted)
                    return;
                const stop = () => cancel(this);
                const answer = callback;
                signal.addEventListener('abort', stop, { once: true });
                callback = (line) => {
                    signal.removeEventListener('abort', stop);
                    return answer?.(line);
                };
            }
            if (typeof callback === 'function')
                ask(this, query, callback);
        },
        write(data) {
            if (this.paused)
                this.resume();
            if (data !== null)
                take(this, this[inside], data);
        },
        pause() {
            if (this.paused)
                return this;
            this.input.pause();
            this.paused = true;
            this.emit('pause');
            return this;
        },
        resume() {
            if (!this.paused)
                return this;
            this.input.resume();
            this.paused = false;
            this.emit('resume');
            return this;
        },
        close() {
            if (this.closed)
                return;
            this.pause();
            this.closed = true;
            this.emit('close');
        },
        getCursorPos() {
            return { rows: 0, cols: this[inside].prompt.length };
        },
        [Symbol.asyncIterator]() {
            return linesOf(this);
        },
        [Symbol.dispose]() {
            this.close();
        },
    });
    for (const name of Reflect.ownKeys(Interface.prototype))
        Object.defineProperty(Interface.prototype, name, { enumerable: false });

    Object.defineProperty(Interface.prototype.question, Symbol.for('nodejs.util.promisify.custom'), {
        value(query, options) {
            return new Promise((resolve, reject) => {
                const signal = options?.signal;
                if (signal?.aborted) {
                    reject(abortError(signal));
                    return;
                }
                signal?.addEventListener('abort', () => reject(abortError(signal)), { once: true });
                this.question(query, options ?? {}, resolve);
            });
        },
    });

    // From now on; while too many wait, nothing is read. Who leaves closes it.
    function linesOf(reader) {
        let line = [], at = 0; // those that have come; the first that was not given yet
        let isOver = reader.closed, failure, wake = () => {};
        const add = (text) => {
            line.push(text);
            if (line.length - at > MOST_WAITING)
                reader.pause();
            wake();
        };
        const end = () => {
            isOver = true;
            wake();
        };
        const fail = (error) => {
            failure = { error };
            end();
        };
        reader.on('line', add);
        reader.once('close', end);
        reader.once('error', fail);
        const leave = () => {
            reader.off('line', add);
            reader.off('close', end);
            reader.off('error', fail);
            reader.close();
        };
        return (async function* () {
            try {
                for (;;) {
                    if (at < line.length) {
                        yield line[at++];
                        if (at < line.length)
                            continue;
                        [line, at] = [[], 0];
                        if (reader.paused && !isOver)
                            reader.resume();
                    } else if (failure) {
                        throw failure.error;
                    } else if (isOver) {
                        return;
                    } else {
                        await new Promise((resolve) => { wake = resolve; });
                    }
                }
            } finally {
                leave();
            }
        })();
    }

    const createInterface = (...given) => new Interface(...given);

    const exported = {
        Interface, clearLine: cursor.clearLine, clearScreenDown: cursor.clearScreenDown, createInterface,
        cursorTo: cursor.cursorTo, emitKeypressEvents: (stream) => need('readline_keys').emitKeypressEvents(stream),
        moveCursor: cursor.moveCursor,
    };
    Object.defineProperty(exported, 'promises', { enumerable: true, get: () => need('readline_promises') });
    // For readline_promises.
    Object.defineProperty(exported, 'inside', { value: { ask, cancel, mustBeOpen } });
    return exported;
})
