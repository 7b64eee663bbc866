// SPDX-License-Identifier: MIT
// js/lib/line.js - those who wait for something, in the order in which they came.
// host: gateNew(), gateWait(gate, milliseconds, kind, surely), gateOpen(gate), isFiber()
//
// Whoever runs has the turn, so nobody else is anywhere in here: a line and what it is for need no lock. Who is let through may
// find out much later, and may have given up meanwhile without knowing: then it has been let through all the same.
(function (host, need) {
    'use strict';
    const { abortable, timeLimit } = need('abortable');

    // As in js/gate.c.
    const kinds = { mutex: 0, read: 1, write: 2, semaphore: 3, waitGroup: 4, once: 5, barrier: 6, cond: 7, work: 9 };

    // What is at hand, as a call that waits returns it.
    const atOnce = (value) => (host.isFiber() ? value : Promise.resolve(value));

    class Line {
        #kind;
        #left; // called when somebody has given up: others may be next
        #entries = new Set();

        constructor(kind, left = () => {}) {
            this.#kind = kind;
            this.#left = left;
        }

        get length() {
            return this.#entries.size;
        }

        // What the first in line wants; undefined: there is nobody.
        get first() {
            for (const entry of this.#entries)
                return entry.wish;
            return undefined;
        }

        // Goes through at once if take() has taken what it is about, else waits until it is let through. On a fiber it returns
        // undefined, elsewhere a promise of that. Surely: also on a fiber that is cancelled.
        enter(take, wish, options, surely = false) {
            const limit = timeLimit(options);
            return abortable(options?.signal, () => {
                if (take())
                    return atOnce();
                return this.#wait(wish, limit, surely);
            });
        }

        #wait(wish, limit, surely) {
            const entry = { wish, gate: host.gateNew() };
            const failed = (error) => {
                if (!this.#entries.delete(entry))
                    return;
                this.#left();
                throw error;
            };
            const kind = typeof this.#kind === 'function' ? this.#kind(wish) : this.#kind;
            this.#entries.add(entry);
            try {
                const result = host.gateWait(entry.gate, limit, kind, surely);
                return result instanceof Promise ? result.catch(failed) : undefined;
            } catch (error) {
                return failed(error);
            }
        }

        // Lets the first one through.
        next() {
            for (const entry of this.#entries) {
                this.#entries.delete(entry);
                host.gateOpen(entry.gate);
                return;
            }
        }
    }

    // Calls fn once a place was had, which is done or a promise; waits for what it returns, and gives the place back. Who has not had it
    // gives nothing back.
    function running(entered, fn, leave) {
        if (entered instanceof Promise)
            return entered.then(async () => {
                try {
                    return await fn();
                } finally {
                    leave();
                }
            });
        try {
            const result = fn();
            return result instanceof Promise ? need('fiber').wait(result) : result;
        } finally {
            leave();
        }
    }

    return { Line, kinds, running };
})
