// SPDX-License-Identifier: MIT
// js/lib/net.js - weft:net: connections, listeners and pipes. On a fiber, what waits returns its result; elsewhere a promise.
// host: netConnect(name, port, milliseconds, local), netListen(address, backlog, shares, only6), netAccept(stream, milliseconds),
//       netRemovePath(path), netPipe(is a pair), resolve(name, family, servers, milliseconds)
(function (host, need) {
    'use strict';
    const { within, mapped, drive } = need('abortable');
    const { Socket, Connection, connectionOf, handleOf, given, iterated } = need('connection');
    const addresses = need('net_address');
    const unknown = { __proto__: null, ENOENT: 'ENOTFOUND', EAGAIN: 'EAI_AGAIN' }; // of names
    const isClosed = (error) => error?.code === 'ERR_CLOSED';

    // ---- Connecting ----

    // The error with what was tried; a name that nobody knows is no file that is missing.
    function told(error, where) {
        const isName = where.path === undefined;
        const code = (isName && unknown[error?.code]) || error?.code;
        if (!(error instanceof Error) || typeof code !== 'string' || error.syscall !== 'connect')
            return error;
        const place = isName ? addresses.format(where.host, where.port) : where.path;
        error.message = `connect ${code} ${place}`;
        return Object.assign(error, { code, address: isName ? where.host : where.path }, isName ? { port: where.port } : {});
    }

    // { host, port }, { path }, 'host:port', 'unix:path' or a port of this machine
    function connect(address, options = undefined) {
        const where = addresses.target(address);
        const { localAddress, localPort = 0 } = options ?? {};
        const local = localAddress === undefined ? undefined : addresses.format(localAddress, localPort);
        if (where.path === undefined)
            where.host ||= 'localhost';
        const name = where.path === undefined ? where.host : `unix:${where.path}`;
        return mapped(() => within(options, (limit) => host.netConnect(name, where.port ?? 0, limit, local)),
            (handle) => connectionOf(handle, options), (error) => told(error, where));
    }

    // ---- Listening ----

    // Of a connection's handler: the other side has gone, or it was closed meanwhile, and that is no news.
    const isGone = (error) => isClosed(error) || error?.code === 'ECONNRESET' || error?.code === 'EPIPE';

    class Listener extends Socket {
        #options;

        constructor(secret, handle, options) {
            super(secret, handle);
            this.#options = options;
            void this.address; // it is known when it is closed, too
        }

        // As others do, and the file of its path goes, too.
        close() {
            const { path } = this.address ?? {};
            if (path !== undefined && !this.closed)
                host.netRemovePath(path);
            return super.close();
        }

        accept(options) {
            return mapped(() => within(options, (limit) => host.netAccept(handleOf(this), limit)),
                (handle) => connectionOf(handle, this.#options));
        }

        #next() {
            const listener = this;
            return drive((function* () {
                try {
                    return yield listener.accept();
                } catch (error) {
                    if (isClosed(error))
                        return null;
                    throw error;
                }
            })());
        }

        [Symbol.iterator]() {
            return iterated(() => this.#next())[Symbol.iterator]();
        }

        [Symbol.asyncIterator]() {
            return iterated(() => this.#next())[Symbol.asyncIterator]();
        }

        // handler(connection) on a fiber for each connection, which is closed behind it. Ends when the listener is closed and
        // the handlers have ended; when the signal aborts, connections are closed, too.
        serve(handler, options = {}) {
            if (typeof handler !== 'function')
                throw new TypeError('serve needs a function');
            return drive(this.#serving(handler, options));
        }

        * #serving(handler, { signal, limit, onError = report }) {
            const { Channel, go, wait } = need('go');
            const room = limit === undefined ? undefined : new Channel(limit);
            const open = new Map(); // connection -> the promise of its handler
            const stop = () => {
                this.close();
                for (const connection of open.keys())
                    connection.close();
            };
            signal?.addEventListener('abort', stop);
            if (signal?.aborted)
                stop();
            try {
                for (;;) {
                    if (room)
                        yield room.send(true);
                    const connection = yield this.#next();
                    if (connection === null)
                        break;
                    open.set(connection, go(() => drive((function* () {
                        try {
                            yield wait(handler(connection));
                        } catch (error) {
                            if (!isGone(error))
                                onError(error, connection);
                        } finally {
                            connection.close();
                            open.delete(connection);
                            room?.recv();
                        }
                    })())));
                }
                yield wait(Promise.all(open.values()));
            } finally {
                signal?.removeEventListener('abort', stop);
            }
        }
    }

    function report(error) {
        need('console').console.error(error);
    }

    // { host, port } (an IP address, 'localhost', or all of them), { path }, 'host:port' or a port
    function listen(address = 0, options = undefined) {
        const settings = { ...(typeof address === 'object' ? address : undefined), ...options };
        const { backlog = 0, reusePort = false, ipv6Only = false } = settings;
        const where = addresses.local(address);
        try {
            return new Listener(given, host.netListen(where, backlog, reusePort, ipv6Only), settings);
        } catch (error) {
            if (error?.syscall !== 'listen')
                throw error;
            const { path, address: number, port } = addresses.parse(where);
            error.message = `listen ${error.code} ${path ?? addresses.format(number, port)}`;
            throw Object.assign(error, { address: path ?? number }, path === undefined ? { port } : {});
        }
    }

    // ---- Two ends ----

    function pipe() {
        const [reader, writer] = host.netPipe(false);
        return { reader: connectionOf(reader), writer: connectionOf(writer) };
    }

    const pair = () => host.netPipe(true).map((handle) => connectionOf(handle));

    // ---- Names ----

    // The addresses of a name, in the order in which they should be tried.
    function resolve(name, options) {
        return mapped(() => within(options, (limit) => host.resolve(String(name), options?.family ?? 0, undefined, limit)),
            (found) => found.map((text) => addresses.parse(text).address), (error) => {
                const code = unknown[error?.code];
                if (code === undefined)
                    return error;
                error.message = `resolve ${code} ${name}`;
                return Object.assign(error, { code, hostname: name });
            });
    }

    const bind = (address, options) => need('datagram').bind(address, options);
    const exported = { connect, listen, bind, pipe, pair, resolve, Connection, Listener };
    return { ...exported, default: exported };
})
