// SPDX-License-Identifier: MIT
// js/lib/channel.js - channels between the fibers of an instance.
// host: channelNew(capacity), channelSend(channel, value, milliseconds), channelReceive(channel, milliseconds), channelClose(channel),
//       channelInfo(channel) -> [length, capacity, is closed]
(function (host, need) {
    'use strict';
    const { within } = need('abortable');
    const { asCase, kinds } = need('select_case');

    class Channel {
        #channel;

        constructor(capacity = 0) {
            if (!Number.isInteger(capacity) || capacity < 0)
                throw new RangeError('The capacity of a channel is a whole number, 0 or more');
            this.#channel = host.channelNew(capacity);
        }

        // Waits until somebody takes it, or there is room.
        send(value, options) {
            return within(options, (limit) => host.channelSend(this.#channel, value, limit));
        }

        // The next value; undefined once it is closed and empty.
        recv(options) {
            return within(options, (limit) => host.channelReceive(this.#channel, limit));
        }

        [asCase](key) {
            if (key === 'recv')
                return [kinds.receive, this.#channel];
            return key === 'send' ? [kinds.send, this.#channel] : undefined;
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

    // A channel with [true, value] or [false, error], as soon as the promise has one of them.
    function settlement(promise) {
        const settled = new Channel(1);
        Promise.resolve(promise).then((value) => settled.send([true, value]), (error) => settled.send([false, error]));
        return settled;
    }

    return { Channel, settlement };
})
