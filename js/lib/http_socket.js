// SPDX-License-Identifier: MIT
// js/lib/http_socket.js - what stands for the connection of an HTTP message: addresses, and the end. Bytes go through the message.
// host: httpPeer(exchange)
(function (host, need) {
    'use strict';
    const { EventEmitter } = need('events');

    class HttpSocket extends EventEmitter {
        #message;
        #peer;

        constructor(message, server) {
            super();
            this.#message = message;
            this.server = server;
            this.destroyed = this.connecting = false;
            this.readable = this.writable = true;
            this.timeout = 0;
        }

        #where() {
            return this.#peer ??= need('net_address').parse(host.httpPeer(this.#message._exchange) ?? undefined) ?? {};
        }

        get remoteAddress() {
            return this.#where().address;
        }

        get remotePort() {
            return this.#where().port;
        }

        get remoteFamily() {
            return this.#where().family;
        }

        get localAddress() {
            return this.server?.address()?.address;
        }

        get localPort() {
            return this.server?.address()?.port;
        }

        get localFamily() {
            return this.server?.address()?.family;
        }

        address() {
            return this.server?.address() ?? {};
        }

        // The message tells it of the end; who listens makes the message look.
        on(name, listener) {
            if (name === 'close' || name === 'error')
                this.#message._watch?.();
            return super.on(name, listener);
        }

        addListener(name, listener) {
            return this.on(name, listener);
        }

        destroy(error) {
            if (!this.destroyed) {
                this.destroyed = true;
                this.readable = this.writable = false;
                this.#message.destroy(error);
            }
            return this;
        }

        destroySoon() {
            return this.destroy();
        }

        end() {
            return this.destroy();
        }

        setTimeout(milliseconds, callback) {
            this.timeout = milliseconds;
            clearTimeout(this._timer);
            if (callback)
                this.once('timeout', callback);
            if (milliseconds > 0)
                this._timer = setTimeout(() => {
                    this.emit('timeout');
                    this.#message.emit('timeout', this);
                }, milliseconds).unref();
            return this;
        }

        _over() {
            clearTimeout(this._timer);
            if (this.readable) {
                this.readable = this.writable = false;
                this.destroyed = true;
                this.emit('close', false);
            }
        }

        setNoDelay() {
            return this;
        }

        setKeepAlive() {
            return this;
        }

        ref() {
            return this;
        }

        unref() {
            return this;
        }

        cork() {}

        uncork() {}

        pause() {
            return this;
        }

        resume() {
            return this;
        }
    }

    const socketOf = (message) => new HttpSocket(message, message._server);

    return { HttpSocket, socketOf };
})
