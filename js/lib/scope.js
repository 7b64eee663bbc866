// SPDX-License-Identifier: MIT
// js/lib/scope.js - scopes: blocks that do not end before what they have started.
// host: isFiber(), scopeOpen() -> handle, scopeCancel(handle), scopeClose(handle)
(function (host, need) {
    'use strict';
    const { go, isFiber, wait, waitSurely } = need('fiber');
    const { timeLimit } = need('abortable');

    // children.go(fn, ...arguments) starts a fiber in it. The first failure cancels the others, and the waits of the body if that
    // is on a fiber, and is the block's; so do an error of the body, the limit of time and the signal.
    class Scope {
        #controller = new AbortController();
        #children = new Set();
        #failure;
        #room; // a semaphore, if there is a limit to how many run at the same time
        #body; // by which the waits of the body are cancelled
        #end = []; // what is to be undone

        constructor({ timeout, signal, max } = {}) {
            if (max !== undefined)
                this.#room = new (need('counts').Semaphore)(checkMax(max));
            if (timeout !== undefined)
                this.#watchTime(timeLimit({ timeout }));
            if (signal !== undefined)
                this.#watchSignal(signal);
        }

        #watchTime(limit) {
            const timer = setTimeout(() => this.#fail(new DOMException('The operation was aborted due to timeout', 'TimeoutError')), limit);
            this.#end.push(() => clearTimeout(timer));
        }

        #watchSignal(signal) {
            const { isAbortSignal, addAlgorithm, removeAlgorithm } = need('abort');
            if (!isAbortSignal(signal))
                throw new TypeError('The signal must be an AbortSignal');
            const fail = () => this.#fail(signal.reason);
            if (signal.aborted)
                fail();
            addAlgorithm(signal, fail);
            this.#end.push(() => removeAlgorithm(signal, fail));
        }

        get signal() {
            return this.#controller.signal;
        }

        // With a limit to how many run at the same time it waits until there is room, on a fiber; elsewhere the child begins later.
        go(fn, ...values) {
            if (!this.#room)
                return this.#add(go.with({ signal: this.signal }, fn, ...values));
            const start = () => this.#start(fn, values);
            const acquired = this.#room.acquire(1, { signal: this.signal });
            return this.#add(acquired instanceof Promise ? acquired.then(start) : start());
        }

        // It has a place, which it gives back, also when there is nothing to start.
        #start(fn, values) {
            try {
                return go.with({ signal: this.signal }, fn, ...values).finally(() => this.#room.release());
            } catch (error) {
                this.#room.release();
                throw error;
            }
        }

        #add(child) {
            this.#children.add(child);
            child.catch((error) => this.#fail(error)).finally(() => this.#children.delete(child));
            return child;
        }

        // Ends what runs in it. That is no failure.
        cancel(reason) {
            this.#controller.abort(reason);
            host.scopeCancel(this.#body);
        }

        #fail(error) {
            const isOurs = this.signal.aborted && (error === this.signal.reason || error?.code === 'ECANCELED');
            if (this.#failure || isOurs)
                return;
            this.#failure = { error };
            this.cancel(error);
        }

        async #join() {
            while (this.#children.size > 0)
                await Promise.allSettled(this.#children);
        }

        #close() {
            for (const undo of this.#end)
                undo();
            if (this.#failure)
                throw this.#failure.error;
        }

        run(body) {
            let result;
            this.#body = host.scopeOpen();
            try {
                if (this.#failure)
                    throw this.#failure.error;
                result = body(this);
            } catch (error) {
                this.#fail(error);
            } finally {
                host.scopeClose(this.#body);
            }
            this.#joinHere();
            this.#close();
            return result;
        }

        // Whoever waits for the children may be cancelled itself: then so are they, and they are waited for all the same.
        #joinHere() {
            try {
                wait(this.#join());
            } catch (error) {
                this.#fail(error);
                waitSurely(this.#join());
            }
        }

        async runLater(body) {
            let result;
            try {
                if (this.#failure)
                    throw this.#failure.error;
                result = await body(this);
            } catch (error) {
                this.#fail(error);
            }
            await this.#join();
            this.#close();
            return result;
        }
    }

    function checkMax(max) {
        if (!Number.isInteger(max) || max < 1)
            throw new RangeError('max is a whole number, 1 or more');
        return max;
    }

    function scope(body, options) {
        if (typeof body !== 'function')
            throw new TypeError('scope needs a function');
        const made = new Scope(options);
        return isFiber() ? made.run(body) : made.runLater(body);
    }

    return { scope };
})
