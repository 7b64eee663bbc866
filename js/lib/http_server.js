// SPDX-License-Identifier: MIT
// js/lib/http_server.js - Server of node:http and weft:http: listening, requests, the end.
// host: httpServe(address, numbers, handler, on refused, patterns, has a handler for the rest), httpStop(server, callback),
//       httpDrop(server, idle only), httpKeep(server, keeps), httpConnections(server), httpTake(exchange, callback), httpEnd(exchange),
//       go(fn), nextTick(fn)
(function (host, need) {
    'use strict';
    const { EventEmitter } = need('events');
    const { nodeError, validateObject, validateNumber } = need('node_error');
    const { withCode } = need('errors');
    const { IncomingMessage } = need('http_incoming');
    const { ServerResponse } = need('http_response');
    const { STATUS_CODES } = need('http_common');
    const UNLIMITED = -1;

    function Server(options, listener) {
        if (!(this instanceof Server))
            return new Server(options, listener);
        if (typeof options === 'function')
            [options, listener] = [{}, options];
        else if (options === undefined || options === null)
            options = {};
        else
            validateObject(options, 'options');
        EventEmitter.call(this, options);
        setOptions(this, options);
        this._handle = undefined;
        this._address = null;
        this._waits = options.fibers ?? false; // handlers are fibers
        this._Incoming = options.IncomingMessage ?? IncomingMessage;
        this._Response = options.ServerResponse ?? ServerResponse;
        this.listening = false;
        if (listener)
            this.on('request', listener);
        return undefined;
    }
    Object.setPrototypeOf(Server.prototype, EventEmitter.prototype);
    Object.setPrototypeOf(Server, EventEmitter);

    // Times in milliseconds, as Node has them; 0: without a limit.
    const limits = { requestTimeout: 300000, headersTimeout: 60000, keepAliveTimeout: 5000, maxRequestsPerSocket: 0, timeout: 0 };

    function setOptions(server, options) {
        for (const name of Object.keys(limits)) {
            const value = options[name];
            if (value !== undefined)
                validateNumber(value, name, 0);
            server[name] = value ?? limits[name];
        }
        for (const name of ['maxHeaderSize', 'maxConnections', 'maxBody'])
            if (options[name] !== undefined) {
                validateNumber(options[name], name, 0);
                server[name] = options[name];
            }
        server.gzip = options.gzip ?? 0;
        server.maxHeadersCount = null;
    }

    const DAY = 24 * 3600 * 1000;
    const orNever = (milliseconds) => milliseconds || DAY;

    // As the host wants them.
    function numbersOf(server, backlog) {
        return [server.maxHeaderSize ?? 0, server.maxBody ?? UNLIMITED, server.maxConnections ?? 0, server.maxRequestsPerSocket,
            orNever(server.keepAliveTimeout), orNever(server.headersTimeout),
            orNever(Math.min(orNever(server.requestTimeout), server.timeout || DAY)), Number(server.gzip), backlog];
    }

    // listen(port, host, backlog, callback), listen({ port, host, path, backlog }), listen(path)
    function placeOf(values) {
        const [first] = values;
        if (typeof first === 'object' && first !== null)
            return first;
        if (typeof first === 'string' && !/^\d+$/.test(first))
            return { path: first, backlog: values.find((value, i) => i > 0 && typeof value === 'number') };
        return {
            port: first ?? 0, host: values.slice(1).find((value) => typeof value === 'string'),
            backlog: values.find((value, i) => i > 0 && typeof value === 'number'),
        };
    }

    function checkPort(port) {
        const number = Number(port);
        if (port === '' || !Number.isInteger(number) || number < 0 || number > 65535)
            throw nodeError(RangeError, 'ERR_SOCKET_BAD_PORT',
                `options.port should be >= 0 and < 65536.${need('node_error').received(port)}.`);
        return number;
    }

    function addressText({ path, host: name, port }) {
        if (path !== undefined)
            return `unix:${path}`;
        const where = name === undefined || name === '' ? '*' : name === 'localhost' ? '127.0.0.1' : name;
        return `${where.includes(':') ? `[${where}]` : where}:${port}`;
    }

    // What went wrong, in the words of Node.
    function listenError(error, place) {
        const where = place.path ?? `${place.host ?? '::'}:${place.port}`;
        error.message = `listen ${error.code}: ${describe(error.code)} ${where}`;
        return Object.assign(error, place.path === undefined ? { address: place.host ?? '::', port: place.port } : { address: place.path });
    }

    const texts = {
        EADDRINUSE: 'address already in use', EACCES: 'permission denied', EADDRNOTAVAIL: 'address not available',
    };
    const describe = (code) => texts[code] ?? 'listening failed';

    const methods = {
        listen(...values) {
            const callback = typeof values.at(-1) === 'function' ? values.pop() : undefined;
            const { path, host: name, port = 0, backlog, signal } = placeOf(values);
            if (this.listening)
                throw nodeError(Error, 'ERR_SERVER_ALREADY_LISTEN', 'Listen method has been called more than once without closing.');
            const place = path === undefined ? { host: name, port: checkPort(port) } : { path };
            if (callback)
                this.once('listening', callback);
            try {
                const onRefused = this.listenerCount('clientError') > 0 ? (status, peer) => this._refused(status, peer) : undefined;
                const [handle, address] = host.httpServe(addressText(place), numbersOf(this, backlog ?? 0),
                    (exchange, route) => this._serve(exchange, route), onRefused, this._patterns ?? [], this._hasRest ?? true);
                this._handle = handle;
                this._address = address;
                this.listening = true;
                host.nextTick(() => this._handle === handle && this.emit('listening'));
            } catch (error) {
                if (error?.code === undefined)
                    throw error;
                host.nextTick(() => this.emit('error', listenError(error, place)));
            }
            if (signal)
                need('stream_finished').onAbort(signal, () => this.close());
            return this;
        },
        address() {
            if (this._address === null)
                return null;
            const { path, ...where } = need('net_address').parse(this._address);
            return path ?? where;
        },
        close(callback) {
            const wasOpen = this.listening;
            if (typeof callback === 'function')
                this.once('close', wasOpen ? callback : () => callback(
                    nodeError(Error, 'ERR_SERVER_NOT_RUNNING', 'Server is not running.')));
            if (wasOpen) {
                this.listening = false;
                host.httpStop(this._handle, () => {
                    this._handle = undefined;
                    this._address = null;
                    this.emit('close');
                });
            } else if (this._handle === undefined) {
                host.nextTick(() => this.emit('close'));
            }
            return this;
        },
        closeIdleConnections() {
            host.httpDrop(this._handle, true);
        },
        closeAllConnections() {
            host.httpDrop(this._handle, false);
        },
        getConnections(callback) {
            const count = host.httpConnections(this._handle);
            host.nextTick(() => callback(null, count));
            return this;
        },
        setTimeout(milliseconds, callback) {
            this.timeout = milliseconds;
            if (callback)
                this.on('timeout', callback);
            return this;
        },
        ref() {
            host.httpKeep(this._handle, true);
            return this;
        },
        unref() {
            host.httpKeep(this._handle, false);
            return this;
        },
        async [Symbol.asyncDispose]() {
            await new Promise((resolve, reject) => {
                this.close((error) => (error ? reject(error) : resolve()));
            });
        },
        [Symbol.for('nodejs.rejection')](error, event, request, response) {
            if (event === 'request')
                fail(response);
            else
                this.emit('error', error);
        },

        // ---- Requests ----

        _serve(exchange) {
            const request = new this._Incoming();
            request._exchange = exchange;
            request._server = this;
            const response = new this._Response(request);
            const { request: listener, upgrade, checkContinue } = this._events;
            if (upgrade !== undefined && /(?:^|\W)upgrade(?:$|\W)/i.test(request.headers.connection))
                this._upgrade(exchange, request);
            else if (checkContinue !== undefined && /^100-continue$/i.test(request.headers.expect))
                this.emit('checkContinue', request, response);
            else if (this._waits)
                host.go(() => this._answer(request, response));
            else if (typeof listener === 'function' && !this[CAPTURES])
                listener.call(this, request, response);
            else
                this.emit('request', request, response);
        },
        // On a fiber: a handler that throws costs its own request.
        _answer(request, response) {
            try {
                this.emit('request', request, response);
            } catch (error) {
                fail(response);
                if (this.listenerCount('requestError') > 0)
                    this.emit('requestError', error, request);
                else
                    need('console').console.error(error);
            }
        },
        // The connection is the listeners' from now on; so is what is said on it.
        _upgrade(exchange, request) {
            host.httpTake(exchange, (error, taken) => {
                host.httpEnd(exchange);
                if (error)
                    return;
                const [handle, early] = taken;
                const { Socket } = need('socket'), { Wire } = need('wire');
                const socket = new Socket({ handle: new Wire(handle), allowHalfOpen: true, manualStart: true });
                request.socket = socket;
                this.emit('upgrade', request, socket, need('buffer').Buffer.from(early));
            });
        },
        // The server has answered it already.
        _refused(status, peer) {
            const isSlow = status === 408, isLong = status === 431;
            const error = isSlow ? nodeError(Error, 'ERR_HTTP_REQUEST_TIMEOUT', 'Request timeout')
                : withCode(new Error(isLong ? 'Parse Error: Header overflow' : 'Parse Error'),
                    isLong ? 'HPE_HEADER_OVERFLOW' : 'HPE_INVALID_CONSTANT');
            const socket = new EventEmitter();
            Object.assign(socket, {
                writable: false, readable: false, destroyed: true, remoteAddress: need('net_address').parse(peer)?.address,
                write: () => false, end: () => socket, destroy: () => socket,
            });
            this.emit('clientError', error, socket);
        },
    };
    for (const name of Reflect.ownKeys(methods))
        Server.prototype[name] = methods[name];
    const CAPTURES = Object.getOwnPropertySymbols(EventEmitter.prototype).find((symbol) => symbol.description === 'kCapture');

    // A handler has failed: if nothing has been said, this is.
    function fail(response) {
        if (response.headersSent || response.writableEnded) {
            response.destroy();
            return;
        }
        for (const name of response.getHeaderNames())
            response.removeHeader(name);
        response.statusCode = 500;
        response.end(STATUS_CODES[500]);
    }

    const createServer = (options, listener) => new Server(options, listener);

    return { Server, createServer, fail };
})
