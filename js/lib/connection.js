// SPDX-License-Identifier: MIT
// js/lib/connection.js - the connections of weft:net: what is read and written, over sockets and pipes.
// host: netRead(stream, size, milliseconds), netReadFull(stream, size, milliseconds), netReadLine(stream, limit, milliseconds),
//       netReadUntil(stream, delimiter, limit, milliseconds), netWrite(stream, bytes, milliseconds), netShutdown(stream),
//       netClose(stream), netIsClosed(stream), netBuffer(stream, size), netAddress(stream, of the other side),
//       netSet(stream, option, value)
(function (host, need) {
    'use strict';
    const { within, later, drive } = need('abortable');
    const addresses = need('net_address');
    const PIECE = 64 * 1024;
    const NO_DELAY = 0, KEEP_ALIVE = 1, RESET = 2;
    const given = Symbol('handle');

    const bytesOf = (data) => {
        if (typeof data === 'string' || data instanceof Uint8Array)
            return data;
        if (ArrayBuffer.isView(data))
            return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
        if (data instanceof ArrayBuffer)
            return new Uint8Array(data);
        throw new TypeError('Only strings and bytes can be written');
    };

    let handleOf;

    // What connections, listeners and sockets for datagrams have alike.
    class Socket {
        #handle;
        #address;

        constructor(secret, handle) {
            if (secret !== given)
                throw new TypeError('Illegal constructor');
            this.#handle = handle;
        }

        static {
            handleOf = (socket) => socket.#handle;
        }

        get address() {
            return this.#address ??= addresses.parse(host.netAddress(this.#handle, false));
        }

        get port() {
            return this.address?.port;
        }

        get closed() {
            return host.netIsClosed(this.#handle);
        }

        // Whoever waits gets an error with the code ERR_CLOSED.
        close() {
            return host.netClose(this.#handle);
        }

        [Symbol.dispose]() {
            this.close();
        }
    }

    // Values one after another, for both kinds of loops: next() returns null at the end, or an error that ends it too.
    function iterated(next) {
        return {
            * [Symbol.iterator]() {
                for (let value; (value = next()) !== null;)
                    yield value;
            },
            async * [Symbol.asyncIterator]() {
                for (let value; (value = await next()) !== null;)
                    yield value;
            },
        };
    }

    class Connection extends Socket {
        #readable;
        #writable;

        get remoteAddress() {
            return addresses.parse(host.netAddress(handleOf(this), true));
        }

        // What is there, at most size bytes, or what comes next; null at the end.
        read(size = PIECE, options = undefined) {
            if (typeof size === 'object')
                [size, options] = [PIECE, size];
            if (!(size >= 1))
                throw new RangeError('A read wants at least one byte');
            return within(options, (limit) => host.netRead(handleOf(this), size, limit));
        }

        // So many bytes, not fewer; null at the end.
        readFull(size, options) {
            if (!(size >= 0))
                throw new RangeError('A size is a number, 0 or more');
            return within(options, (limit) => host.netReadFull(handleOf(this), size, limit));
        }

        // The next line as text, without its end; null at the end.
        readLine(options) {
            return within(options, (limit) => host.netReadLine(handleOf(this), options?.limit, limit));
        }

        // Bytes up to the delimiter, a text or bytes, and with it; what is left when there is none; null at the end.
        readUntil(delimiter, options) {
            const end = typeof delimiter === 'string' ? new TextEncoder().encode(delimiter) : bytesOf(delimiter);
            return within(options, (limit) => host.netReadUntil(handleOf(this), end, options?.limit, limit));
        }

        // All there is up to the end.
        readAll(options) {
            const most = options?.limit ?? Infinity;
            const connection = this;
            return drive((function* () {
                const pieces = [];
                let size = 0;
                for (let piece; (piece = yield connection.read(PIECE, options)) !== null;) {
                    pieces.push(piece);
                    size += piece.length;
                    if (size > most)
                        throw Object.assign(new Error(`More than ${most} bytes`), { code: 'EMSGSIZE' });
                }
                return joined(pieces, size);
            })());
        }

        // All of it, behind what was written before.
        write(data, options) {
            const bytes = bytesOf(data);
            return within(options, (limit) => host.netWrite(handleOf(this), bytes, limit));
        }

        // Behind what was written: the other side reads the end.
        shutdown() {
            return host.netShutdown(handleOf(this));
        }

        // As close, but the other side sees that it was broken off.
        reset() {
            host.netSet(handleOf(this), RESET, 0);
            return this.close();
        }

        noDelay(isOn = true) {
            return host.netSet(handleOf(this), NO_DELAY, isOn ? 1 : 0);
        }

        // True, false, or the seconds of silence after which the other side is asked.
        keepAlive(seconds = true) {
            return host.netSet(handleOf(this), KEEP_ALIVE, Number(seconds));
        }

        lines(options) {
            return iterated(() => this.readLine(options));
        }

        [Symbol.iterator]() {
            return iterated(() => this.read())[Symbol.iterator]();
        }

        [Symbol.asyncIterator]() {
            return iterated(() => this.read())[Symbol.asyncIterator]();
        }

        // The two directions as streams of the web. What is read there, nobody else reads.
        get readable() {
            return this.#readable ??= new ReadableStream({
                type: 'bytes',
                pull: async (controller) => {
                    const piece = await later(() => host.netRead(handleOf(this), PIECE, -1));
                    if (piece !== null) {
                        controller.enqueue(piece);
                        return;
                    }
                    controller.close();
                    controller.byobRequest?.respond(0);
                },
                cancel: () => this.close(),
            });
        }

        get writable() {
            return this.#writable ??= new WritableStream({
                write: (chunk) => {
                    const bytes = bytesOf(chunk);
                    return later(() => host.netWrite(handleOf(this), bytes, -1));
                },
                close: () => later(() => host.netShutdown(handleOf(this))),
                abort: () => this.reset(),
            });
        }
    }

    function joined(pieces, size) {
        const whole = new Uint8Array(size);
        let at = 0;
        for (const piece of pieces) {
            whole.set(piece, at);
            at += piece.length;
        }
        return whole;
    }

    function connectionOf(handle, options) {
        if (options?.buffer !== undefined)
            host.netBuffer(handle, options.buffer);
        return new Connection(given, handle);
    }

    return { Socket, Connection, connectionOf, handleOf, given, iterated };
})
