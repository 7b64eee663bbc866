// SPDX-License-Identifier: MIT
// js/lib/http_response.js - ServerResponse: what a server answers.
// host: httpFields(object), httpHead(exchange, status, fields, reason, closes), httpWrite(exchange, bytes, callback),
//       httpReply(exchange, status, fields, reason, closes, bytes, callback), httpEnd(exchange, bytes, trailers, callback),
//       httpCut(exchange), httpWatch(exchange, callback), nextTick(fn)
//
// Like its request it begins with almost nothing. An answer that nobody listens to is handed over and forgotten.
(function (host, need) {
    'use strict';
    const { OutgoingMessage, checkUnsent, store, dropLine, destroyedError } = need('http_outgoing');
    const { EventEmitter } = need('events');
    const { nodeError, invalidArgValue } = need('node_error');
    const { STATUS_CODES, checkField, badCharacter, isText } = need('http_common');
    const reasonOf = (response) => response._reason ?? STATUS_CODES[response.statusCode] ?? 'unknown';
    // What the server says itself.
    const own = new Set(['connection', 'transfer-encoding', 'date', 'keep-alive']);

    function ServerResponse(request) {
        this.req = request;
    }
    Object.setPrototypeOf(ServerResponse.prototype, OutgoingMessage.prototype);
    Object.setPrototypeOf(ServerResponse, OutgoingMessage);

    Object.assign(ServerResponse.prototype, {
        statusCode: 200, _reason: undefined, _sent100: false, _isStreamed: false, _isHeadGone: false,
        _isPlain: false, // the fields can be sent as they are
        _isTold: false, _closes: false,
    });

    Object.defineProperty(ServerResponse.prototype, 'socket', {
        configurable: true,
        get() {
            return this._closed || this.req === undefined ? null : this.req.socket;
        },
        set(value) {
            Object.defineProperty(this, 'socket', { value, writable: true, configurable: true, enumerable: true });
        },
    });

    Object.defineProperty(ServerResponse.prototype, 'statusMessage', {
        configurable: true,
        get() {
            return this._stage > 0 ? reasonOf(this) : this._reason;
        },
        set(value) {
            this._reason = value;
        },
    });

    // As a text, for those who look whether there is one.
    Object.defineProperty(ServerResponse.prototype, '_header', {
        configurable: true,
        get() {
            if (this._stage === 0)
                return null;
            const lines = [`HTTP/1.1 ${this.statusCode} ${reasonOf(this)}`];
            const fields = this._fields ?? [];
            for (let i = 0; i < fields.length; i += 2)
                for (const value of [].concat(fields[i + 1]))
                    lines.push(`${fields[i]}: ${value}`);
            return `${lines.join('\r\n')}\r\n\r\n`;
        },
        set(value) {
            this._stage = value ? 1 : 0;
        },
    });

    // ---- The head ----

    function writeHead(status, reason, headers) {
        if (this._stage > 0)
            checkUnsent(this, 'write');
        const code = status | 0;
        if (code < 100 || code > 999)
            throw nodeError(RangeError, 'ERR_HTTP_INVALID_STATUS_CODE', `Invalid status code: ${status}`);
        if (typeof reason === 'string')
            this._reason = reason;
        else
            headers ??= reason;
        if (code !== this.statusCode)
            this.statusCode = code;
        if (headers)
            addAll(this, headers);
        if (this._reason && !isText(this._reason))
            throw badCharacter('statusMessage');
        if (code === 204 || code === 304 || code < 200)
            this._hasBody = false;
        this._stage = 1;
        return this;
    }

    function addAll(response, headers) {
        if (Array.isArray(headers)) {
            const pairs = Array.isArray(headers[0]) ? headers.flat() : headers;
            if (pairs.length % 2 !== 0)
                throw invalidArgValue('headers', headers);
            const isFirst = response._fields === undefined;
            for (let i = 0; i < pairs.length; i += 2) {
                checkField(pairs[i], pairs[i + 1]);
                if (isFirst)
                    (response._fields ??= []).push(pairs[i], pairs[i + 1]); // one that is there twice is meant twice
                else
                    store(response, pairs[i], pairs[i + 1]);
            }
        } else if (response._fields === undefined) {
            const plain = host.httpFields(headers);
            response._isPlain = plain !== undefined;
            response._fields = plain ?? checkedFields(headers);
        } else {
            for (const name of Object.keys(headers))
                if (name)
                    response.setHeader(name, headers[name]);
        }
    }

    function checkedFields(headers) {
        const fields = [];
        for (const name of Object.keys(headers)) {
            checkField(name, headers[name]);
            fields.push(name, headers[name]);
        }
        return fields;
    }

    // As the host wants them: texts, and nothing that the server says itself.
    function fieldsToSend(response) {
        const fields = response._fields;
        if (fields === undefined || response._isPlain)
            return fields;
        const sent = [];
        for (let i = 0; i < fields.length; i += 2) {
            const name = fields[i], value = fields[i + 1];
            if (name.length <= 17 && own.has(name.toLowerCase()))
                noteOwn(response, name.toLowerCase(), String(value));
            else if (typeof value === 'object' && value !== null)
                for (const one of value)
                    sent.push(name, String(one));
            else
                sent.push(name, value);
        }
        return sent;
    }

    function noteOwn(response, name, value) {
        if (name === 'connection' && /(?:^|\W)close(?:$|\W)/i.test(value))
            response._closes = true;
        else if (name === 'transfer-encoding' && /chunked/i.test(value))
            response._isStreamed = true;
    }

    function sendHead(response) {
        if (response._isHeadGone)
            return;
        const fields = fieldsToSend(response);
        response._isHeadGone = true;
        host.httpHead(response.req._exchange, response.statusCode, fields, response._reason,
            response._closes || !response.shouldKeepAlive);
    }

    // ---- The body ----

    // One who still reads the request goes on with that: then the exchange ends when that has.
    function endCallback(response) {
        const { req } = response;
        if (!req._consuming || req.complete || req.destroyed)
            return undefined;
        const end = () => trying(() => {}, () => host.httpEnd(req._exchange));
        req._onComplete = end;
        return (error) => {
            if (error)
                req._gone();
            else if (req.complete || req.destroyed)
                end();
        };
    }

    // The exchange may be over when nobody has been told yet.
    function trying(callback, fn) {
        try {
            fn();
        } catch (error) {
            if (error.code !== 'ERR_CLOSED')
                throw error;
            host.nextTick(() => callback(error));
        }
    }

    const methods = {
        writeHead,
        writeHeader: writeHead,
        _implicitHeader() {
            this.writeHead(this.statusCode);
        },
        write(chunk, encoding, callback) {
            if (this._hasBody && this.req.method === 'HEAD')
                this._hasBody = false;
            return OutgoingMessage.prototype.write.call(this, chunk, encoding, callback);
        },
        _put(bytes, callback) {
            const { req } = this;
            if (req._exchange === undefined)
                return; // nobody to send it to
            req._response = this;
            trying(callback, () => {
                sendHead(this);
                host.httpWrite(req._exchange, this._hasBody ? bytes : undefined, callback);
            });
        },
        _putLast(bytes, callback) {
            const { _exchange: exchange } = this.req;
            if (exchange === undefined)
                return;
            trying(callback, () => {
                sendHead(this);
                if (this._trailers !== undefined) { // which go behind a head that has gone
                    const trailers = this._trailers;
                    host.httpWrite(exchange, bytes, (error) => trying(callback, () => {
                        if (!error)
                            host.httpEnd(exchange, undefined, trailers, endCallback(this));
                        callback(error);
                    }));
                    return;
                }
                host.httpEnd(exchange, this._hasBody ? bytes : undefined, undefined, endCallback(this));
                host.nextTick(() => callback(null));
            });
        },
        // All at once: nothing has gone before it.
        _putWhole(bytes) {
            const { req } = this, exchange = req._exchange;
            if (exchange === undefined)
                return;
            if (this._isHeadGone || this._trailers !== undefined) {
                this._isBusy = true;
                this._putLast(bytes, (error) => {
                    this._isBusy = false;
                    if (error)
                        this._failed(error);
                    else
                        this._finish();
                });
                return;
            }
            const fields = fieldsToSend(this), closes = this._closes || !this.shouldKeepAlive;
            const goesOn = req._consuming ? endCallback(this) : undefined;
            try {
                if (this._isStreamed && this._hasBody) {
                    host.httpHead(exchange, this.statusCode, fields, this._reason, closes);
                    host.httpEnd(exchange, bytes, undefined, goesOn);
                } else {
                    host.httpReply(exchange, this.statusCode, fields, this._reason, closes, bytes, goesOn);
                }
            } catch (error) {
                if (error.code !== 'ERR_CLOSED')
                    throw error;
                this._isBusy = true;
                this._lost();
                return;
            }
            if (req._response)
                req._response = undefined; // or they would hold each other
            if (this._events || req._events || req._consuming)
                this._tellLater();
        },
        _tellLater() {
            this._isTold = true;
            host.nextTick(() => this._finish());
        },
        _finish() {
            this._isTold = true;
            if (this.destroyed)
                return;
            this.emit('finish');
            this.req._response = undefined;
            this.req._answered?.();
            host.nextTick(() => this._close());
        },
        _close() {
            if (this._closed)
                return;
            this.destroyed = this._closed = true;
            this.emit('close');
        },
        destroy(error) {
            if (this.destroyed)
                return this;
            this.destroyed = true;
            this.errored = error ?? null;
            dropLine(this, error ?? destroyedError('write'));
            const { _exchange: exchange } = this.req;
            const isCut = exchange !== undefined && !(this._stage === 3 && !this._isBusy) && host.httpCut(exchange);
            host.nextTick(() => {
                if (isCut)
                    this.req._gone();
                this._tellClose();
            });
            return this;
        },
        // After the end of the connection.
        _tellClose() {
            if (this._closed)
                return;
            this.destroyed = this._closed = true;
            if (Object.hasOwn(this.req, 'socket'))
                this.req.socket?._over?.();
            this.emit('close');
        },
        _failed(error) {
            this.errored ??= error;
            this._lost();
        },
        // The client has gone, and the answer has not.
        _lost() {
            if (this._closed || (this._stage === 3 && !this._isBusy))
                return;
            dropLine(this, destroyedError('write'));
            host.httpCut(this.req._exchange);
            this.req._gone();
            this._tellClose();
        },
        on(name, listener) {
            EventEmitter.prototype.on.call(this, name, listener);
            if (this._stage < 3) {
                this.req._response = this;
                if (name === 'close')
                    this.req._watch?.();
            }
            if (this._stage === 3 && !this._isTold && !this._isBusy && (name === 'finish' || name === 'close'))
                this._tellLater();
            return this;
        },
        addListener(name, listener) {
            return this.on(name, listener);
        },
        // The first read of the body says so.
        writeContinue(callback) {
            this._sent100 = true;
            if (callback)
                host.nextTick(callback);
        },
        writeProcessing(callback) {
            if (callback)
                host.nextTick(callback);
        },
        writeEarlyHints(hints, callback) {
            if (callback)
                host.nextTick(callback);
        },
        assignSocket(socket) {
            this.socket = socket;
            this.emit('socket', socket);
        },
        detachSocket() {
            this.socket = null;
        },
    };
    for (const name of Object.keys(methods))
        ServerResponse.prototype[name] = methods[name];
    // What is found at once is found faster.
    const inherited = Object.getOwnPropertyDescriptors(OutgoingMessage.prototype);
    for (const name of Reflect.ownKeys(inherited))
        if (!Object.hasOwn(ServerResponse.prototype, name))
            Object.defineProperty(ServerResponse.prototype, name, inherited[name]);

    return { ServerResponse };
})
