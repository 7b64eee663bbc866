// SPDX-License-Identifier: MIT
// js/lib/socket_server.js - net.Server of Node.
// host: netListen(address, backlog, shares, only6), netAccept(stream, milliseconds), netAddress(stream, of the other side),
//       netRemovePath(path), netAdopt(descriptor, stays), nextTick(fn)
(function (host, need) {
    'use strict';
    const { EventEmitter } = need('events');
    const { Wire } = need('wire');
    const { Socket } = need('socket');
    const { normalize, validatePort } = need('socket_connect');
    const { nodeError, invalidArgType, validateAbortSignal, validateFunction } = need('node_error');
    const { errnoException, uvWithHostPort } = need('system_error');
    const addresses = need('net_address');
    const ENOENT = -2, EACCES = -13, EINVAL = -22;

    function Server(options, listener) {
        if (!(this instanceof Server))
            return new Server(options, listener);
        EventEmitter.call(this);
        if (typeof options === 'function')
            [options, listener] = [{}, options];
        else if (options !== undefined && options !== null && typeof options !== 'object')
            throw invalidArgType('options', 'Object', options);
        options ??= {};
        if (typeof listener === 'function')
            this.on('connection', listener);
        this._connections = 0;
        this._handle = null;
        this._unref = false;
        this._listeningId = 1;
        this.allowHalfOpen = options.allowHalfOpen ?? false;
        this.pauseOnConnect = !!options.pauseOnConnect;
        this.noDelay = Boolean(options.noDelay);
        this.keepAlive = Boolean(options.keepAlive);
        this.highWaterMark = options.highWaterMark;
        return undefined;
    }
    Object.setPrototypeOf(Server.prototype, EventEmitter.prototype);
    Object.setPrototypeOf(Server, EventEmitter);

    // ---- Listening ----

    // Where: { path }, { fd } or { port, host }; host may be undefined: all addresses.
    function open(server, where, { backlog = 511, exclusive, ipv6Only = false, reusePort = false }) {
        const text = where.path !== undefined ? `unix:${where.path}`
            : where.host === undefined ? `*:${where.port}` : addresses.format(where.host, where.port);
        void exclusive; // there is no cluster to share it with
        try {
            server._handle = new Wire(where.fd === undefined ? host.netListen(text, backlog, reusePort, ipv6Only)
                : host.netAdopt(where.fd, false));
        } catch (error) {
            const isPath = where.path !== undefined;
            const number = isPath && error.errno === ENOENT ? EACCES : error.errno ?? EINVAL; // as libuv has it
            const made = uvWithHostPort(number, 'listen', where.path ?? where.host ?? '::', isPath ? -1 : where.port);
            host.nextTick(() => server.emit('error', made));
            return;
        }
        server._address = where.path === undefined
            ? addresses.parse(host.netAddress(server._handle.stream, false)) ?? null : where.path;
        if (server._unref)
            server._handle.unref();
        acceptOn(server, server._handle);
        host.nextTick(() => {
            if (server._handle)
                server.emit('listening');
        });
    }

    function lookUp(server, name, port, options) {
        need('dns').lookup(name, (error, address) => {
            if (error)
                server.emit('error', error);
            else
                open(server, { port, host: address }, options);
        });
    }

    function acceptOn(server, wire) {
        if (wire.stream === null)
            return;
        wire.start(() => host.netAccept(wire.stream, -1), (error, stream) => {
            if (error)
                server.emit('error', errnoException(error.errno, 'accept'));
            else
                welcome(server, new Wire(stream));
            acceptOn(server, wire);
        });
    }

    function welcome(server, wire) {
        const isMapped = server._address?.address === '::';
        if (server.maxConnections !== undefined && server.maxConnections !== null
            && server._connections >= server.maxConnections) {
            drop(server, wire);
            return;
        }
        const socket = new Socket({
            handle: wire, allowHalfOpen: server.allowHalfOpen, pauseOnCreate: server.pauseOnConnect, readable: true,
            writable: true, isMapped, highWaterMark: server.highWaterMark,
        });
        if (server.noDelay)
            socket.setNoDelay(true);
        if (server.keepAlive)
            socket.setKeepAlive(true);
        server._connections++;
        socket.server = server;
        socket._server = server;
        server.emit('connection', socket);
    }

    // One too many.
    function drop(server, wire) {
        const near = addresses.parse(host.netAddress(wire.stream, false)) ?? {};
        const far = addresses.parse(host.netAddress(wire.stream, true)) ?? {};
        wire.close();
        server.emit('drop', {
            localAddress: near.address, localPort: near.port, localFamily: near.family,
            remoteAddress: far.address, remotePort: far.port, remoteFamily: far.family,
        });
    }

    function endWith(server, signal) {
        validateAbortSignal(signal, 'options.signal');
        const stop = () => server.close();
        if (signal.aborted)
            host.nextTick(stop);
        else
            signal.addEventListener('abort', stop, { once: true });
    }

    const methods = {
        listen(...args) {
            let [options, callback] = normalize(args);
            if (this._handle)
                throw nodeError(Error, 'ERR_SERVER_ALREADY_LISTEN',
                    'Listen method has been called more than once without closing.');
            if (callback !== null)
                this.once('listening', callback);
            if (args.length === 0 || typeof args[0] === 'function' || (options.port === undefined && 'port' in options)
                || options.port === null)
                options = { ...options, port: 0 };
            const backlog = options.backlog || Number(args.length > 1 && args[1]) || Number(args.length > 2 && args[2])
                || undefined;
            if (options.signal)
                endWith(this, options.signal);
            const given = options;
            options = { ...options, backlog };
            if (typeof options.fd === 'number' && options.fd >= 0) {
                open(this, { fd: options.fd }, options);
            } else if (typeof options.port === 'number' || typeof options.port === 'string') {
                const port = validatePort(options.port, 'options.port');
                if (options.host)
                    lookUp(this, options.host, port, options);
                else
                    open(this, { port }, options);
            } else if (options.path !== undefined && typeof options.path === 'string') {
                open(this, { path: options.path }, options);
            } else {
                throw need('node_error').invalidArgValue('options', given, 'must have the property "port" or "path"');
            }
            return this;
        },
        address() {
            return this._handle ? this._address : null;
        },
        getConnections(callback) {
            validateFunction(callback, 'callback');
            host.nextTick(() => callback(null, this._connections));
            return this;
        },
        close(callback) {
            if (typeof callback === 'function')
                this.once('close', this._handle ? callback
                    : () => callback(nodeError(Error, 'ERR_SERVER_NOT_RUNNING', 'Server is not running.')));
            if (this._handle) {
                if (typeof this._address === 'string')
                    host.netRemovePath(this._address);
                this._handle.close();
                this._handle = null;
            }
            this._emitCloseIfDrained();
            return this;
        },
        _emitCloseIfDrained() {
            if (!this._handle && !this._connections)
                host.nextTick(() => this.emit('close'));
        },
        ref() {
            this._unref = false;
            this._handle?.ref();
            return this;
        },
        unref() {
            this._unref = true;
            this._handle?.unref();
            return this;
        },
        async [Symbol.asyncDispose]() {
            if (this._handle)
                await new Promise((resolve, reject) => this.close((error) => (error ? reject(error) : resolve())));
        },
    };
    Object.assign(Server.prototype, methods);
    Object.defineProperty(Server.prototype, 'listening', {
        configurable: true,
        enumerable: true,
        get() {
            return !!this._handle;
        },
    });

    return { Server };
})
