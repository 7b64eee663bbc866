// SPDX-License-Identifier: MIT
// js/lib/response.js - Response.
(function (host, need) {
    'use strict';

    const idl = need('idl');
    const { INTERNAL } = need('streams_base');
    const { HeaderList, wrapList, fill, toByteString, needArguments, illegal } = need('headers');
    const { extractBody, addBody } = need('body');

    const nullBodyStatuses = [101, 204, 205, 304];

    let stateOf;

    function makeState(guard) {
        return {
            type: 'default', urls: [], status: 200, statusText: '', list: new HeaderList(guard), headers: undefined,
                body: null,
        };
    }

    function readInit(init, where) {
        if (init === undefined || init === null) {
            return { status: 200, statusText: '', headers: undefined };
        }
        if (!idl.isObject(init)) {
            throw new TypeError(`${where}: Expected ${String(init)} to be one of: Null, Undefined, Object.`);
        }
        const { status, statusText, headers } = init;
        return {
            status: status === undefined ? 200 : idl.toInteger(status, 16, false),
            statusText: statusText === undefined ? '' : toByteString(statusText, 'ResponseInit.statusText'),
            headers,
        };
    }

    // Fills a fresh state from an init and a body {body, type}.
    function initialize(state, init, made) {
        if (init.status < 200 || init.status > 599) {
            throw new RangeError('init["status"] must be in the range of 200 to 599, inclusive.');
        }
        if (init.statusText !== '' && !/^[\t\x20-\x7E\x80-\xFF]*$/.test(init.statusText)) {
            throw new TypeError('Invalid statusText');
        }
        state.status = init.status;
        state.statusText = init.statusText;
        if (init.headers !== undefined && init.headers !== null) {
            fill(state.list, init.headers);
        }
        if (made === null) {
            return;
        }
        if (nullBodyStatuses.includes(init.status)) {
            throw new TypeError('Response constructor: Invalid response status code ' + init.status);
        }
        state.body = made.body;
        if (made.type !== null && !state.list.has('Content-Type')) {
            state.list.append('content-type', made.type);
        }
    }

    function own(value) {
        const state = stateOf(value);
        if (state === undefined) {
            throw illegal();
        }
        return state;
    }

    class Response {
        #s;

        constructor(body = null, init = undefined) {
            if (body === INTERNAL) {
                this.#s = init;
                return;
            }
            const converted = readInit(init, 'undefined');
            this.#s = makeState('response');
            initialize(this.#s, converted, body === null || body === undefined ? null : extractBody(body));
        }

        static {
            stateOf = (value) => (value !== null && typeof value === 'object' && #s in value ? value.#s : undefined);
        }

        static error() {
            const state = makeState('immutable');
            state.type = 'error';
            state.status = 0;
            return makeResponse(state);
        }

        static json(data, init = undefined) {
            needArguments('Response.json', arguments.length, 1);
            const text = JSON.stringify(data);
            if (text === undefined) {
                throw new TypeError('Value is not JSON serializable');
            }
            const converted = readInit(init, 'Response.json');
            const state = makeState('response');
            initialize(state, converted, { body: extractBody(text).body, type: 'application/json' });
            return makeResponse(state);
        }

        static redirect(url, status = 302) {
            needArguments('Response.redirect', arguments.length, 1);
            const text = `${url}`.toWellFormed();
            const code = idl.toInteger(status, 16, false);
            let parsed;
            try {
                parsed = new (need('url').URL)(text);
            } catch (error) {
                throw new TypeError('Failed to parse URL from ' + text, { cause: error });
            }
            if (![301, 302, 303, 307, 308].includes(code)) {
                throw new RangeError('Invalid status code ' + code);
            }
            const state = makeState('immutable');
            state.status = code;
            state.list.append('location', parsed.href);
            return makeResponse(state);
        }

        get type() {
            return own(this).type;
        }

        get url() {
            const { urls } = own(this);
            return urls.length === 0 ? '' : urls[urls.length - 1].replace(/#.*$/s, '');
        }

        get redirected() {
            return own(this).urls.length > 1;
        }

        get status() {
            return own(this).status;
        }

        get ok() {
            const { status } = own(this);
            return status >= 200 && status <= 299;
        }

        get statusText() {
            return own(this).statusText;
        }

        get headers() {
            const state = own(this);
            state.headers ??= wrapList(state.list);
            return state.headers;
        }

        clone() {
            const state = own(this);
            if (state.body !== null && state.body.unusable) {
                throw new TypeError('Response.clone: Body has already been consumed.');
            }
            const copy = makeState(state.list.guard);
            copy.type = state.type;
            copy.urls = state.urls.slice();
            copy.status = state.status;
            copy.statusText = state.statusText;
            copy.list.copyFrom(state.list);
            copy.body = state.body === null ? null : state.body.clone();
            return makeResponse(copy);
        }
    }

    function makeResponse(state) {
        return new Response(INTERNAL, state);
    }

    addBody(Response, stateOf);
    idl.define(Response);
    idl.inspectAs(Response, (r) => ['Response', {
        status: r.status, statusText: r.statusText, headers: r.headers, body: r.body, bodyUsed: r.bodyUsed, ok: r.ok,
        redirected: r.redirected, type: r.type, url: r.url,
    }]);

    return { Response, makeState, makeResponse, nullBodyStatuses, stateOf: (value) => stateOf(value) };
})
