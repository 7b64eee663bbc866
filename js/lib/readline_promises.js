// SPDX-License-Identifier: MIT
// js/lib/readline_promises.js - node:readline/promises: questions whose answers are promises, and moves that are written
// together.
(function (host, need) {
    'use strict';
    const readline = need('readline');
    const { ask, cancel, mustBeOpen } = readline.inside;
    const { validateAbortSignal, invalidArgType, abortError } = need('node_error');
    const { Writable } = need('stream_writable');

    class Interface extends readline.Interface {
        question(query, options) {
            return new Promise((resolve, reject) => {
                const signal = options?.signal;
                validateAbortSignal(signal, 'options.signal');
                mustBeOpen(this);
                if (signal?.aborted) {
                    reject(abortError(signal));
                    return;
                }
                const stop = () => {
                    cancel(this);
                    reject(abortError(signal));
                };
                signal?.addEventListener('abort', stop, { once: true });
                ask(this, query, (answer) => {
                    signal?.removeEventListener('abort', stop);
                    resolve(answer);
                });
            });
        }
    }

    // Moves that wait for commit().
    class Readline {
        #stream;
        #isAtOnce;
        #moves = [];

        constructor(stream, options) {
            if (!(stream instanceof Writable))
                throw invalidArgType('stream', 'Writable', stream);
            this.#stream = stream;
            this.#isAtOnce = !!options?.autoCommit;
        }

        #add(name, ...values) {
            const move = (stream) => readline[name](stream, ...values);
            if (this.#isAtOnce)
                process.nextTick(() => move(this.#stream));
            else
                this.#moves.push(move);
            return this;
        }

        cursorTo(x, y) {
            return this.#add('cursorTo', x, y);
        }

        moveCursor(dx, dy) {
            return this.#add('moveCursor', dx, dy);
        }

        clearLine(direction) {
            return this.#add('clearLine', direction);
        }

        clearScreenDown() {
            return this.#add('clearScreenDown');
        }

        commit() {
            return new Promise((resolve) => {
                let text = '';
                for (const move of this.#moves.splice(0))
                    move({ write: (part) => { text += part; } });
                this.#stream.write(text, () => resolve());
            });
        }

        rollback() {
            this.#moves = [];
            return this;
        }
    }

    return { Interface, Readline, createInterface: (...given) => new Interface(...given) };
})
