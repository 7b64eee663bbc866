// SPDX-License-Identifier: MIT
// js/lib/go.js - weft:go: functions on fibers of their own, and what they meet at.
// host: go(fn, ...arguments), goStart(fn, ...arguments), goCancel(handle), sleep(milliseconds), isFiber(), channelNew(capacity),
//       channelSend(channel, value, milliseconds), channelReceive(channel, milliseconds), channelClose(channel), channelInfo(channel),
//       select([kind, channel or milliseconds, value if it is to be sent, ...], milliseconds) -> [index, value, is closed]
//
// On a fiber, calls that wait return what they waited for; elsewhere they return a promise of it. So `await` is never wrong.
(function (host, need) {
    'use strict';
    const { abortable } = need('abortable');
    const sleep = (milliseconds, options) => abortable(options?.signal, () => host.sleep(milliseconds));
    const isFiber = () => host.isFiber();
    const go = (fn, ...values) => host.go(fn, ...values);

    // As go, and cancelled with the signal: then whatever it waits for, now or later, is an error.
    go.with = (options, fn, ...values) => {
        const { signal } = options;
        if (signal === undefined)
            return host.go(fn, ...values);
        if (signal.aborted)
            return Promise.reject(signal.reason);
        const { addAlgorithm, removeAlgorithm } = need('abort');
        const [promise, handle] = host.goStart(fn, ...values);
        const cancel = () => host.goCancel(handle);
        addAlgorithm(signal, cancel);
        return promise.finally(() => removeAlgorithm(signal, cancel)).catch((error) => {
            throw signal.aborted && error?.code === 'ECANCELED' ? signal.reason : error;
        });
    };

    // What a promise becomes: on a fiber it is waited for, elsewhere it is the promise itself.
    function wait(promise) {
        if (!isFiber())
            return Promise.resolve(promise);
        const [isGood, value] = settlement(promise).recv();
        if (isGood)
            return value;
        throw value;
    }

    function timeLimit(options) {
        const limit = options?.timeout;
        if (limit === undefined)
            return -1;
        if (!(limit >= 0))
            throw new RangeError('timeout must be a number of milliseconds');
        return limit;
    }

    let handleOf;

    class Channel {
        #channel;

        constructor(capacity = 0) {
            if (!Number.isInteger(capacity) || capacity < 0)
                throw new RangeError('The capacity of a channel is a whole number, 0 or more');
            this.#channel = host.channelNew(capacity);
        }

        // Waits until somebody takes it, or there is room.
        send(value, options) {
            const limit = timeLimit(options);
            return abortable(options?.signal, () => host.channelSend(this.#channel, value, limit));
        }

        // The next value; undefined once it is closed and empty.
        recv(options) {
            const limit = timeLimit(options);
            return abortable(options?.signal, () => host.channelReceive(this.#channel, limit));
        }

        static {
            handleOf = (channel) => {
                if (typeof channel !== 'object' || channel === null || !(#channel in channel))
                    throw new TypeError('A case of select needs a channel');
                return channel.#channel;
            };
        }

        close() {
            return host.channelClose(this.#channel);
        }

        get length() {
            return host.channelInfo(this.#channel)[0];
        }

        get capacity() {
            return host.channelInfo(this.#channel)[1];
        }

        get closed() {
            return host.channelInfo(this.#channel)[2];
        }

        * [Symbol.iterator]() {
            for (let value; (value = this.recv()) !== undefined;)
                yield value;
        }

        async * [Symbol.asyncIterator]() {
            for (let value; (value = await this.recv()) !== undefined;)
                yield value;
        }
    }

    const chan = (capacity) => new Channel(capacity);

    // Whichever comes first, and only that: {recv: channel}, {send: channel, value}, {after: milliseconds}, {promise}. The result
    // has the case's index, its value, and whether the channel was closed; with a limit of time, index -1 when nothing came.
    function select(cases, options) {
        const flat = [];
        for (const one of cases) {
            if (one.recv !== undefined)
                flat.push(0, handleOf(one.recv));
            else if (one.send !== undefined)
                flat.push(1, handleOf(one.send), one.value);
            else if (one.after !== undefined)
                flat.push(2, Math.max(0, Number(one.after) || 0));
            else if (one.promise !== undefined)
                flat.push(0, handleOf(settlement(one.promise)));
            else
                throw new TypeError('A case of select has recv, send, after or promise');
        }
        const list = [...cases];
        const limit = timeLimit(options);
        const answer = (index, value, closed) => {
            if (index < 0 || list[index].promise === undefined)
                return { index, value, closed };
            if (!value[0])
                throw value[1];
            return { index, value: value[1], closed: false };
        };
        const result = abortable(options?.signal, () => host.select(flat, limit));
        return result instanceof Promise ? result.then((parts) => answer(...parts)) : answer(...result);
    }

    // A channel with [true, value] or [false, error], as soon as the promise has one of them.
    function settlement(promise) {
        const settled = new Channel(1);
        Promise.resolve(promise).then((value) => settled.send([true, value]), (error) => settled.send([false, error]));
        return settled;
    }

    // One at a time. run(fn) holds it while fn runs, whatever it waits for meanwhile.
    class Mutex {
        #turn = new Channel(1);

        lock(options) {
            return this.#turn.send(true, options);
        }

        unlock() {
            if (this.#turn.length === 0)
                throw new Error('The mutex is not locked');
            return this.#turn.recv();
        }

        run(fn) {
            const locked = this.lock();
            if (isFiber()) {
                try {
                    return fn();
                } finally {
                    this.unlock();
                }
            }
            return locked.then(fn).finally(() => this.unlock());
        }
    }

    // A block that does not end before what it has started: children.go(fn, ...arguments). The first failure cancels the
    // others and is the block's; so does an error of the body.
    class Scope {
        #controller = new AbortController();
        #children = new Set();
        #failure;

        get signal() {
            return this.#controller.signal;
        }

        go(fn, ...values) {
            const child = go.with({ signal: this.signal }, fn, ...values);
            this.#children.add(child);
            child.catch((error) => this.#fail(error)).finally(() => this.#children.delete(child));
            return child;
        }

        cancel(reason) {
            this.#controller.abort(reason);
        }

        #fail(error) {
            if (!this.#failure && !this.signal.aborted) {
                this.#failure = { error };
                this.cancel(error);
            }
        }

        async #end() {
            while (this.#children.size > 0)
                await Promise.allSettled(this.#children);
            if (this.#failure)
                throw this.#failure.error;
        }

        static run(body) {
            const scope = new Scope();
            if (!isFiber())
                return Scope.#runLater(scope, body);
            let result;
            try {
                result = body(scope);
            } catch (error) {
                scope.#fail(error);
            }
            wait(scope.#end());
            return result;
        }

        static async #runLater(scope, body) {
            let result;
            try {
                result = await body(scope);
            } catch (error) {
                scope.#fail(error);
            }
            await scope.#end();
            return result;
        }
    }

    const scope = (body) => Scope.run(body);

    const exported = { go, sleep, wait, select, scope, isFiber, chan, Channel, Mutex };
    return { ...exported, default: exported };
})
