// SPDX-License-Identifier: MIT
// js/lib/http.js - weft:http: servers, in the shape of Node's and in that of fetch.
// host: httpServe(address, handler), httpStop(server),
//       httpMethod, httpTarget, httpIsNew, httpSize, httpHeaders, httpRead(exchange),
//       httpReply(exchange, status, fields, bytes), httpHead(exchange, status, fields), httpWrite(exchange, bytes),
//       httpEnd(exchange, bytes), go(fn, ...), nextTick(fn)
(function (host, need) {
    'use strict';
    const { EventEmitter } = need('events');
    const { withCode } = need('errors');

    const reasons = {
        200: 'OK', 201: 'Created', 202: 'Accepted', 204: 'No Content', 206: 'Partial Content', 301: 'Moved Permanently',
        302: 'Found', 303: 'See Other', 304: 'Not Modified', 307: 'Temporary Redirect', 308: 'Permanent Redirect',
        400: 'Bad Request', 401: 'Unauthorized', 403: 'Forbidden', 404: 'Not Found', 405: 'Method Not Allowed',
        409: 'Conflict', 410: 'Gone', 413: 'Payload Too Large', 415: 'Unsupported Media Type', 418: "I'm a Teapot",
        422: 'Unprocessable Entity', 429: 'Too Many Requests', 500: 'Internal Server Error', 501: 'Not Implemented',
        502: 'Bad Gateway', 503: 'Service Unavailable', 504: 'Gateway Timeout',
    };
    // Of these a request has one; more are dropped. Others are joined.
    const single = new Set(['age', 'authorization', 'content-length', 'content-type', 'etag', 'expires', 'from', 'host',
        'if-modified-since', 'if-unmodified-since', 'last-modified', 'location', 'max-forwards', 'proxy-authorization',
        'referer', 'retry-after', 'server', 'user-agent']);
    // What the server says itself.
    const own = new Set(['connection', 'transfer-encoding', 'date', 'keep-alive']);

    function keep(object, name, value) {
        Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
        return value;
    }

    // One order at a time: the next one when the last has ended, well or badly.
    function inLine(line, fn) {
        line.last = line.last ? line.last.then(fn, fn) : Promise.resolve().then(fn);
        return line.last;
    }

    function bytesOf(chunk, encoding) {
        if (typeof chunk === 'string')
            return !encoding || /^utf-?8$/i.test(encoding) ? chunk : need('buffer').Buffer.from(chunk, encoding);
        if (ArrayBuffer.isView(chunk))
            return chunk instanceof Uint8Array ? chunk : new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength);
        throw need('errors').invalidArgument('chunk', 'string or an instance of Buffer or Uint8Array', chunk);
    }

    // These two are made for every request, so they begin with almost nothing: the rest comes when it is asked for. Emitters
    // need no beginning.
    class IncomingMessage {
        #exchange;
        #headers;
        #raw;
        #reading;

        #line; // of reads and writes, which go one at a time

        constructor(exchange, line) {
            this.#exchange = exchange;
            this.#line = line;
        }

        get method() {
            return host.httpMethod(this.#exchange);
        }

        get url() {
            return keep(this, 'url', host.httpTarget(this.#exchange));
        }

        set url(value) { // routers cut it
            keep(this, 'url', value);
        }

        get httpVersion() {
            return host.httpIsNew(this.#exchange) ? '1.1' : '1.0';
        }

        get complete() {
            return keep(this, 'complete', host.httpSize(this.#exchange) === 0);
        }

        set complete(value) {
            keep(this, 'complete', value);
        }

        get rawHeaders() {
            return this.#raw ??= host.httpHeaders(this.#exchange);
        }

        get headers() {
            if (!this.#headers) {
                const headers = this.#headers = {}, raw = this.rawHeaders;
                for (let i = 0; i < raw.length; i += 2) {
                    const name = raw[i].toLowerCase(), value = raw[i + 1];
                    if (name === 'set-cookie')
                        (headers[name] ??= []).push(value);
                    else if (!Object.hasOwn(headers, name))
                        headers[name] = value;
                    else if (!single.has(name))
                        headers[name] += (name === 'cookie' ? '; ' : ', ') + value;
                }
            }
            return this.#headers;
        }

        // The next piece of the body as a promise; null at its end.
        read() {
            if (this.complete)
                return Promise.resolve(null);
            this.#reading ??= inLine(this.#line, () => host.httpRead(this.#exchange)).then((piece) => {
                this.#reading = undefined;
                this.complete = piece === null;
                return piece && need('buffer').Buffer.from(piece.buffer);
            });
            return this.#reading;
        }

        // As a stream of events, once somebody listens.
        on(name, listener) {
            EventEmitter.prototype.on.call(this, name, listener);
            if ((name === 'data' || name === 'end') && !this.#flows) {
                this.#flows = true;
                host.nextTick(() => this.#flow());
            }
            return this;
        }

        addListener(name, listener) {
            return this.on(name, listener);
        }

        async #flow() {
            try {
                for (let piece; (piece = await this.read()) !== null;)
                    this.emit('data', this.#encoding ? piece.toString(this.#encoding) : piece);
                this.emit('end');
                this.emit('close');
            } catch (error) {
                this.emit('error', error);
            }
        }

        #encoding;
        #flows = false;

        setEncoding(encoding) {
            this.#encoding = encoding;
            return this;
        }

        resume() {
            return this.on('end', () => {});
        }

        async * [Symbol.asyncIterator]() {
            for (let piece; (piece = await this.read()) !== null;)
                yield piece;
        }

        async text() {
            const pieces = [];
            for await (const piece of this)
                pieces.push(piece);
            return need('buffer').Buffer.concat(pieces).toString();
        }

        async json() {
            return JSON.parse(await this.text());
        }
    }

    class ServerResponse {
        #exchange;
        #fields; // name, value, name, value
        #state = 0; // 1: the head has gone, 2: the end
        #line;
        #last; // the last write

        constructor(exchange, line, request) {
            this.#exchange = exchange;
            this.#line = line;
            this.req = request;
            this.statusCode = 200;
        }

        get headersSent() {
            return this.#state > 0;
        }

        get writableEnded() {
            return this.#state > 1;
        }

        get finished() {
            return this.#state > 1;
        }

        #checkUnsent(what) {
            if (this.#state > 0)
                throw withCode(new Error(`Cannot ${what} headers after they are sent to the client`),
                    'ERR_HTTP_HEADERS_SENT');
        }

        #indexOf(name) {
            const fields = this.#fields;
            if (fields === undefined)
                return -1;
            const wanted = name.toLowerCase();
            for (let i = 0; i < fields.length; i += 2)
                if (fields[i].toLowerCase() === wanted)
                    return i;
            return -1;
        }

        setHeader(name, value) {
            this.#checkUnsent('set');
            const index = this.#indexOf(name);
            if (index >= 0)
                this.#fields.splice(index, 2, name, value);
            else
                (this.#fields ??= []).push(name, value);
            return this;
        }

        getHeader(name) {
            const index = this.#indexOf(name);
            return index < 0 ? undefined : this.#fields[index + 1];
        }

        hasHeader(name) {
            return this.#indexOf(name) >= 0;
        }

        removeHeader(name) {
            this.#checkUnsent('remove');
            const index = this.#indexOf(name);
            if (index >= 0)
                this.#fields.splice(index, 2);
        }

        getHeaderNames() {
            return Object.keys(this.getHeaders());
        }

        getHeaders() {
            const headers = Object.create(null), fields = this.#fields ?? [];
            for (let i = 0; i < fields.length; i += 2)
                headers[fields[i].toLowerCase()] = fields[i + 1];
            return headers;
        }

        appendHeader(name, value) {
            const before = this.getHeader(name);
            return this.setHeader(name, before === undefined ? value : [].concat(before, value));
        }

        writeHead(status, message, headers) {
            this.#checkUnsent('write');
            this.statusCode = status;
            if (typeof message === 'string')
                this.statusMessage = message;
            else
                headers = message;
            if (Array.isArray(headers)) {
                for (let i = 0; i < headers.length; i += 2)
                    this.setHeader(headers[i], headers[i + 1]);
            } else if (this.#fields === undefined && headers) {
                const fields = this.#fields = [];
                for (const name in headers)
                    fields.push(name, headers[name]);
            } else {
                for (const name in headers)
                    this.setHeader(name, headers[name]);
            }
            return this;
        }

        flushHeaders() {
            this.write('');
        }

        // As the server wants them: texts, and nothing that it says itself.
        #sent() {
            const fields = this.#fields;
            if (fields === undefined)
                return fields;
            const sent = [];
            for (let i = 0; i < fields.length; i += 2) {
                const name = fields[i], value = fields[i + 1];
                if (name.length <= 17 && own.has(name.toLowerCase()))
                    continue;
                if (typeof value === 'object' && value !== null)
                    for (const one of value)
                        sent.push(name, String(one));
                else
                    sent.push(name, value);
            }
            return sent;
        }

        write(chunk, encoding, callback) {
            const done = typeof encoding === 'function' ? encoding : callback;
            const bytes = bytesOf(chunk, encoding);
            if (this.#state > 1)
                throw withCode(new Error('write after end'), 'ERR_STREAM_WRITE_AFTER_END');
            const fields = this.#state === 0 ? this.#sent() ?? [] : undefined;
            const status = this.statusCode;
            this.#state = 1;
            this.#last = inLine(this.#line, () => {
                if (fields)
                    host.httpHead(this.#exchange, status, fields);
                return host.httpWrite(this.#exchange, bytes);
            }).then(() => {
                done?.();
                this.emit('drain');
            }, (error) => this.emit('error', error));
            return false;
        }

        end(chunk, encoding, callback) {
            if (typeof chunk === 'function')
                [chunk, callback] = [undefined, chunk];
            else if (typeof encoding === 'function')
                [encoding, callback] = [undefined, encoding];
            if (this.#state > 1)
                return this;
            const bytes = chunk === undefined || chunk === null ? undefined : bytesOf(chunk, encoding);
            const isWhole = this.#state === 0;
            this.#state = 2;
            const status = this.statusCode, fields = isWhole ? this.#sent() : undefined;
            const finish = () => (isWhole ? host.httpReply(this.#exchange, status, fields, bytes)
                : host.httpEnd(this.#exchange, bytes));
            if (this.#line.last)
                this.#last = inLine(this.#line, finish).catch((error) => this.emit('error', error));
            else
                finish();
            if (callback || this._events)
                this.#tellEnd(callback);
            return this;
        }

        async #tellEnd(callback) {
            await this.#last;
            host.nextTick(() => {
                callback?.();
                this.emit('finish');
                this.emit('close');
            });
        }
    }

    for (const kind of [IncomingMessage, ServerResponse])
        Object.setPrototypeOf(kind.prototype, EventEmitter.prototype);

    class Server extends EventEmitter {
        #handle;
        #address;
        #runsOnFibers;

        constructor(options, listener) {
            super();
            if (typeof options === 'function')
                [options, listener] = [{}, options];
            this.#runsOnFibers = options?.fibers ?? false;
            this.listening = false;
            if (listener)
                this.on('request', listener);
        }

        // listen(port, host, backlog, callback), listen({ port, host }), listen(path)
        listen(...args) {
            const callback = typeof args.at(-1) === 'function' ? args.pop() : undefined;
            const first = args[0];
            const options = typeof first === 'object' && first !== null ? first
                : typeof first === 'string' && !/^\d+$/.test(first) ? { path: first }
                    : { port: Number(first ?? 0), host: typeof args[1] === 'string' ? args[1] : undefined };
            const where = options.path ? `unix:${options.path}`
                : `${(options.host ?? '*').replace(/^.*:.*$/, '[$&]').replace('localhost', '127.0.0.1')}`
                    + `:${options.port ?? 0}`;
            if (callback)
                this.once('listening', callback);
            try {
                const [handle, address] = host.httpServe(where, (exchange) => this.#serve(exchange));
                this.#handle = handle;
                this.#address = address;
                this.listening = true;
                host.nextTick(() => this.emit('listening'));
            } catch (error) {
                host.nextTick(() => this.emit('error', error));
            }
            return this;
        }

        #serve(exchange) {
            const line = { last: undefined };
            const request = new IncomingMessage(exchange, line);
            const response = new ServerResponse(exchange, line, request);
            const listener = this._events.request;
            if (this.#runsOnFibers)
                host.go(() => this.#answer(request, response));
            else if (typeof listener === 'function')
                listener.call(this, request, response);
            else
                this.emit('request', request, response);
        }

        // On a fiber: a handler that throws costs its own request.
        #answer(request, response) {
            try {
                this.emit('request', request, response);
            } catch (error) {
                if (!response.headersSent)
                    response.writeHead(500).end('500 Internal Server Error\n');
                this.emit('requestError', error, request);
            }
        }

        address() {
            if (!this.#address)
                return null;
            const [, where, port] = this.#address.match(/^\[?(.*?)\]?:(\d+)$/) ?? [null, this.#address];
            return port === undefined ? where.replace(/^unix:/, '')
                : {
                    address: where === '*' ? '::' : where, family: where.includes('.') ? 'IPv4' : 'IPv6',
                    port: Number(port),
                };
        }

        close(callback) {
            if (callback)
                this.once('close', callback);
            if (!this.#handle) {
                host.nextTick(() => this.emit('close'));
                return this;
            }
            const handle = this.#handle;
            this.#handle = undefined;
            this.listening = false;
            host.httpStop(handle).then(() => this.emit('close'));
            return this;
        }

        [Symbol.asyncDispose]() {
            return new Promise((resolve) => this.close(resolve));
        }
    }

    const createServer = (options, listener) => new Server(options, listener);

    // ---- In the shape of fetch: a request in, a response out ----

    function requestOf(message) {
        const { Request } = need('request');
        const authority = message.headers.host ?? 'localhost';
        const hasBody = message.method !== 'GET' && message.method !== 'HEAD' && !message.complete;
        const options = { method: message.method, headers: Object.entries(message.headers) };
        if (hasBody) {
            options.duplex = 'half';
            options.body = need('streams').ReadableStream.from(message);
        }
        return new Request(new URL(message.url, `http://${authority}`), options);
    }

    async function send(response, answer) {
        response.statusCode = answer.status;
        for (const [name, value] of answer.headers)
            response.appendHeader(name, value);
        if (answer.body)
            for await (const piece of answer.body)
                await new Promise((resolve) => response.write(piece, resolve));
        response.end();
    }

    function serve(options, handler) {
        if (typeof options === 'function')
            [options, handler] = [{}, options];
        const server = new Server({}, async (message, response) => {
            let answer;
            try {
                answer = await handler(requestOf(message));
            } catch (error) {
                if (options.onError)
                    answer = await options.onError(error);
                else
                    need('console').console.error(error);
            }
            if (answer)
                await send(response, answer);
            else
                response.writeHead(500).end('500 Internal Server Error\n');
        });
        return server.listen({ port: options.port ?? 8000, host: options.hostname ?? '127.0.0.1', path: options.path });
    }

    const exported = { createServer, serve, Server, IncomingMessage, ServerResponse, STATUS_CODES: reasons };
    return { ...exported, default: exported };
})
