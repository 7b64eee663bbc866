// SPDX-License-Identifier: MIT
// js/lib/http_outgoing.js - OutgoingMessage: what a response of a server and a request of a client have alike.
// host: nextTick(fn)
//
// Header fields are a flat list, in the order in which they were set. Chunks of the body that come in one tick go together: they
// wait in a line until the tick is over, and while others are on their way. Who sends is the subclass:
//
//     _implicitHeader()           makes the head, by writeHead or its like
//     _put(bytes, callback)       sends the head, if it has not gone, and bytes; callback(error) when they have gone
//     _putLast(bytes, callback)   the same with the end
(function (host, need) {
    'use strict';
    const { Stream } = need('stream_readable');
    const { nodeError, validateString, invalidArgType } = need('node_error');
    const { checkField, validateHeaderName, badCharacter, isText, bytesOf, joined } = need('http_common');
    const MARK = 16 * 1024;
    const nothing = () => {};

    function OutgoingMessage() {
        Stream.call(this);
    }
    Object.setPrototypeOf(OutgoingMessage.prototype, Stream.prototype);
    Object.setPrototypeOf(OutgoingMessage, Stream);

    // Defaults of what is set on few.
    Object.assign(OutgoingMessage.prototype, {
        _fields: undefined, // name, value, name, value
        _stage: 0, // 1: the head is made, 2: it ends, 3: the end has gone
        _line: undefined, // { chunks, callbacks, size } that wait
        _size: 0, // of what waits and what is on its way
        _isBusy: false, // something is on its way
        _isTicking: false, // the line moves at the end of this tick
        _needsDrain: false,
        _trailers: undefined,
        _hasBody: true,
        destroyed: false,
        writable: true,
        sendDate: true,
        shouldKeepAlive: true,
        chunkedEncoding: false,
        useChunkedEncodingByDefault: true,
        strictContentLength: false,
        errored: null,
        _closed: false,
        _defaultKeepAlive: true,
        _removedConnection: false,
        _removedContLen: false,
    });

    // ---- Header fields ----

    const sentError = (what) => nodeError(Error, 'ERR_HTTP_HEADERS_SENT',
        `Cannot ${what} headers after they are sent to the client`);

    function checkUnsent(message, what) {
        if (message._stage > 0)
            throw sentError(what);
    }

    function indexOf(message, name) {
        const fields = message._fields;
        if (fields === undefined)
            return -1;
        const wanted = name.toLowerCase();
        for (let i = 0; i < fields.length; i += 2)
            if (fields[i].length === wanted.length && fields[i].toLowerCase() === wanted)
                return i;
        return -1;
    }

    function store(message, name, value) {
        const index = indexOf(message, name);
        if (index >= 0) {
            message._fields[index] = name;
            message._fields[index + 1] = value;
        } else {
            (message._fields ??= []).push(name, value);
        }
    }

    const headers = {
        setHeader(name, value) {
            checkUnsent(this, 'set');
            checkField(name, value);
            store(this, name, value);
            return this;
        },
        setHeaders(given) {
            checkUnsent(this, 'set');
            if (!given || Array.isArray(given) || typeof given.keys !== 'function' || typeof given.get !== 'function')
                throw invalidArgType('headers', ['Headers', 'Map'], given);
            const cookies = [];
            for (const [name, value] of given) {
                if (name === 'set-cookie')
                    cookies.push(...[].concat(value));
                else
                    this.setHeader(name, value);
            }
            if (cookies.length > 0)
                this.setHeader('set-cookie', cookies);
            return this;
        },
        appendHeader(name, value) {
            checkUnsent(this, 'append');
            checkField(name, value);
            const index = indexOf(this, name);
            if (index < 0)
                return this.setHeader(name, value);
            this._fields[index + 1] = [].concat(this._fields[index + 1], value);
            return this;
        },
        getHeader(name) {
            validateString(name, 'name');
            const index = indexOf(this, name);
            return index < 0 ? undefined : this._fields[index + 1];
        },
        hasHeader(name) {
            validateString(name, 'name');
            return indexOf(this, name) >= 0;
        },
        removeHeader(name) {
            validateString(name, 'name');
            checkUnsent(this, 'remove');
            const index = indexOf(this, name);
            if (index >= 0)
                this._fields.splice(index, 2);
        },
        getHeaderNames() {
            return Object.keys(this.getHeaders());
        },
        getRawHeaderNames() {
            return (this._fields ?? []).filter((text, index) => index % 2 === 0);
        },
        getHeaders() {
            const found = { __proto__: null }, fields = this._fields ?? [];
            for (let i = 0; i < fields.length; i += 2)
                found[fields[i].toLowerCase()] = fields[i + 1];
            return found;
        },
        _renderHeaders() {
            checkUnsent(this, 'render');
            const found = {}, fields = this._fields ?? [];
            for (let i = 0; i < fields.length; i += 2)
                found[fields[i]] = fields[i + 1];
            return found;
        },
        addTrailers(given) {
            const pairs = Array.isArray(given) ? given : Object.entries(given);
            const trailers = [];
            for (const [name, value] of pairs) {
                validateHeaderName(name, 'Trailer name');
                for (const one of [].concat(value)) {
                    if (!isText(one))
                        throw badCharacter('trailer content', name);
                    trailers.push(name, String(one));
                }
            }
            this._trailers = trailers;
        },
    };

    // ---- The body ----

    const afterEnd = () => nodeError(Error, 'ERR_STREAM_WRITE_AFTER_END', 'write after end');
    const destroyed = (what) => nodeError(Error, 'ERR_STREAM_DESTROYED', `Cannot call ${what} after a stream was destroyed`);

    // An error of a call on a message that takes no more.
    function refuse(message, error, callback) {
        host.nextTick(() => {
            callback(error);
            if (!message.destroyed)
                message.emit('error', error);
        });
        return false;
    }

    function enqueue(message, bytes, callback) {
        const line = message._line ??= { chunks: [], callbacks: [], size: 0 };
        if (bytes.length > 0) {
            line.chunks.push(bytes);
            line.size += bytes.length;
            message._size += bytes.length;
        }
        if (callback !== nothing)
            line.callbacks.push(callback);
        if (!message._isBusy && !message._isTicking) {
            message._isTicking = true;
            host.nextTick(() => {
                message._isTicking = false;
                move(message);
            });
        }
    }

    // Sends what waits, unless something is on its way; and the end behind it.
    function move(message) {
        if (message._isBusy || message._stage === 3 || message.destroyed)
            return;
        const line = message._line;
        if (line === undefined && message._stage < 2)
            return;
        message._line = undefined;
        const bytes = line === undefined || line.chunks.length === 0 ? undefined : joined(line.chunks);
        const size = line?.size ?? 0, callbacks = line?.callbacks ?? [];
        message._isBusy = true;
        const isLast = message._stage === 2;
        const gone = (error) => {
            message._isBusy = false;
            message._size -= size;
            for (const callback of callbacks)
                callback(error ?? null);
            if (error)
                message._failed(error);
            else if (isLast)
                message._finish();
            else
                went(message);
        };
        if (isLast) {
            message._stage = 3;
            message._putLast(bytes, gone);
        } else {
            message._put(bytes, gone);
        }
    }

    function went(message) {
        move(message);
        if (message._needsDrain && message._size === 0 && message._stage < 2) {
            message._needsDrain = false;
            message.emit('drain');
        }
    }

    // Who may still wait for something that will not come.
    function dropLine(message, error) {
        const callbacks = message._line?.callbacks ?? [];
        message._line = undefined;
        for (const callback of callbacks)
            callback(error);
    }

    const body = {
        write(chunk, encoding, callback) {
            if (typeof encoding === 'function')
                [encoding, callback] = [undefined, encoding];
            if (typeof callback !== 'function')
                callback = nothing;
            const bytes = bytesOf(chunk, encoding);
            if (this._stage > 1)
                return refuse(this, afterEnd(), callback);
            if (this.destroyed)
                return refuse(this, destroyed('write'), callback);
            if (this._stage === 0)
                this._implicitHeader();
            if (!this._hasBody) {
                host.nextTick(callback);
                return true;
            }
            enqueue(this, bytes, callback);
            const hasRoom = this._size < this.writableHighWaterMark;
            this._needsDrain ||= !hasRoom;
            return hasRoom;
        },
        end(chunk, encoding, callback) {
            if (typeof chunk === 'function')
                [chunk, encoding, callback] = [undefined, undefined, chunk];
            else if (typeof encoding === 'function')
                [encoding, callback] = [undefined, encoding];
            if (this._stage > 1)
                return endAgain(this, chunk, callback);
            const bytes = chunk ? bytesOf(chunk, encoding) : undefined;
            if (this.destroyed && chunk) {
                refuse(this, destroyed('write'), nothing);
                return this;
            }
            if (this._stage === 0)
                this._implicitHeader();
            if (callback)
                this.once('finish', callback);
            if (this._line === undefined && !this._isBusy && !this.destroyed) {
                this._stage = 3;
                this._putWhole(this._hasBody ? bytes : undefined);
            } else {
                this._stage = 2;
                if (bytes !== undefined && this._hasBody)
                    enqueue(this, bytes, nothing);
                move(this);
            }
            if (this._events)
                this.emit('prefinish');
            return this;
        },
        flushHeaders() {
            if (this._stage === 0)
                this._implicitHeader();
            if (this._stage < 2)
                enqueue(this, '', nothing);
        },
        // What has gone cannot be called back, and nothing comes behind it.
        _finish() {
            this.emit('finish');
        },
        _failed(error) {
            this.destroy(error);
        },
        _implicitHeader() {
            throw nodeError(Error, 'ERR_METHOD_NOT_IMPLEMENTED', 'The _implicitHeader() method is not implemented');
        },
        cork() {},
        uncork() {},
        pipe() {
            this.emit('error', nodeError(Error, 'ERR_STREAM_CANNOT_PIPE', 'Cannot pipe, not readable'));
        },
        setTimeout(milliseconds, callback) {
            if (callback)
                this.on('timeout', callback);
            this.socket?.setTimeout(milliseconds);
            return this;
        },
        [Symbol.for('nodejs.rejection')](error) {
            this.destroy(error);
        },
    };

    function endAgain(message, chunk, callback) {
        if (chunk) {
            if (!message.destroyed)
                refuse(message, afterEnd(), typeof callback === 'function' ? callback : nothing);
        } else if (typeof callback === 'function') {
            if (message.writableFinished)
                callback(nodeError(Error, 'ERR_STREAM_ALREADY_FINISHED', 'Cannot call end after a stream was finished'));
            else
                message.on('finish', callback);
        }
        return message;
    }

    for (const methods of [headers, body])
        for (const name of Reflect.ownKeys(methods))
            OutgoingMessage.prototype[name] = methods[name];

    const getters = {
        headersSent: (message) => message._stage > 0,
        _headerSent: (message) => message._stage > 0,
        finished: (message) => message._stage > 1,
        writableEnded: (message) => message._stage > 1,
        writableFinished: (message) => message._stage === 3 && !message._isBusy,
        writableLength: (message) => message._size,
        writableHighWaterMark: () => MARK,
        writableObjectMode: () => false,
        writableCorked: () => 0,
        writableNeedDrain: (message) => !message.destroyed && message._stage < 2 && message._needsDrain,
        closed: (message) => message._closed,
    };
    for (const name of Object.keys(getters))
        Object.defineProperty(OutgoingMessage.prototype, name, {
            configurable: true,
            enumerable: name === 'headersSent',
            get() {
                return getters[name](this);
            },
            set() {}, // some try
        });
    Object.defineProperty(OutgoingMessage.prototype, 'connection', {
        configurable: true,
        get() {
            return this.socket;
        },
        set(value) {
            this.socket = value;
        },
    });

    return { OutgoingMessage, checkUnsent, store, indexOf, dropLine, destroyedError: destroyed };
})
