// SPDX-License-Identifier: MIT
// js/lib/datagram.js - datagrams of weft:net: UDP, and those on paths.
// host: datagramOpen(address, shares, broadcasts), datagramConnect(stream, address),
//       datagramSend(stream, bytes, address, milliseconds), datagramReceive(stream, milliseconds)
(function (host, need) {
    'use strict';
    const { resolve } = need('net');
    const { Socket, handleOf, given } = need('connection');
    const { within, mapped, drive } = need('abortable');
    const addresses = need('net_address');

    class Datagrams extends Socket {
        // To { host, port }, { path }, 'host:port', or without an address to whom it is connected with.
        send(data, to, options) {
            const bytes = typeof data === 'string' ? new TextEncoder().encode(data)
                : ArrayBuffer.isView(data) ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
                    : new Uint8Array(data);
            const datagrams = this;
            const where = to === undefined || to === null ? undefined : addresses.target(to);
            return drive((function* () {
                const address = where && (yield* datagrams.#addressOf(where, options));
                return yield within(options, (limit) => host.datagramSend(handleOf(datagrams), bytes, address, limit));
            })());
        }

        * #addressOf({ path, host: name = '127.0.0.1', port }, options) {
            if (path !== undefined)
                return `unix:${path}`;
            if (addresses.family(name))
                return addresses.format(name, port);
            const family = this.address?.family === 'IPv4' ? 4 : 0;
            return addresses.format((yield resolve(name, { ...options, family }))[0], port);
        }

        // { data, address, isCut }
        receive(options) {
            return mapped(() => within(options, (limit) => host.datagramReceive(handleOf(this), limit)),
                ([data, from, isCut]) => ({ data, address: addresses.parse(from), isCut }));
        }

        // Whom it sends to without an address, and the only one that it hears.
        connect(to, options) {
            const datagrams = this;
            const where = addresses.target(to);
            return drive((function* () {
                host.datagramConnect(handleOf(datagrams), yield* datagrams.#addressOf(where, options));
            })());
        }

        async * [Symbol.asyncIterator]() {
            try {
                for (;;)
                    yield await this.receive();
            } catch (error) {
                if (error?.code !== 'ERR_CLOSED')
                    throw error;
            }
        }

        * [Symbol.iterator]() {
            try {
                for (;;)
                    yield this.receive();
            } catch (error) {
                if (error?.code !== 'ERR_CLOSED')
                    throw error;
            }
        }
    }

    function bind(address = 0, options = undefined) {
        const { reusePort = false, broadcast = false } = { ...(typeof address === 'object' ? address : undefined), ...options };
        return new Datagrams(given, host.datagramOpen(addresses.local(address), reusePort, broadcast));
    }

    return { bind, Datagrams };
})
