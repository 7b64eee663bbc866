// SPDX-License-Identifier: MIT
// js/lib/transport.js - one exchange of fetch over weft's HTTP client. https is not there yet.
// host: fetchOpen(method, url, fields, bytes), fetchRead(handle), fetchClose(handle), waitHandle(),
//       nextWait(handle), waitCancel(handle)
(function (host, need) {
    'use strict';
    const { addAlgorithm, removeAlgorithm } = need('abort');
    const { abortable } = need('abortable');
    // What the client says itself.
    const own = new Set(['connection', 'keep-alive', 'upgrade', 'content-length', 'transfer-encoding', 'te', 'trailer',
        'expect', 'host']);

    // A body that comes by pieces is collected: the client sends what is in memory.
    async function wholeBody(body) {
        if (body === null || body === undefined || body instanceof Uint8Array)
            return body ?? undefined;
        const pieces = [];
        let size = 0;
        for (let piece; (piece = await body.read()) !== null;) {
            pieces.push(piece);
            size += piece.length;
        }
        const whole = new Uint8Array(size);
        let at = 0;
        for (const piece of pieces) {
            whole.set(piece, at);
            at += piece.length;
        }
        return whole;
    }

    // Each read can be given up, by the signal and by cancel.
    function bodyOf(handle, signal) {
        let isOver = false;
        let reading;
        function end() {
            if (isOver)
                return;
            isOver = true;
            if (signal)
                removeAlgorithm(signal, end);
            host.waitCancel(reading);
            host.fetchClose(handle);
        }
        if (signal)
            addAlgorithm(signal, end);
        return {
            async read() {
                if (isOver)
                    return null;
                try {
                    reading = host.waitHandle();
                    host.nextWait(reading);
                    const piece = await host.fetchRead(handle);
                    if (piece === null)
                        end();
                    return piece;
                } catch (error) {
                    end();
                    throw error;
                } finally {
                    host.nextWait();
                }
            },
            cancel: end,
        };
    }

    async function send(request) {
        const { signal } = request;
        const fields = [];
        for (const [name, value] of request.headers)
            if (!own.has(name.toLowerCase()))
                fields.push(name, value);
        const bytes = await wholeBody(request.body);
        const [status, raw, handle] = await abortable(signal, () => host.fetchOpen(request.method, request.url, fields, bytes));
        const body = bodyOf(handle, signal);
        if (signal?.aborted)
            body.cancel();
        const headers = [];
        for (let i = 0; i < raw.length; i += 2)
            headers.push([raw[i], raw[i + 1]]);
        const isBare = request.method === 'HEAD' || status === 204 || status === 304;
        if (isBare)
            body.cancel();
        return { status, statusText: need('http').STATUS_CODES[status] ?? '', headers, body: isBare ? null : body };
    }

    return { send };
})
