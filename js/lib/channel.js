// SPDX-License-Identifier: MIT
// js/lib/channel.js - channels between the fibers of an instance, or of several.
// host: channelNew(capacity, is shared), channelSend(channel, value, milliseconds, transfers),
//       channelReceive(channel, milliseconds), channelClose(channel), channelInfo(channel) -> [length, capacity, is closed, is shared]
(function (host, need) {
    'use strict';
    const { within, UNLIMITED } = need('abortable');
    const { asCase, kinds } = need('select_case');

    // What goes to another instance with a value, and is gone here.
    function transfersOf(options) {
        const list = options?.transfer;
        if (list === undefined)
            return undefined;
        const { toTransferList, checkTransfers } = need('clone');
        return checkTransfers(toTransferList({ transfer: list }));
    }

    function newHandle(capacity, isShared) {
        if (!Number.isInteger(capacity) || capacity < 0)
            throw new RangeError('The capacity of a channel is a whole number, 0 or more');
        return host.channelNew(capacity, isShared);
    }

    let sharedHandle;

    class Channel {
        #channel;

        // The library gives a handle instead of a capacity.
        constructor(capacity = 0) {
            const isHandle = typeof capacity === 'object' && capacity !== null && host.channelInfo(capacity) !== undefined;
            this.#channel = isHandle ? capacity : newHandle(capacity, false);
        }

        static {
            // Of a channel that can be part of a message; null: it cannot; undefined: it is none.
            sharedHandle = (value) => {
                if (typeof value !== 'object' || value === null || !(#channel in value))
                    return undefined;
                return host.channelInfo(value.#channel)[3] ? value.#channel : null;
            };
        }

        // Waits until somebody takes it, or there is room.
        send(value, options) {
            if (options === undefined)
                return host.channelSend(this.#channel, value, UNLIMITED);
            const list = transfersOf(options);
            return within(options, (limit) => host.channelSend(this.#channel, value, limit, list));
        }

        // The next value; undefined once it is closed and empty.
        recv(options) {
            if (options === undefined)
                return host.channelReceive(this.#channel, UNLIMITED);
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

    // What comes of a value of such a channel.
    function settled([isGood, value]) {
        if (isGood)
            return value;
        throw value;
    }

    // One that other instances can have, too.
    const sharedChannel = (capacity = 0) => new Channel(newHandle(capacity, true));

    return { Channel, settlement, settled, sharedChannel, sharedHandle: (value) => sharedHandle(value) };
})
