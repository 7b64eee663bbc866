// SPDX-License-Identifier: MIT
// js/lib/request.js - Request.
(function (host, need) {
    'use strict';

    const idl = need('idl');
    const { INTERNAL } = need('streams_base');
    const { HeaderList, wrapList, isHeaders, listOf, fill, isToken, toByteString, needArguments, illegal } = need('headers');
    const { extractBody, addBody } = need('body');

    const choices = {
        referrerPolicy: ['', 'no-referrer', 'no-referrer-when-downgrade', 'same-origin', 'origin', 'strict-origin',
            'origin-when-cross-origin', 'strict-origin-when-cross-origin', 'unsafe-url'],
        mode: ['navigate', 'same-origin', 'no-cors', 'cors'],
        credentials: ['omit', 'same-origin', 'include'],
        cache: ['default', 'no-store', 'reload', 'no-cache', 'force-cache', 'only-if-cached'],
        redirect: ['follow', 'manual', 'error'],
        duplex: ['half'],
    };

    let stateOf;

    function choose(init, key) {
        const value = init[key];
        if (value === undefined) {
            return undefined;
        }
        const text = `${value}`;
        if (!choices[key].includes(text)) {
            throw new TypeError(`Request constructor: ${text} is not an accepted type. Expected one of ` +
                `${choices[key].join(', ')}.`);
        }
        return text;
    }

    function text(init, key) {
        const value = init[key];
        return value === undefined ? undefined : `${value}`.toWellFormed();
    }

    function readSignal(init) {
        const { signal } = init;
        if (signal === undefined || signal === null) {
            return signal;
        }
        if (!need('abort').isAbortSignal(signal)) {
            throw new TypeError('Failed to construct \'Request\': member signal is not of type AbortSignal.');
        }
        return signal;
    }

    // The members of an init, each read once and converted. undefined stands for a member that is not there.
    function readInit(init) {
        if (init === undefined || init === null) {
            return undefined;
        }
        if (!idl.isObject(init)) {
            throw new TypeError(`Request constructor: Expected ${String(init)} to be one of: Null, Undefined, Object.`);
        }
        const { method } = init;
        const members = {
            method: method === undefined ? undefined : toByteString(method, 'RequestInit.method'),
            headers: init.headers,
            body: init.body,
            referrer: text(init, 'referrer'),
            referrerPolicy: choose(init, 'referrerPolicy'),
            mode: choose(init, 'mode'),
            credentials: choose(init, 'credentials'),
            cache: choose(init, 'cache'),
            redirect: choose(init, 'redirect'),
            integrity: init.integrity,
            keepalive: init.keepalive,
            signal: readSignal(init),
            window: init.window,
            duplex: choose(init, 'duplex'),
        };
        if (members.integrity !== undefined) {
            members.integrity = `${members.integrity}`;
        }
        return members;
    }

    const isEmpty = (members) => members === undefined || Object.values(members).every((value) => value === undefined);

    function makeState() {
        return {
            method: 'GET', url: '', list: new HeaderList('request'), headers: undefined, body: null, destination: '',
            referrer: 'about:client', referrerPolicy: '', mode: 'cors', credentials: 'same-origin', cache: 'default',
            redirect: 'follow', integrity: '', keepalive: false, signal: undefined,
        };
    }

    const copied = ['method', 'url', 'referrer', 'referrerPolicy', 'mode', 'credentials', 'cache', 'redirect', 'integrity',
        'keepalive'];

    function copyState(state) {
        const copy = makeState();
        for (const key of copied) {
            copy[key] = state[key];
        }
        copy.list.copyFrom(state.list);
        return copy;
    }

    function parseAddress(address) {
        let url;
        try {
            url = new (need('url').URL)(address);
        } catch (error) {
            throw new TypeError('Failed to parse URL from ' + address, { cause: error });
        }
        if (url.username !== '' || url.password !== '') {
            throw new TypeError('Request cannot be constructed from a URL that includes credentials: ' + address);
        }
        return url.href;
    }

    function applyReferrer(state, referrer) {
        if (referrer === '') {
            state.referrer = 'no-referrer';
            return;
        }
        let url;
        try {
            url = new (need('url').URL)(referrer);
        } catch (error) {
            throw new TypeError(`Referrer "${referrer}" is not a valid URL.`, { cause: error });
        }
        state.referrer = url.protocol === 'about:' && url.hostname === 'client' ? 'about:client' : url.href;
    }

    function applyMethod(state, method) {
        if (!isToken(method)) {
            throw new TypeError(`'${method}' is not a valid HTTP method.`);
        }
        const upper = method.toUpperCase();
        if (['CONNECT', 'TRACE', 'TRACK'].includes(upper)) {
            throw new TypeError(`'${method}' HTTP method is unsupported.`);
        }
        state.method = ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'POST', 'PUT'].includes(upper) ? upper : method;
    }

    // Everything of an init but headers, body and signal.
    function applyInit(state, members) {
        if (state.mode === 'navigate') {
            state.mode = 'same-origin';
        }
        state.referrer = 'about:client';
        state.referrerPolicy = '';
        if (members.referrer !== undefined) {
            applyReferrer(state, members.referrer);
        }
        if (members.mode === 'navigate') {
            throw new TypeError('Request constructor: invalid request mode navigate.');
        }
        for (const key of ['referrerPolicy', 'mode', 'credentials', 'cache']) {
            if (members[key] !== undefined) {
                state[key] = members[key];
            }
        }
        if (state.cache === 'only-if-cached' && state.mode !== 'same-origin') {
            throw new TypeError('\'only-if-cached\' can be set only with \'same-origin\' mode');
        }
        if (members.redirect !== undefined) {
            state.redirect = members.redirect;
        }
        if (members.integrity !== undefined) {
            state.integrity = members.integrity;
        }
        if (members.keepalive !== undefined) {
            state.keepalive = !!members.keepalive;
        }
        if (members.method !== undefined) {
            applyMethod(state, members.method);
        }
    }

    function applyHeaders(state, members) {
        if (state.mode === 'no-cors' && !['GET', 'HEAD', 'POST'].includes(state.method)) {
            throw new TypeError(`'${state.method} is unsupported in no-cors mode.`);
        }
        if (members === undefined || members.headers === undefined) {
            return;
        }
        state.list = new HeaderList('request');
        if (isHeaders(members.headers)) {
            state.list.copyFrom(listOf(members.headers));
        } else {
            fill(state.list, members.headers);
        }
    }

    function applyBody(state, members, input) {
        const given = members === undefined || members.body === null ? undefined : members.body;
        const inherited = input === undefined ? null : input.body;
        if ((given !== undefined || inherited !== null) && (state.method === 'GET' || state.method === 'HEAD')) {
            throw new TypeError('Request with GET/HEAD method cannot have body.');
        }
        if (given !== undefined) {
            const { body, type } = extractBody(given);
            if (type !== null && !state.list.has('content-type')) {
                state.list.append('content-type', type);
            }
            if (!body.replayable) {
                if (members.duplex === undefined) {
                    throw new TypeError('RequestInit: duplex option is required when sending a body.');
                }
                if (state.mode !== 'same-origin' && state.mode !== 'cors') {
                    throw new TypeError('If request is made from ReadableStream, mode should be "same-origin" or "cors"');
                }
            }
            state.body = body;
        } else if (inherited !== null) {
            if (inherited.unusable) {
                throw new TypeError('Cannot construct a Request with a Request object that has already been used.');
            }
            state.body = inherited.handOver();
        }
    }

    function followSignal(signal) {
        const { AbortSignal, createSignal } = need('abort');
        return signal === undefined || signal === null ? createSignal() : AbortSignal.any([signal]);
    }

    // The work of the constructor; fetch uses it too.
    function build(input, init) {
        const source = stateOf(input);
        const address = source === undefined ? `${input}`.toWellFormed() : undefined;
        const members = readInit(init);
        let state;
        let signal;
        if (source === undefined) {
            state = makeState();
            state.url = parseAddress(address);
        } else {
            state = copyState(source);
            signal = source.signal;
        }
        if (members !== undefined && members.window !== undefined && members.window !== null) {
            throw new TypeError('\'window\' option \'client\' must be null');
        }
        if (!isEmpty(members)) {
            applyInit(state, members);
            if (members.signal !== undefined) {
                signal = members.signal;
            }
        }
        state.signal = followSignal(signal);
        applyHeaders(state, members);
        applyBody(state, members, source);
        return state;
    }

    function own(value) {
        const state = stateOf(value);
        if (state === undefined) {
            throw illegal();
        }
        return state;
    }

    class Request {
        #s;

        constructor(input, init = undefined) {
            if (input === INTERNAL) {
                this.#s = init;
                return;
            }
            needArguments('Request constructor', arguments.length, 1);
            this.#s = build(input, init);
        }

        static {
            stateOf = (value) => (value !== null && typeof value === 'object' && #s in value ? value.#s : undefined);
        }

        get method() {
            return own(this).method;
        }

        get url() {
            return own(this).url;
        }

        get headers() {
            const state = own(this);
            state.headers ??= wrapList(state.list);
            return state.headers;
        }

        get destination() {
            return own(this).destination;
        }

        get referrer() {
            const { referrer } = own(this);
            return referrer === 'no-referrer' ? '' : referrer;
        }

        get referrerPolicy() {
            return own(this).referrerPolicy;
        }

        get mode() {
            return own(this).mode;
        }

        get credentials() {
            return own(this).credentials;
        }

        get cache() {
            return own(this).cache;
        }

        get redirect() {
            return own(this).redirect;
        }

        get integrity() {
            return own(this).integrity;
        }

        get keepalive() {
            return own(this).keepalive;
        }

        get isReloadNavigation() {
            own(this);
            return false;
        }

        get isHistoryNavigation() {
            own(this);
            return false;
        }

        get signal() {
            return own(this).signal;
        }

        get duplex() {
            own(this);
            return 'half';
        }

        clone() {
            const state = own(this);
            if (state.body !== null && state.body.unusable) {
                throw new TypeError('unusable');
            }
            const copy = copyState(state);
            copy.body = state.body === null ? null : state.body.clone();
            copy.signal = followSignal(state.signal);
            return new Request(INTERNAL, copy);
        }
    }

    addBody(Request, stateOf);
    idl.define(Request);
    const shown = ['method', 'url', 'headers', 'destination', 'referrer', 'referrerPolicy', 'mode', 'credentials', 'cache',
        'redirect', 'integrity', 'keepalive', 'isReloadNavigation', 'isHistoryNavigation', 'signal'];
    idl.inspectAs(Request, (request) =>
        ['Request', Object.fromEntries(shown.map((key) => [key, request[key]]))]);

    return { Request, build, makeState };
})
