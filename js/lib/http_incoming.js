// SPDX-License-Identifier: MIT
// js/lib/http_incoming.js - IncomingMessage: a request that a server gets, or a response that a client gets.
// host: httpMethod, httpTarget, httpIsNew, httpSize, httpHeaders, httpTrailers, httpPeer(exchange), httpRead(exchange, callback),
//       keep(object, name, value), httpWatch(exchange, callback), httpCut(exchange), nextTick(fn)
//
// One is made for every request, so it begins with almost nothing: what it is asked for comes from the exchange then, and the
// state of a Readable is made when somebody first reads, or listens.
(function (host, need) {
    'use strict';
    const { Readable, ReadableState } = need('stream_readable');
    const { fieldsOf, distinctOf } = need('http_common');
    const { withCode } = need('errors');

    function IncomingMessage(socket) {
        if (socket !== undefined)
            this.socket = socket; // somebody else's, who pushes the body
    }
    Object.setPrototypeOf(IncomingMessage.prototype, Readable.prototype);
    Object.setPrototypeOf(IncomingMessage, Readable);

    // Defaults of what is set on few.
    Object.assign(IncomingMessage.prototype, {
        _exchange: undefined, _response: undefined, _consuming: false, _dumped: false, _isWatched: false, _isReading: false,
        _isAnswered: false, _onComplete: undefined, aborted: false, upgrade: null,
        statusCode: null, statusMessage: null, joinDuplicateHeaders: false,
    });

    const aborted = () => withCode(new Error('aborted'), 'ECONNRESET');

    // A property that is computed once, and can be set.
    function lazy(name, compute) {
        Object.defineProperty(IncomingMessage.prototype, name, {
            configurable: true,
            enumerable: false,
            get() {
                return keep(this, name, compute(this));
            },
            set(value) {
                keep(this, name, value);
            },
        });
    }

    const keep = host.keep; // (object, name, value) -> value, which is the object's own from then on

    const isServed = (message) => message._exchange !== undefined;
    lazy('method', (message) => (isServed(message) ? host.httpMethod(message._exchange) : null));
    lazy('url', (message) => (isServed(message) ? host.httpTarget(message._exchange) : ''));
    lazy('httpVersion', (message) => (isServed(message) ? (host.httpIsNew(message._exchange) ? '1.1' : '1.0') : null));
    lazy('httpVersionMajor', (message) => (isServed(message) ? 1 : null));
    lazy('httpVersionMinor', (message) => (isServed(message) ? Number(host.httpIsNew(message._exchange)) : null));
    lazy('complete', (message) => isServed(message) && host.httpSize(message._exchange) === 0);
    lazy('rawHeaders', (message) => (isServed(message) ? host.httpHeaders(message._exchange) : []));
    lazy('headers', (message) => fieldsOf(message.rawHeaders, message.joinDuplicateHeaders));
    lazy('headersDistinct', (message) => distinctOf(message.rawHeaders));
    lazy('rawTrailers', (message) => (isServed(message) && message.complete ? host.httpTrailers(message._exchange) : []));
    lazy('trailers', (message) => fieldsOf(message.rawTrailers));
    lazy('trailersDistinct', (message) => distinctOf(message.rawTrailers));
    lazy('socket', (message) => (isServed(message) ? need('http_socket').socketOf(message) : null));
    lazy('_readableState', () => new ReadableState());

    Object.defineProperty(IncomingMessage.prototype, 'connection', {
        configurable: true,
        get() {
            return this.socket;
        },
        set(value) {
            this.socket = value;
        },
    });

    // ---- The body ----

    // The next piece for callback(error, bytes or null); and what becomes of the connection of one that is not read to its end.
    IncomingMessage.prototype._pull = function (callback) {
        host.httpRead(this._exchange, callback);
    };
    IncomingMessage.prototype._cut = function () {
        host.httpCut(this._exchange);
    };

    IncomingMessage.prototype._read = function () {
        this._consuming = true;
        if (!isServed(this) || this._isReading)
            return;
        if (this.complete || this._isAnswered) {
            host.nextTick(() => this._take(null));
            return;
        }
        this._isReading = true;
        const pulled = (error, bytes) => {
            this._isReading = false;
            if (error)
                this._lost();
            else
                this._take(bytes);
        };
        try {
            this._pull(pulled);
        } catch (error) { // it is over
            host.nextTick(() => pulled(error));
        }
    };

    IncomingMessage.prototype._take = function (bytes) {
        if (bytes === null) {
            this.complete = true;
            this.push(null);
            this._onComplete?.();
        } else {
            this.push(need('buffer').Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
        }
    };

    IncomingMessage.prototype._destroy = function (error, callback) {
        if (!this.readableEnded || !this.complete) {
            this.aborted = true;
            this.emit('aborted');
            if (isServed(this))
                this._cut();
        }
        // Nobody has to listen to errors of a message. Its answer will not be sent, and is told so when this one has closed.
        host.nextTick(() => {
            callback(this.listenerCount('error') === 0 ? null : error);
            if (this.aborted && this._response)
                host.nextTick(() => this._response?._tellClose());
        });
    };

    // Nobody wants the rest.
    IncomingMessage.prototype._dump = function () {
        if (this._dumped)
            return;
        this._dumped = true;
        this.removeAllListeners('data');
        this.resume();
    };

    // The answer has gone: what was not read is read past, and who listens is told of the end.
    IncomingMessage.prototype._answered = function () {
        if (this._consuming || !this._events)
            return;
        this._isAnswered = true;
        this._dump();
    };

    IncomingMessage.prototype._gone = function () {
        if (!this.destroyed)
            this.destroy(aborted());
    };

    // ---- Events ----

    const watched = new Set(['close', 'aborted', 'error']);

    // Who wants to know that the client has gone has to say so in time.
    IncomingMessage.prototype.on = function (name, listener) {
        if (!this._isWatched && watched.has(name))
            this._watch();
        return Readable.prototype.on.call(this, name, listener);
    };
    IncomingMessage.prototype.addListener = IncomingMessage.prototype.on;

    IncomingMessage.prototype._watch = function () {
        if (this._isWatched || !isServed(this) || this._isAnswered)
            return;
        this._isWatched = true;
        try {
            host.httpWatch(this._exchange, () => this._lost());
        } catch {
            // It is over.
        }
    };

    // The client has gone before it had its answer, which is told of it first.
    IncomingMessage.prototype._lost = function () {
        if (this._response)
            this._response._lost();
        else if (!this._isAnswered)
            this._gone();
    };

    IncomingMessage.prototype.setTimeout = function (milliseconds, callback) {
        if (callback)
            this.on('timeout', callback);
        this.socket?.setTimeout(milliseconds);
        return this;
    };

    IncomingMessage.prototype._addHeaderLines = function (list) {
        if (this.complete)
            this.rawTrailers = list;
        else
            this.rawHeaders = list;
    };

    // ---- More than Node has: the whole body. On a fiber the result, elsewhere a promise of it. ----

    async function whole(message) {
        const pieces = [];
        for await (const piece of message)
            pieces.push(typeof piece === 'string' ? need('buffer').Buffer.from(piece) : piece);
        return need('buffer').Buffer.concat(pieces);
    }

    const wait = (promise) => need('go').wait(promise);
    IncomingMessage.prototype.bytes = function () {
        return wait(whole(this));
    };
    IncomingMessage.prototype.text = function () {
        return wait(whole(this).then((bytes) => bytes.toString()));
    };
    IncomingMessage.prototype.json = function () {
        return wait(whole(this).then((bytes) => JSON.parse(bytes.toString())));
    };

    return { IncomingMessage, aborted };
})
