// SPDX-License-Identifier: MIT
// js/lib/http_client.js - ClientRequest of node:http: request and get.
// host: fetchOpen(...), fetchWrite(handle, bytes), fetchEnd(handle), fetchRead(handle), fetchTrailers(handle), fetchTake(handle),
//       fetchClose(handle), waitCancel(handle), nextTick(fn)
//
// A request whose body is all there when it ends goes at once. Else the connection is opened with the first chunk, and the rest
// follows chunk by chunk.
(function (host, need) {
    'use strict';
    const { OutgoingMessage, dropLine, destroyedError } = need('http_outgoing');
    const { IncomingMessage } = need('http_incoming');
    const { whenDone } = need('abortable');
    const { nodeError, invalidArgType } = need('node_error');
    const { withCode } = need('errors');
    const transport = need('transport');
    const { badName } = need('http_common');
    const { NONE, BYTES, WRITTEN } = transport;
    const bodiless = new Set(['GET', 'HEAD', 'DELETE', 'OPTIONS', 'TRACE', 'CONNECT']);
    const own = transport.own;

    const hangUp = () => withCode(new Error('socket hang up'), 'ECONNRESET');

    // ---- What a caller means ----

    // request(url, options, callback), request(options, callback)
    function readArguments(values) {
        let [input, options, callback] = values;
        if (typeof input === 'string' || input instanceof URL) {
            input = fromURL(input instanceof URL ? input : new URL(input));
            if (typeof options === 'function')
                [options, callback] = [{}, options];
        } else {
            [input, options, callback] = [{}, input, options];
        }
        return [{ ...input, ...options }, callback];
    }

    function fromURL(url) {
        const options = {
            protocol: url.protocol, hostname: url.hostname.replace(/^\[|\]$/g, ''), path: `${url.pathname}${url.search}`,
        };
        if (url.port !== '')
            options.port = Number(url.port);
        if (url.username || url.password)
            options.auth = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
        return options;
    }

    function agentOf({ agent }) {
        const { Agent, globalAgent } = need('http_agent');
        if (agent === undefined || agent === null)
            return globalAgent;
        if (agent === false)
            return new Agent();
        if (!(agent instanceof Agent))
            throw invalidArgType('options.agent', ['Agent-like Object', 'undefined', 'false'], agent);
        return agent;
    }

    function checkOptions(options) {
        const { method, path, host: given, hostname, protocol = 'http:' } = options;
        for (const [name, value] of [['hostname', hostname], ['host', given]])
            if (value !== undefined && value !== null && typeof value !== 'string')
                throw invalidArgType(`options.${name}`, ['string', 'undefined', 'null'], value);
        if (protocol !== 'http:')
            throw nodeError(TypeError, 'ERR_INVALID_PROTOCOL', `Protocol "${protocol}" not supported. Expected "http:"`);
        if (path !== undefined && path !== null && /[^\u0021-\u00ff]/.test(String(path)))
            throw nodeError(TypeError, 'ERR_UNESCAPED_CHARACTERS', 'Request path contains unescaped characters');
        if (method !== undefined && method !== null && typeof method !== 'string')
            throw invalidArgType('options.method', 'string', method);
        if (method && !/^[\w!#$%&'*+.^`|~-]+$/.test(method))
            throw badName(method, 'Method');
        if (options.socketPath)
            throw nodeError(Error, 'ERR_FEATURE_UNAVAILABLE_ON_PLATFORM', 'Requests over sockets of files are not there');
    }

    // ---- The request ----

    function ClientRequest(...values) {
        const [options, callback] = readArguments(values);
        OutgoingMessage.call(this);
        checkOptions(options);
        this.agent = agentOf(options);
        this.method = (options.method ?? 'GET').toUpperCase();
        this.path = options.path || '/';
        this.protocol = 'http:';
        this.host = options.hostname || options.host || 'localhost';
        this._port = Number(options.port || options.defaultPort || 80);
        this.aborted = this.reusedSocket = false;
        this.maxHeadersCount = this.parser = this.res = null;
        this.timeout = options.timeout;
        this._signal = options.signal;
        this._handle = undefined; // of the exchange
        this._wait = undefined; // the call that is on its way
        this.useChunkedEncodingByDefault = !bodiless.has(this.method);
        setFields(this, options);
        if (callback)
            this.once('response', callback);
        if (this._signal)
            need('stream_finished').addAbortSignal(this._signal, this);
        if (this.timeout)
            this.setTimeout(this.timeout);
        host.nextTick(() => this.destroyed || this.emit('socket', this.socket));
    }
    Object.setPrototypeOf(ClientRequest.prototype, OutgoingMessage.prototype);
    Object.setPrototypeOf(ClientRequest, OutgoingMessage);

    function setFields(request, { headers, auth, setHost = true }) {
        if (Array.isArray(headers)) {
            const pairs = Array.isArray(headers[0]) ? headers.flat() : headers;
            for (let i = 0; i < pairs.length; i += 2)
                request.appendHeader(pairs[i], pairs[i + 1]);
        } else if (headers) {
            for (const name of Object.keys(headers))
                request.setHeader(name, headers[name]);
        }
        if (setHost && !request.hasHeader('host')) {
            const name = request.host.includes(':') ? `[${request.host}]` : request.host;
            request.setHeader('Host', request._port === 80 ? name : `${name}:${request._port}`);
        }
        if (auth && !request.hasHeader('authorization'))
            request.setHeader('Authorization', `Basic ${need('buffer').Buffer.from(auth).toString('base64')}`);
    }

    // ---- Sending ----

    function urlOf(request) {
        const name = request.host.includes(':') ? `[${request.host}]` : request.host;
        const path = request.path.startsWith('/') ? request.path : `/${request.path}`;
        return `http://${name}:${request._port}${path}`;
    }

    function fieldsOf(request) {
        const fields = [], given = request._fields ?? [];
        for (let i = 0; i < given.length; i += 2)
            if (!own.has(given[i].toLowerCase()))
                for (const value of [].concat(given[i + 1]))
                    fields.push(given[i], String(value));
        return fields;
    }

    // One call at a time; what it ends with is for nobody when the request has been destroyed.
    function start(request, operation, done) {
        request._wait = whenDone(operation, (error, value) => {
            request._wait = undefined;
            if (request.destroyed && !request.res) {
                if (typeof value === 'object' && value !== null)
                    host.fetchClose(Array.isArray(value) ? value[2] : value);
                return;
            }
            done(error, value);
        });
    }

    function open(request, kind, bytes, done) {
        const length = kind === WRITTEN && request.hasHeader('content-length') ? Number(request.getHeader('content-length')) : -1;
        const closes = !request.agent.keepAlive || /\bclose\b/i.test(request.getHeader('connection'));
        const expects = /^100-continue$/i.test(request.getHeader('expect'));
        const protocol = /\bupgrade\b/i.test(request.getHeader('connection')) ? request.getHeader('upgrade') : undefined;
        start(request, () => host.fetchOpen(request.agent._client, request.method, urlOf(request), fieldsOf(request), kind, bytes,
            length, closes, expects, protocol), done);
    }

    const toBytes = (bytes) => (typeof bytes === 'string' ? need('buffer').Buffer.from(bytes) : bytes);

    const methods = {
        _implicitHeader() {
            this._stage = 1;
        },
        // Connects with the first chunk.
        _put(bytes, callback) {
            if (this._handle === undefined) {
                open(this, WRITTEN, undefined, (error, handle) => {
                    if (error) {
                        this._lost(error, false);
                        callback(error);
                        return;
                    }
                    this._handle = handle;
                    if (this.hasHeader('expect'))
                        this.emit('continue');
                    this._put(bytes, callback);
                });
            } else if (bytes === undefined) {
                host.nextTick(() => callback(null));
            } else {
                start(this, () => host.fetchWrite(this._handle, toBytes(bytes)), (error) => callback(error));
            }
        },
        _putLast(bytes, callback) {
            if (this._handle === undefined || bytes !== undefined) {
                this._put(bytes, (error) => (error ? callback(error) : this._putLast(undefined, callback)));
                return;
            }
            start(this, () => host.fetchEnd(this._handle), (error, head) => {
                if (error) {
                    this._lost(error, true);
                } else {
                    head[2] = this._handle;
                    this._answered(head);
                }
            });
            host.nextTick(() => callback(null));
        },
        // All there is: no connection has been asked for.
        _putWhole(bytes) {
            if (this._handle !== undefined) {
                this._isBusy = true;
                this._putLast(bytes, (error) => {
                    this._isBusy = false;
                    if (!error)
                        this._finish();
                });
                return;
            }
            open(this, bytes === undefined ? NONE : BYTES, toBytes(bytes), (error, head) => {
                if (error)
                    this._lost(error, false);
                else
                    this._answered(head);
            });
            host.nextTick(() => this.destroyed || this._finish());
        },
        _failed(error) {
            this._lost(error, true);
        },
        _lost(error, isOpen) {
            const told = transport.explain(error, urlOf(this), isOpen);
            this.destroy(told.code === 'ECONNRESET' ? hangUp() : told);
        },
        _answered([status, raw, handle, reason, isEmpty]) {
            const message = responseOf(this, status, raw, handle, reason, isEmpty);
            this._handle = handle;
            this.res = message;
            if (status === 101) {
                this._upgraded(message, handle);
                return;
            }
            message.on('close', () => this._close());
            if (!this.emit('response', message))
                message._dump(); // nobody wants it
        },
        // The connection is the listeners', or nobody's.
        _upgraded(message, handle) {
            const [stream, early] = host.fetchTake(handle);
            const { Socket } = need('socket'), { Wire } = need('wire');
            const socket = new Socket({ handle: new Wire(stream), allowHalfOpen: true, manualStart: true });
            this.socket = message.socket = socket;
            this.upgradeOrConnect = message.upgrade = message.complete = true;
            host.fetchClose(handle);
            if (!this.emit('upgrade', message, socket, need('buffer').Buffer.from(early)))
                socket.destroy();
            this._close();
        },
        _close() {
            if (this._closed)
                return;
            this.destroyed = this._closed = true;
            this._stopTimer?.();
            this.emit('close');
        },
        destroy(error) {
            if (this.destroyed)
                return this;
            this.destroyed = true;
            this.errored = error ?? null;
            dropLine(this, error ?? destroyedError('write'));
            if (this.res) {
                this.res._isCut = true;
                this.res.destroy(error);
                return this;
            }
            if (this._wait)
                host.waitCancel(this._wait);
            if (this._handle !== undefined)
                host.fetchClose(this._handle);
            host.nextTick(() => {
                if (!this._isSilent)
                    this.emit('error', error ?? hangUp());
                this._close();
            });
            return this;
        },
        abort() {
            if (this.aborted)
                return;
            this.aborted = true;
            host.nextTick(() => this.emit('abort'));
            this.destroy();
        },
        setTimeout(milliseconds, callback) {
            if (callback)
                this.once('timeout', callback);
            this._stopTimer?.();
            if (milliseconds > 0) {
                const timer = setTimeout(() => this.emit('timeout'), milliseconds);
                this._stopTimer = () => clearTimeout(timer);
            }
            return this;
        },
        setNoDelay() {},
        setSocketKeepAlive() {},
        onSocket() {},
        clearTimeout(callback) {
            this.setTimeout(0, callback);
        },
    };
    for (const name of Object.keys(methods))
        ClientRequest.prototype[name] = methods[name];
    Object.defineProperty(ClientRequest.prototype, 'socket', {
        configurable: true,
        get() {
            return this._socket ??= new (need('http_socket').HttpSocket)(this);
        },
        set(value) {
            this._socket = value;
        },
    });
    Object.defineProperty(ClientRequest.prototype, '_header', {
        configurable: true,
        get() {
            return this._stage > 0 ? `${this.method} ${this.path} HTTP/1.1\r\n` : null;
        },
    });

    // ---- The response ----

    function responseOf(request, status, raw, handle, reason, isEmpty) {
        const message = new IncomingMessage();
        Object.assign(message, {
            _exchange: handle, statusCode: status, statusMessage: reason, rawHeaders: raw, httpVersion: '1.1', httpVersionMajor: 1,
            httpVersionMinor: 1, complete: false, req: request, method: null, url: '', socket: request.socket, _isWatched: true,
        });
        message._pull = (callback) => {
            if (isEmpty) {
                host.nextTick(() => callback(null, null));
                return;
            }
            message._wait = whenDone(() => host.fetchRead(handle), (error, bytes) => {
                message._wait = undefined;
                request._stopTimer?.();
                if (!error && bytes === null)
                    message.rawTrailers = host.fetchTrailers(handle);
                if (!message.destroyed)
                    callback(error, bytes);
            });
        };
        message._cut = () => {
            if (message._wait)
                host.waitCancel(message._wait);
            request._close();
        };
        message.once('end', () => host.fetchClose(handle));
        message.once('close', () => host.fetchClose(handle));
        return message;
    }

    const request = (...values) => new ClientRequest(...values);

    function get(...values) {
        const made = request(...values);
        made.end();
        return made;
    }

    return { ClientRequest, request, get };
})
