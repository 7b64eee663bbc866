// SPDX-License-Identifier: MIT
// js/lib/http_upgrade.js - a connection that has left HTTP, as a Duplex.
// host: netRead(stream, size, milliseconds), netWrite(stream, bytes, milliseconds), netShutdown(stream), netClose(stream),
//       netAddress(stream, of the other side), netSet(stream, option, value)
(function (host, need) {
    'use strict';
    const { Duplex } = need('stream_duplex');
    const { whenDone } = need('abortable');
    const PIECE = 64 * 1024;

    class UpgradedSocket extends Duplex {
        #handle;

        constructor(handle) {
            super({ allowHalfOpen: true });
            this.#handle = handle;
        }

        _read() {
            whenDone(() => host.netRead(this.#handle, PIECE, -1), (error, bytes) => {
                if (error)
                    this.destroy(error);
                else
                    this.push(bytes === null ? null : need('buffer').Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
            });
        }

        _write(chunk, encoding, callback) {
            whenDone(() => host.netWrite(this.#handle, chunk, -1), (error) => callback(error));
        }

        _final(callback) {
            try {
                host.netShutdown(this.#handle);
                callback();
            } catch (error) {
                callback(error);
            }
        }

        _destroy(error, callback) {
            host.netClose(this.#handle);
            callback(error);
        }

        get remoteAddress() {
            return need('net_address').parse(host.netAddress(this.#handle, true))?.address;
        }

        get remotePort() {
            return need('net_address').parse(host.netAddress(this.#handle, true))?.port;
        }

        setTimeout() {
            return this;
        }

        setNoDelay() {
            return this;
        }

        setKeepAlive() {
            return this;
        }

        destroySoon() {
            if (this.writable)
                this.end();
            if (this.writableFinished)
                this.destroy();
            else
                this.once('finish', this.destroy);
        }
    }

    return { socketOf: (handle) => new UpgradedSocket(handle) };
})
