// SPDX-License-Identifier: MIT
// js/lib/http_serve.js - servers in the shape of fetch: a Request comes in, a Response goes out.
// host: httpMethod, httpTarget, httpHeaders, httpSize(exchange), httpParameter(exchange, name), httpRead(exchange, callback),
//       httpWatch(exchange, callback), httpHead(exchange, status, fields, reason, closes), httpWrite(exchange, bytes, callback),
//       httpReply(exchange, status, fields, reason, closes, bytes, callback), httpEnd(exchange, bytes, trailers), httpCut(exchange),
//       httpPeer(exchange), go(fn), isFiber()
(function (host, need) {
    'use strict';
    const { Server } = need('http_server');
    const { Body } = need('body');
    const { isPromise } = need('util_types');
    const own = new Set(['connection', 'transfer-encoding', 'date', 'keep-alive', 'content-length']);
    const MAX_BODY = 16 * 1024 * 1024;

    // ---- The request ----

    // One exchange: what its Request and the sending of its Response share.
    class Exchange {
        constructor(handle, server) {
            this.handle = handle;
            this.server = server;
            this.controller = undefined; // of the request's signal
            this.isOver = false;
            this.isReading = false; // the body, by somebody
            this.isRead = host.httpSize(handle) === 0;
            this.onGone = undefined;
            this.isWatching = false;
        }

        // A promise of the next piece; null at the end.
        read() {
            if (this.isRead)
                return Promise.resolve(null);
            this.isReading = true;
            return new Promise((resolve, reject) => {
                host.httpRead(this.handle, (error, bytes) => {
                    if (error || bytes === null)
                        this.readOver();
                    if (error)
                        reject(error);
                    else
                        resolve(bytes);
                });
            });
        }

        readOver() {
            this.isRead = true;
            if (this.isOver)
                host.httpEnd(this.handle);
        }

        // When the client goes away before it has its answer.
        watch() {
            if (this.isWatching || this.isOver)
                return;
            this.isWatching = true;
            host.httpWatch(this.handle, () => this.gone());
        }

        gone() {
            if (this.isOver)
                return;
            this.isOver = true;
            const reason = new DOMException('The client has gone away', 'AbortError');
            host.httpCut(this.handle);
            this.onGone?.(reason);
            this.controller?.abort(reason);
        }

        get signal() {
            if (this.controller === undefined) {
                this.controller = new AbortController();
                this.watch();
            }
            return this.controller.signal;
        }

        // A last word; who still reads the body goes on with that.
        callback() {
            this.isOver = true;
            return this.isReading && !this.isRead ? (error) => (error || this.isRead) && host.httpEnd(this.handle) : undefined;
        }
    }

    function requestOf(exchange) {
        const { handle } = exchange;
        const { Request, makeState } = need('request');
        const { HeaderList } = need('headers');
        const state = makeState();
        const fields = host.httpHeaders(handle);
        const list = new HeaderList('immutable');
        let authority = 'localhost';
        for (let i = 0; i < fields.length; i += 2) {
            list.append(fields[i], fields[i + 1]);
            if (fields[i].length === 4 && fields[i].toLowerCase() === 'host')
                authority = fields[i + 1];
        }
        const target = host.httpTarget(handle);
        state.method = host.httpMethod(handle);
        state.url = urlOf(target, authority);
        state.list = list;
        if (!exchange.isRead)
            state.body = new Body(undefined, { read: () => exchange.read(), cancel() {} }, undefined);
        Object.defineProperty(state, 'signal', { get: () => exchange.signal, configurable: true, enumerable: true });
        return new Request(need('streams_base').INTERNAL, state);
    }

    // What most targets look like is a URL as it stands.
    const plain = /^\/[\w\-.~/%?&=+,:@!$*()]*$/;
    const plainHost = /^[a-z\d\-.]+(?::[1-9]\d*)?$/;

    function urlOf(target, authority) {
        if (plain.test(target) && plainHost.test(authority) && !/%(?![\dA-Fa-f]{2})|\/\.{1,2}(?:\/|$|\?)|%2e/i.test(target)
            && !/^\d|:80$|\.\d+(?::|$)|xn--/.test(authority))
            return `http://${authority}${target}`;
        return new URL(target.startsWith('/') ? `http://${authority}${target}` : target, `http://${authority}`).href;
    }

    // ---- The response ----

    function fieldsOf(list) {
        const fields = [];
        let length;
        for (const [name, value] of list.rawPairs()) {
            const lower = name.toLowerCase();
            if (lower === 'content-length')
                length = value;
            if (!own.has(lower))
                fields.push(name, value);
        }
        return [fields, length];
    }

    function send(exchange, response) {
        const { stateOf } = need('response');
        const state = stateOf(response);
        if (state === undefined)
            throw new TypeError('The handler of a server returns a Response');
        if (state.status < 200)
            throw new RangeError(`A server cannot answer with the status ${state.status}`);
        if (exchange.isOver) {
            discard(state.body);
            return;
        }
        if (state.body !== null && state.body.unusable)
            throw new TypeError('The body of the response has been used');
        const [fields, length] = fieldsOf(state.list);
        const reason = state.statusText === '' ? undefined : state.statusText;
        const isBare = host.httpMethod(exchange.handle) === 'HEAD';
        const bytes = state.body === null ? undefined : state.body.toTransport();
        if (state.body === null || bytes instanceof Uint8Array) {
            if (length !== undefined && state.body === null)
                fields.push('content-length', length);
            host.httpReply(exchange.handle, state.status, fields, reason, false, bytes, exchange.callback());
            return;
        }
        if (length !== undefined)
            fields.push('content-length', length);
        host.httpHead(exchange.handle, state.status, fields, reason, false);
        if (isBare) {
            quietly(bytes.cancel());
            host.httpEnd(exchange.handle, undefined, undefined, exchange.callback());
        } else {
            pump(exchange, bytes);
        }
    }

    const quietly = (promise) => Promise.resolve(promise).catch(() => {});

    function discard(body) {
        if (body !== null && !body.unusable && body.parts === undefined)
            quietly(body.toTransport().cancel(new DOMException('The client has gone away', 'AbortError')));
    }

    const written = (exchange, bytes) => new Promise((resolve, reject) => {
        host.httpWrite(exchange.handle, bytes, (error) => (error ? reject(error) : resolve()));
    });

    // Piece by piece: the next one is asked for when the last has gone.
    async function pump(exchange, source) {
        exchange.onGone = (reason) => quietly(source.cancel(reason));
        exchange.watch();
        try {
            for (let piece; (piece = await source.read()) !== null;) {
                if (exchange.isOver)
                    return;
                await written(exchange, piece);
            }
            if (!exchange.isOver)
                host.httpEnd(exchange.handle, undefined, undefined, exchange.callback());
        } catch (error) {
            if (exchange.isOver)
                return;
            const isLost = error?.syscall === 'http';
            exchange.gone();
            if (!isLost) // the source's own
                exchange.server._report(error, exchange.request);
        }
    }

    // ---- The server ----

    function namesOf(pattern) {
        const names = [...pattern.matchAll(/:(\w+)/g)].map(([, name]) => name);
        return pattern.includes('+') ? [...names, '+'] : names;
    }

    class FetchServer extends Server {
        #options;
        #handler;
        #routes; // [handler, names of parameters]

        constructor(options, handler) {
            super({ ...options, maxBody: options.maxBody ?? MAX_BODY });
            const routes = Object.entries(options.routes ?? {});
            for (const [pattern, route] of routes)
                if (typeof route !== 'function')
                    throw new TypeError(`The route "${pattern}" has no handler`);
            if (handler === undefined && routes.length === 0)
                throw new TypeError('serve needs a handler, or routes');
            this.#options = options;
            this.#handler = handler;
            this.#routes = routes.map(([pattern, route]) => [route, namesOf(pattern)]);
            this._patterns = routes.map(([pattern]) => pattern);
            this._hasRest = handler !== undefined;
        }

        _serve(handle, route) {
            const exchange = new Exchange(handle, this);
            const [handler, names] = route < 0 ? [this.#handler, []] : this.#routes[route];
            const params = {};
            for (const name of names)
                params[name] = host.httpParameter(handle, name);
            const run = () => this.#answer(exchange, handler, params);
            if (this._waits)
                host.go(run);
            else
                run();
        }

        // Whatever the handler does, the client gets an answer.
        #answer(exchange, handler, params) {
            const info = {
                params, server: this,
                get peer() {
                    return need('net_address').parse(host.httpPeer(exchange.handle) ?? undefined);
                },
            };
            try {
                const request = exchange.request = requestOf(exchange);
                const answer = handler(request, info);
                if (isPromise(answer) || typeof answer?.then === 'function')
                    Promise.resolve(answer).then((response) => send(exchange, response))
                        .catch((error) => this.#failed(exchange, error));
                else
                    send(exchange, answer);
            } catch (error) {
                this.#failed(exchange, error);
            }
        }

        async #failed(exchange, error) {
            if (exchange.isOver)
                return;
            let answer;
            try {
                if (this.#options.onError)
                    answer = await this.#options.onError(error, exchange.request);
                else
                    this._report(error, exchange.request);
                if (answer !== undefined) {
                    send(exchange, answer);
                    return;
                }
            } catch (another) {
                this._report(another, exchange.request);
            }
            if (!exchange.isOver)
                host.httpReply(exchange.handle, 500, ['content-type', 'text/plain;charset=UTF-8'], undefined, false,
                    '500 Internal Server Error\n', exchange.callback());
        }

        _report(error, request) {
            if (this.listenerCount('requestError') > 0)
                this.emit('requestError', error, request);
            else
                need('console').console.error(error);
        }

        get url() {
            const where = this.address();
            if (where === null || typeof where === 'string')
                return undefined;
            const name = where.address === '::' || where.address === '0.0.0.0' ? 'localhost' : where.address;
            return `http://${name.includes(':') ? `[${name}]` : name}:${where.port}/`;
        }

        // A promise, or on a fiber the end itself.
        stop() {
            return need('go').wait(new Promise((resolve) => this.close(() => resolve())));
        }
    }

    // serve(handler), serve({ port, hostname, path, routes, onError, fibers, signal, ... }, handler)
    function serve(options, handler) {
        if (typeof options === 'function')
            [options, handler] = [{}, options];
        const server = new FetchServer(options, handler);
        return server.listen({
            port: options.port ?? 8000, host: options.hostname ?? '127.0.0.1', path: options.path, backlog: options.backlog,
            signal: options.signal,
        });
    }

    // ---- A stream of events ----

    const oneLine = (text, what) => {
        if (/[\r\n]/.test(text))
            throw new TypeError(`The ${what} of an event has one line`);
        return text;
    };

    // As text/event-stream has it: a text, or { event, data, id, retry, comment }.
    function eventText(given) {
        const { event, data, id, retry, comment } = typeof given === 'string' ? { data: given } : given;
        let text = '';
        if (comment !== undefined)
            text += String(comment).split(/\r\n|\r|\n/).map((line) => `: ${line}\n`).join('');
        if (event !== undefined)
            text += `event: ${oneLine(String(event), 'name')}\n`;
        if (id !== undefined)
            text += `id: ${oneLine(String(id), 'id')}\n`;
        if (retry !== undefined)
            text += `retry: ${Math.trunc(Number(retry))}\n`;
        if (data !== undefined) {
            const lines = typeof data === 'string' ? data : JSON.stringify(data);
            text += lines.split(/\r\n|\r|\n/).map((line) => `data: ${line}\n`).join('');
        }
        return `${text}\n`;
    }

    // A Response whose body are the events of an iteration, each sent when it comes.
    function eventStream(source, init = undefined) {
        const iterator = (source[Symbol.asyncIterator] ?? source[Symbol.iterator]).call(source);
        const encoder = new TextEncoder();
        const body = new ReadableStream({
            async pull(controller) {
                const { value, done } = await iterator.next();
                if (done)
                    controller.close();
                else
                    controller.enqueue(encoder.encode(eventText(value)));
            },
            async cancel(reason) {
                await iterator.return?.(reason);
            },
        }, { highWaterMark: 0 });
        const response = new Response(body, init);
        const { headers } = response;
        headers.set('content-type', 'text/event-stream');
        if (!headers.has('cache-control'))
            headers.set('cache-control', 'no-cache');
        return response;
    }

    return { serve, eventStream };
})
