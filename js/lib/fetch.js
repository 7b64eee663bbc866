// SPDX-License-Identifier: MIT
// js/lib/fetch.js - fetch() over the host's transport.
// host: fetch(request) -> promise of {status, statusText, headers: [[name, value]...], body}. The request is
// {method, url, headers: [[name, value]...], body, signal}; its body is null, a Uint8Array, or an object with read() ->
// promise of Uint8Array or null, and cancel(reason). The answer's body is null or such an object too. One call is one
// exchange: redirects are followed here. The signal aborts the exchange: watch it with need('abort').addAlgorithm.
(function (host, need) {
    'use strict';

    const { Body } = need('body');
    const { makeState, makeResponse, nullBodyStatuses } = need('response');
    const { isToken } = need('headers');

    const isRedirect = (status) => [301, 302, 303, 307, 308].includes(status);

    function networkError(cause) {
        return new TypeError('fetch failed', { cause: typeof cause === 'string' ? new Error(cause) : cause });
    }

    // One fetch with its state: the request and the addresses that it went to.
    class Exchange {
        constructor(request) {
            this.request = request;
            this.method = request.method;
            this.list = request.list;
            this.body = request.body;
            this.urls = [request.url];
            this.url = new (need('url').URL)(request.url);
        }

        run() {
            switch (this.url.protocol) {
            case 'http:':
            case 'https:':
                return this.follow();
            case 'data:':
                return this.data();
            case 'about:':
                throw networkError('about scheme is not supported');
            case 'blob:':
                return this.blob();
            case 'file:':
                throw networkError('files are read with node:fs, not fetched');
            default:
                throw networkError('unknown scheme');
            }
        }

        data() {
            const found = need('fetch_data').readDataUrl(this.url.href);
            if (found === undefined) {
                throw networkError('failed to fetch the data URL');
            }
            const state = this.local([found.bytes]);
            state.list.append('content-type', found.type);
            if (this.method === 'HEAD') {
                state.body = null;
            }
            return state;
        }

        blob() {
            const blob = need('url').resolveObjectURL(this.url.href.replace(/#.*$/s, ''));
            if (this.method !== 'GET' || blob === undefined) {
                throw networkError('invalid method');
            }
            const { parts, size, type } = need('blob').partsOf(blob);
            const state = this.local(parts);
            state.list.append('content-length', String(size));
            state.list.append('content-type', type);
            return state;
        }

        // An answer that needs no network.
        local(parts) {
            const state = makeState('immutable');
            state.type = 'basic';
            state.urls = this.urls;
            state.statusText = 'OK';
            state.body = new Body(parts, undefined, undefined);
            return state;
        }

        // Exchanges until an answer is none that redirects.
        async follow() {
            for (let count = 0; ; count++) {
                const answer = await this.once();
                if (!isRedirect(answer.status) || this.request.redirect === 'manual') {
                    return this.toState(answer);
                }
                if (this.request.redirect === 'error') {
                    discard(answer);
                    throw networkError('unexpected redirect');
                }
                const location = answer.headers.find(([name]) => name.toLowerCase() === 'location');
                if (location === undefined) {
                    return this.toState(answer);
                }
                discard(answer);
                this.redirect(location[1], answer.status, count);
            }
        }

        async once() {
            if (need('fetch_data').isBadPort(this.url)) {
                throw networkError('bad port');
            }
            const { request } = this;
            const sent = {
                method: this.method,
                url: this.url.href.replace(/#.*$/s, ''),
                headers: this.headers(),
                body: this.body === null ? null : this.body.toTransport(),
                signal: request.signal,
            };
            try {
                return await host.fetch(sent);
            } catch (error) {
                throw networkError(error);
            }
        }

        // The headers to send, with those that every request has.
        headers() {
            const pairs = this.list.rawPairs();
            const add = (name, value) => {
                if (!this.list.has(name)) {
                    pairs.push([name, value]);
                }
            };
            add('accept', '*/*');
            add('accept-language', '*');
            for (const [name, value] of this.cacheHeaders()) {
                add(name, value);
            }
            if (this.list.has('range')) {
                add('accept-encoding', 'identity');
            }
            add('sec-fetch-mode', this.request.mode);
            add('user-agent', 'weft');
            if (this.body !== null && this.body.length !== undefined) {
                add('content-length', String(this.body.length));
            } else if (this.body === null && (this.method === 'POST' || this.method === 'PUT')) {
                add('content-length', '0');
            }
            return pairs;
        }

        // What caches on the way are told; who asks with a condition wants to know it from the server itself.
        cacheHeaders() {
            const { cache } = this.request;
            const hasCondition = ['if-modified-since', 'if-none-match', 'if-unmodified-since', 'if-match', 'if-range']
                .some((name) => this.list.has(name));
            if (cache === 'no-store' || cache === 'reload' || (cache === 'default' && hasCondition)) {
                return [['pragma', 'no-cache'], ['cache-control', 'no-cache']];
            }
            return cache === 'no-cache' ? [['cache-control', 'max-age=0']] : [];
        }

        // Sets up the next exchange.
        redirect(location, status, count) {
            let next;
            try {
                next = new (need('url').URL)(location, this.url.href);
            } catch (error) {
                throw networkError(error);
            }
            if (next.hash === '') {
                next.hash = this.url.hash;
            }
            if (next.protocol !== 'http:' && next.protocol !== 'https:') {
                throw networkError('URL scheme must be a HTTP(S) scheme');
            }
            if (count >= 20) {
                throw networkError('redirect count exceeded');
            }
            const sameOrigin = next.origin === this.url.origin;
            if (this.request.mode === 'cors' && (next.username !== '' || next.password !== '') && !sameOrigin) {
                throw networkError('cross origin not allowed for request mode "cors"');
            }
            if (status !== 303 && this.body !== null && !this.body.replayable) {
                throw networkError(new Error());
            }
            const list = new (need('headers').HeaderList)('request');
            list.copyFrom(this.list);
            if ((status === 301 || status === 302) && this.method === 'POST' ||
                status === 303 && this.method !== 'GET' && this.method !== 'HEAD') {
                this.method = 'GET';
                this.body = null;
                for (const name of ['content-encoding', 'content-language', 'content-location', 'content-type',
                    'content-length']) {
                    list.delete(name);
                }
            }
            if (!sameOrigin) {
                for (const name of ['authorization', 'proxy-authorization', 'cookie', 'host']) {
                    list.delete(name);
                }
            }
            if (this.body !== null) {
                this.body = new Body(this.body.parts, undefined, undefined);
            }
            this.list = list;
            this.url = next;
            this.urls.push(next.href);
        }

        toState(answer) {
            const state = makeState('immutable');
            state.type = 'basic';
            state.urls = this.urls;
            state.status = answer.status;
            state.statusText = answer.statusText;
            for (const [name, value] of answer.headers) {
                if (isToken(name)) {
                    state.list.append(name, value);
                }
            }
            if (this.method === 'HEAD' || this.method === 'CONNECT' || nullBodyStatuses.includes(answer.status)) {
                discard(answer);
            } else {
                const pump = answer.body === null ? { read: () => Promise.resolve(null), cancel() {} } : answer.body;
                state.body = new Body(undefined, guardPump(pump, this.request.signal), undefined);
            }
            return state;
        }
    }

    function discard(answer) {
        if (answer.body !== null && answer.body !== undefined) {
            try {
                Promise.resolve(answer.body.cancel()).catch(() => {});
            } catch {
                // Nobody waits for this body any more.
            }
        }
    }

    // The transport's body, with errors as programs know them, and ended by the signal.
    function guardPump(pump, signal) {
        const { addAlgorithm, removeAlgorithm } = need('abort');
        // How to end the read that waits.
        let stop;
        const onAbort = () => {
            if (stop !== undefined) {
                stop(signal.reason);
            }
            discard({ body: pump });
        };
        const end = () => removeAlgorithm(signal, onAbort);
        addAlgorithm(signal, onAbort);
        const readOne = () => new Promise((resolve, reject) => {
            stop = reject;
            pump.read().then(resolve, reject);
        });
        return {
            async read() {
                if (signal.aborted) {
                    throw signal.reason;
                }
                try {
                    const chunk = await readOne();
                    if (chunk === null) {
                        end();
                    }
                    return chunk;
                } catch (error) {
                    end();
                    throw signal.aborted ? signal.reason : new TypeError('terminated', { cause: error });
                } finally {
                    stop = undefined;
                }
            },
            cancel(reason) {
                end();
                return pump.cancel(reason);
            },
        };
    }

    function start(request, resolve, reject) {
        const { addAlgorithm, removeAlgorithm } = need('abort');
        const { signal } = request;
        const giveUp = () => {
            if (request.body !== null && !request.body.replayable) {
                const stream = request.body.stream;
                if (stream !== undefined && !stream.locked) {
                    stream.cancel(signal.reason).catch(() => {});
                }
            }
            reject(signal.reason);
        };
        if (signal.aborted) {
            giveUp();
            return;
        }
        addAlgorithm(signal, giveUp);
        const run = async () => new Exchange(request).run();
        run().then((state) => {
            removeAlgorithm(signal, giveUp);
            resolve(makeResponse(state));
        }, (error) => {
            removeAlgorithm(signal, giveUp);
            reject(error);
        });
    }

    function fetch(input, init = undefined) {
        return new Promise((resolve, reject) => start(need('request').build(input, init), resolve, reject));
    }

    return { fetch };
})
