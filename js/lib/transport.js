// SPDX-License-Identifier: MIT
// js/lib/transport.js - one exchange over weft's HTTP client, for fetch and node:http. https is not there yet.
// host: fetchOpen(client, method, url, fields, kind of body, bytes, length, closes, expects, protocol), fetchWrite(handle, bytes),
//       fetchEnd(handle), fetchRead(handle), fetchTrailers(handle), fetchClose(handle), waitCancel(handle)
(function (host, need) {
    'use strict';
    const { whenDone } = need('abortable');
    const { withHostPort } = need('system_error');
    const { withCode } = need('errors');
    const { nodeError } = need('node_error');
    const NONE = 0, BYTES = 1, WRITTEN = 2;
    // What the client says itself.
    const own = new Set(['connection', 'keep-alive', 'upgrade', 'content-length', 'transfer-encoding', 'te', 'trailer', 'expect']);

    // ---- Errors, as programs for Node know them ----

    const connecting = new Set(['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'ETIMEDOUT', 'EADDRNOTAVAIL', 'EACCES']);
    const names = { ENOENT: 'ENOTFOUND', EAGAIN: 'EAI_AGAIN' };

    // What has become of an exchange with that address; isOpen: of one whose connection was there.
    function explain(error, url, isOpen) {
        const { hostname, port } = new URL(url);
        if (!isOpen && connecting.has(error?.code))
            return withHostPort(error.errno, 'connect', hostname.replace(/^\[|\]$/g, ''), Number(port || 80));
        if (!isOpen && Object.hasOwn(names, error?.code)) {
            const code = names[error.code];
            return Object.assign(new Error(`getaddrinfo ${code} ${hostname}`), { errno: error.errno, code, syscall: 'getaddrinfo', hostname });
        }
        switch (error?.code) {
        case 'ECONNRESET':
        case 'EPIPE':
            return withCode(new Error('other side closed'), 'ECONNRESET');
        case 'EBADMSG':
            return withCode(new Error('Response does not match the HTTP/1.1 protocol'), 'HPE_INVALID_CONSTANT');
        case 'EPROTONOSUPPORT':
            return nodeError(TypeError, 'ERR_INVALID_PROTOCOL', `Protocol "${new URL(url).protocol}" not supported`);
        default:
            return error;
        }
    }

    // ---- Waits that a signal ends; promises, also on a fiber ----

    class Waits {
        #signal;
        #handle;
        #cancel = () => this.cancel();

        constructor(signal) {
            this.#signal = signal ?? undefined;
        }

        perform(operation) {
            const signal = this.#signal;
            if (signal?.aborted)
                return Promise.reject(signal.reason);
            const { addAlgorithm, removeAlgorithm } = need('abort');
            return new Promise((resolve, reject) => {
                this.#handle = whenDone(operation, (error, value) => {
                    this.#handle = undefined;
                    if (signal)
                        removeAlgorithm(signal, this.#cancel);
                    if (error)
                        reject(signal?.aborted ? signal.reason : error);
                    else
                        resolve(value);
                });
                if (signal)
                    addAlgorithm(signal, this.#cancel);
            });
        }

        cancel() {
            if (this.#handle)
                host.waitCancel(this.#handle);
        }
    }

    // ---- The request ----

    const sizeOf = (headers) => {
        const found = headers.find(([name]) => name.toLowerCase() === 'content-length');
        return found === undefined ? -1 : Number(found[1]);
    };

    // Sends what a body has piece by piece, as far as the server wants it.
    async function sendBody(waits, handle, body, signal) {
        const stop = () => body.cancel(signal.reason).catch(() => {});
        const { addAlgorithm, removeAlgorithm } = need('abort');
        if (signal)
            addAlgorithm(signal, stop);
        try {
            for (let piece; (piece = await body.read()) !== null;) {
                if (piece.byteLength > 0 && !await waits.perform(() => host.fetchWrite(handle, piece))) {
                    Promise.resolve(body.cancel()).catch(() => {});
                    break;
                }
            }
        } finally {
            if (signal)
                removeAlgorithm(signal, stop);
        }
        return waits.perform(() => host.fetchEnd(handle));
    }

    async function open(waits, request) {
        const { body, signal } = request;
        const fields = [];
        for (const [name, value] of request.headers)
            if (!own.has(name.toLowerCase()))
                fields.push(name, value);
        const isWritten = body !== null && body !== undefined && !(body instanceof Uint8Array);
        const kind = isWritten ? WRITTEN : body ? BYTES : NONE;
        const opened = await waits.perform(() => host.fetchOpen(request.client, request.method, request.url, fields, kind,
            isWritten ? undefined : body, isWritten ? sizeOf(request.headers) : -1, request.closes ?? false, false, undefined));
        if (!isWritten)
            return opened;
        try {
            const head = await sendBody(waits, opened, body, signal);
            head[2] = opened;
            return head;
        } catch (error) {
            host.fetchClose(opened);
            throw error;
        }
    }

    // ---- The answer's body: each read can be given up, by the signal and by cancel ----

    function bodyOf(handle, signal, url) {
        const waits = new Waits(signal);
        let isOver = false;
        function end() {
            if (isOver)
                return;
            isOver = true;
            waits.cancel();
            host.fetchClose(handle);
        }
        return {
            async read() {
                if (isOver)
                    return null;
                try {
                    const piece = await waits.perform(() => host.fetchRead(handle));
                    if (piece === null)
                        end();
                    return piece;
                } catch (error) {
                    end();
                    throw signal?.aborted ? error : explain(error, url, true);
                }
            },
            cancel: end,
        };
    }

    async function send(request) {
        const { signal } = request;
        const waits = new Waits(signal);
        let head;
        try {
            head = await open(waits, request);
        } catch (error) {
            throw signal?.aborted ? error : explain(error, request.url, false);
        }
        const [status, raw, handle, reason, isEmpty] = head;
        const body = bodyOf(handle, signal, request.url);
        if (signal?.aborted || isEmpty)
            body.cancel();
        if (signal?.aborted)
            throw signal.reason;
        const headers = [];
        for (let i = 0; i < raw.length; i += 2)
            headers.push([raw[i], raw[i + 1]]);
        return { status, statusText: reason, headers, body: isEmpty ? null : body };
    }

    return { send, explain, own, NONE, BYTES, WRITTEN };
})
