// SPDX-License-Identifier: MIT
// js/lib/go.js - weft:go: functions on fibers of their own, and what they meet at.
// host: go(fn, ...arguments), sleep(milliseconds), isFiber(), channelNew(capacity),
//       channelSend(channel, value, milliseconds), channelReceive(channel, milliseconds), channelClose(channel), channelInfo(channel)
//
// On a fiber, calls that wait return what they waited for; elsewhere they return a promise of it. So `await` is never wrong.
(function (host) {
    'use strict';
    const { go, sleep } = host;
    const isFiber = () => host.isFiber();

    function timeLimit(options) {
        const limit = options?.timeout;
        if (limit === undefined)
            return -1;
        if (!(limit >= 0))
            throw new RangeError('timeout must be a number of milliseconds');
        return limit;
    }

    class Channel {
        #channel;

        constructor(capacity = 0) {
            if (!Number.isInteger(capacity) || capacity < 0)
                throw new RangeError('The capacity of a channel is a whole number, 0 or more');
            this.#channel = host.channelNew(capacity);
        }

        // Waits until somebody takes it, or there is room.
        send(value, options) {
            return host.channelSend(this.#channel, value, timeLimit(options));
        }

        // The next value; undefined once it is closed and empty.
        recv(options) {
            return host.channelReceive(this.#channel, timeLimit(options));
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

    const exported = { go, sleep, isFiber, chan, Channel, Mutex };
    return { ...exported, default: exported };
})
