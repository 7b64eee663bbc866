// SPDX-License-Identifier: MIT
// js/lib/socket.js - net.Socket of Node: a stream over a connection or a pipe. How it connects: js/lib/socket_connect.js.
// host: netRead(stream, size, milliseconds), netWriteNow(stream, bytes), netWrite(stream, bytes, milliseconds),
//       netShutdownNow(stream), netAddress(stream, of the other side), netSet(stream, option, value),
//       netAdopt(descriptor, stays), waitCancel(wait), waitKeep(wait, keeps), nextTick(fn), whenPending(fn)
(function (host, need) {
    'use strict';
    const { Duplex } = need('stream');
    const { Buffer } = need('buffer');
    const { Wire } = need('wire');
    const { nodeError, invalidArgType, outOfRange, validateFunction } = need('node_error');
    const { errnoException } = need('system_error');
    const addresses = need('net_address');
    const PIECE = 64 * 1024;
    const NO_DELAY = 0, KEEP_ALIVE = 1, RESET = 2;
    const timer = Symbol('timeout'), settings = Symbol('settings');
    const attempt = Symbol('attempt'); // the wait for a connection, while there is one

    function Socket(options) {
        if (!(this instanceof Socket))
            return new Socket(options);
        options = typeof options === 'number' ? { fd: options } : { ...options };
        this.connecting = false;
        this._hadError = false;
        this._handle = null;
        this._host = null;
        this._parent = null;
        this[timer] = this[attempt] = null;
        this[settings] = { mapped: options.isMapped, noDelay: options.noDelay, keepAlive: options.keepAlive };
        Object.assign(options, { emitClose: false, autoDestroy: true, decodeStrings: false });
        options.allowHalfOpen = Boolean(options.allowHalfOpen);
        Duplex.call(this, options);
        if (options.handle)
            this._handle = options.handle;
        else if (options.fd !== undefined)
            this._handle = adopt(options.fd);
        this.on('end', onEnd);
        this.allowHalfOpen = options.allowHalfOpen;
        this.server = null;
        this._server = null;
        if (this._handle && options.readable !== false) {
            if (options.pauseOnCreate)
                this._readableState.flowing = false;
            else if (!options.manualStart)
                this.read(0);
        }
        return undefined;
    }
    Object.setPrototypeOf(Socket.prototype, Duplex.prototype);
    Object.setPrototypeOf(Socket, Duplex);

    function adopt(fd) {
        try {
            return new Wire(host.netAdopt(fd, fd <= 2));
        } catch (error) {
            throw errnoException(error.errno, 'open');
        }
    }

    function onEnd() {
        if (!this.allowHalfOpen)
            this.write = writeAfterEnd;
    }

    function writeAfterEnd(chunk, encoding, callback) {
        if (!this.writableEnded)
            return Duplex.prototype.write.call(this, chunk, encoding, callback);
        if (typeof encoding === 'function')
            callback = encoding;
        const error = Object.assign(new Error('This socket has been ended by the other party'), { code: 'EPIPE' });
        if (typeof callback === 'function')
            host.nextTick(() => callback(error));
        this.destroy(error);
        return false;
    }

    // ---- Reading ----

    function readOn(socket) {
        const wire = socket._handle;
        if (wire.isReading || wire.isLent)
            return;
        wire.isReading = true;
        try {
            wire.start(() => host.netRead(wire.stream, PIECE, -1), (error, bytes) => onRead(socket, wire, error, bytes));
        } catch (error) {
            socket.destroy(errnoException(error.errno, 'read'));
        }
    }

    function onRead(socket, wire, error, bytes) {
        wire.isReading = false;
        if (error) {
            socket.destroy(errnoException(error.errno, 'read'));
            return;
        }
        socket._unrefTimer();
        if (bytes === null) {
            socket.push(null);
            socket.read(0);
            return;
        }
        wire.bytesRead += bytes.length;
        if (socket.push(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)) && socket._handle === wire)
            readOn(socket);
    }

    // ---- Writing ----

    function send(socket, data, callback) {
        const wire = socket._handle;
        const size = typeof data === 'string' ? Buffer.byteLength(data) : data.length;
        wire.bytesWritten += size;
        let done;
        try {
            done = host.netWriteNow(wire.stream, data);
        } catch (error) {
            callback(errnoException(error.errno, 'write'));
            return;
        }
        if (done === size) {
            callback();
            return;
        }
        const rest = (typeof data === 'string' ? Buffer.from(data) : data).subarray(done);
        wire.start(() => host.netWrite(wire.stream, rest, -1), (error) => {
            if (!error)
                socket._unrefTimer();
            callback(error && !socket.destroyed ? errnoException(error.errno, 'write') : null);
        });
    }

    // Of what is written before it is connected.
    function sendLater(socket, data, callback) {
        const onClose = () => callback(nodeError(Error, 'ERR_SOCKET_CLOSED_BEFORE_CONNECTION',
            'Socket closed before the connection was established'));
        socket.once('connect', () => {
            socket.off('close', onClose);
            sendNow(socket, data, callback);
        });
        socket.once('close', onClose);
    }

    function sendNow(socket, data, callback) {
        if (socket.connecting) {
            socket._pendingData = data;
            sendLater(socket, data, callback);
            return;
        }
        socket._pendingData = null;
        if (!socket._handle) {
            callback(nodeError(Error, 'ERR_SOCKET_CLOSED', 'Socket is closed'));
            return;
        }
        socket._unrefTimer();
        send(socket, data, callback);
    }

    const plain = (data, encoding) => (typeof data !== 'string' || encoding === 'utf8' || encoding === 'utf-8' ? data
        : Buffer.from(data, encoding));

    // ---- The end ----

    function destroy(socket, error, callback) {
        const wire = socket._handle;
        socket.connecting = false;
        clearTimeout(socket[timer]);
        host.waitCancel(socket[attempt]);
        if (wire) {
            socket[settings].counts = [wire.bytesRead, wire.bytesWritten];
            wire.close(() => socket.emit('close', Boolean(error)));
            socket._handle = null;
            socket[settings].local = undefined;
            callback(error);
        } else {
            callback(error);
            host.nextTick(() => socket.emit('close', Boolean(error)));
        }
        if (socket._server) {
            socket._server._connections--;
            socket._server._emitCloseIfDrained();
        }
    }

    // ---- Addresses ----

    // Somebody with an IPv4 address at a socket for both has one that says so; paths are not told.
    function shown(socket, found) {
        if (found?.path !== undefined)
            return {};
        if (found?.family !== 'IPv4' || !socket[settings].mapped)
            return found;
        return { ...found, address: `::ffff:${found.address}`, family: 'IPv6' };
    }

    function localOf(socket) {
        if (!socket._handle || socket.connecting)
            return {};
        return socket[settings].local ??= shown(socket, addresses.parse(host.netAddress(socket._handle.stream, false))) ?? {};
    }

    function remoteOf(socket) {
        if (socket[settings].remote)
            return socket[settings].remote;
        if (!socket._handle || socket.connecting)
            return {};
        return socket[settings].remote = shown(socket, addresses.parse(host.netAddress(socket._handle.stream, true))) ?? {};
    }

    function set(socket, option, value) {
        if (socket._handle?.stream)
            host.netSet(socket._handle.stream, option, value);
        return socket;
    }

    const methods = {
        connect(...args) {
            return need('socket_connect').connect(this, args);
        },
        _read() {
            if (this.connecting || !this._handle)
                this.once('connect', () => this._read());
            else
                readOn(this);
        },
        _write(data, encoding, callback) {
            sendNow(this, plain(data, encoding), callback);
        },
        _writev(chunks, callback) {
            sendNow(this, Buffer.concat(chunks.map(({ chunk, encoding }) =>
                (typeof chunk === 'string' ? Buffer.from(chunk, encoding) : chunk))), callback);
        },
        _final(callback) {
            if (this.connecting) {
                this.once('connect', () => this._final(callback));
                return;
            }
            const wire = this._handle;
            if (!wire) {
                callback();
                return;
            }
            host.whenPending(() => {
                const error = wire.stream === null ? 0 : host.netShutdownNow(wire.stream);
                callback(error ? errnoException(error, 'shutdown') : null);
            });
        },
        _destroy(error, callback) {
            destroy(this, error, callback);
        },
        end(data, encoding, callback) {
            Duplex.prototype.end.call(this, data, encoding, callback);
            return this;
        },
        destroySoon() {
            if (this.writable)
                this.end();
            if (this.writableFinished)
                this.destroy();
            else
                this.once('finish', this.destroy);
        },
        resetAndDestroy() {
            if (!this._handle) {
                this.destroy(nodeError(Error, 'ERR_SOCKET_CLOSED', 'Socket is closed'));
            } else if (this.connecting) {
                this.once('connect', () => this.resetAndDestroy());
            } else {
                set(this, RESET, 0);
                this.destroy();
            }
            return this;
        },
        setTimeout(milliseconds, callback) {
            if (this.destroyed)
                return this;
            if (typeof milliseconds !== 'number')
                throw invalidArgType('msecs', 'number', milliseconds);
            if (!(milliseconds >= 0 && Number.isFinite(milliseconds)))
                throw outOfRange('msecs', 'a non-negative finite number', milliseconds);
            if (callback !== undefined)
                validateFunction(callback, 'callback');
            this.timeout = milliseconds;
            clearTimeout(this[timer]);
            this[timer] = milliseconds === 0 ? null : setTimeout(() => this._onTimeout(), milliseconds).unref();
            if (callback !== undefined)
                this[milliseconds === 0 ? 'removeListener' : 'once']('timeout', callback);
            return this;
        },
        _onTimeout() {
            this.emit('timeout');
        },
        _unrefTimer() {
            this[timer]?.refresh();
        },
        setNoDelay(isOn) {
            this[settings].noDelay = isOn === undefined ? true : Boolean(isOn);
            return set(this, NO_DELAY, this[settings].noDelay ? 1 : 0);
        },
        setKeepAlive(isOn, milliseconds) {
            const seconds = ~~(milliseconds / 1000);
            this[settings].keepAlive = Boolean(isOn);
            return set(this, KEEP_ALIVE, isOn ? Math.max(1, seconds) : 0);
        },
        // What was set before there was a connection.
        _applySettings() {
            if (this[settings].noDelay !== undefined)
                this.setNoDelay(this[settings].noDelay);
            if (this[settings].keepAlive)
                this.setKeepAlive(true);
        },
        address() {
            return localOf(this);
        },
        ref() {
            if (this._handle)
                this._handle.ref();
            else
                this.once('connect', this.ref);
            host.waitKeep(this[attempt], true);
            return this;
        },
        unref() {
            if (this._handle)
                this._handle.unref();
            else
                this.once('connect', this.unref);
            host.waitKeep(this[attempt], false);
            return this;
        },
    };
    Object.assign(Socket.prototype, methods);

    const getters = {
        _connecting: (socket) => socket.connecting,
        pending: (socket) => !socket._handle || socket.connecting,
        readyState(socket) {
            if (socket.connecting)
                return 'opening';
            if (socket.readable && socket.writable)
                return 'open';
            return socket.readable ? 'readOnly' : socket.writable ? 'writeOnly' : 'closed';
        },
        bufferSize: (socket) => (socket._handle ? socket.writableLength : undefined),
        bytesRead: (socket) => socket._handle?.bytesRead ?? socket[settings].counts?.[0] ?? 0,
        _bytesDispatched: (socket) => socket._handle?.bytesWritten ?? socket[settings].counts?.[1] ?? 0,
        bytesWritten(socket) {
            const { _pendingData: pending } = socket;
            let count = socket._bytesDispatched;
            for (const { chunk, encoding } of socket._writableState.getBuffer())
                count += typeof chunk === 'string' ? Buffer.byteLength(chunk, encoding) : chunk.length;
            return count + (pending ? Buffer.byteLength(pending) : 0);
        },
        remoteAddress: (socket) => remoteOf(socket).address,
        remoteFamily: (socket) => remoteOf(socket).family,
        remotePort: (socket) => remoteOf(socket).port,
        localAddress: (socket) => localOf(socket).address,
        localPort: (socket) => localOf(socket).port,
        localFamily: (socket) => localOf(socket).family,
    };
    for (const name of Object.keys(getters))
        Object.defineProperty(Socket.prototype, name, {
            configurable: false,
            enumerable: true,
            get() {
                return getters[name](this);
            },
        });

    // Begins anew what has ended.
    function renew(socket) {
        socket._handle = null;
        socket[settings].remote = socket[settings].local = undefined;
        Duplex.prototype._undestroy?.call(socket);
        if (Object.hasOwn(socket, 'write'))
            delete socket.write;
    }

    return { Socket, renew, attempt };
})
