// SPDX-License-Identifier: MIT
// js/lib/url.js - the class URL; URLSearchParams comes from url_search.js.
(function (host, need) {
    'use strict';

    const idl = need('idl');
    const parser = need('url_parse');
    const { percentEncode } = need('url_host');
    const search = need('url_search');

    function invalidURL(input, base) {
        const error = new TypeError('Invalid URL');
        error.code = 'ERR_INVALID_URL';
        error.input = input;
        if (base !== undefined) {
            error.base = base;
        }
        return error;
    }

    // The base that was used last: a server has the same one for all its requests.
    const lastBase = { text: undefined, record: null };

    // The record of a URL and its base, or null if one of them is wrong.
    function parseWithBase(input, base) {
        if (base === undefined) {
            return parser.parse(input, null);
        }
        if (lastBase.text !== base) {
            lastBase.record = parser.parse(base, null);
            lastBase.text = base;
        }
        return lastBase.record === null ? null : parser.parse(input, lastBase.record);
    }

    // The blobs that have an address, until it is revoked.
    const blobs = new Map();

    function cannotHavePort(record) {
        return record.host === null || record.host === '' || record.scheme === 'file';
    }

    // An opaque path that nothing follows any more loses its spaces at the end.
    function stripOpaquePath(record) {
        if (parser.isOpaque(record) && record.fragment === null && record.query === null) {
            record.path = record.path.replace(/ +$/, '');
        }
    }

    class URL {
        #record;
        #params = undefined;
        // The written form, as long as nothing has changed.
        #href = undefined;

        static #of(value) {
            if (typeof value !== 'object' || value === null || !(#record in value)) {
                throw idl.illegalInvocation();
            }
            return value;
        }

        constructor(url, base = undefined) {
            idl.needArguments('URL constructor', arguments.length, 1);
            const input = idl.toUSVString(url);
            base = base === undefined ? undefined : idl.toUSVString(base);
            const record = parseWithBase(input, base);
            if (record === null) {
                throw invalidURL(input, base);
            }
            this.#record = record;
        }

        static parse(url, base = undefined) {
            idl.needArguments('URL.parse', arguments.length, 1);
            const input = idl.toUSVString(url);
            base = base === undefined ? undefined : idl.toUSVString(base);
            const record = parseWithBase(input, base);
            return record === null ? null : new URL(input, base);
        }

        static canParse(url, base = undefined) {
            idl.needArguments('URL.canParse', arguments.length, 1);
            const input = idl.toUSVString(url);
            base = base === undefined ? undefined : idl.toUSVString(base);
            return parseWithBase(input, base) !== null;
        }

        static createObjectURL(blob) {
            if (!need('blob').isBlob(blob)) {
                const error = new TypeError('The "obj" argument must be an instance of Blob');
                error.code = 'ERR_INVALID_ARG_TYPE';
                throw error;
            }
            const address = `blob:nodedata:${need('crypto').crypto.randomUUID()}`;
            blobs.set(address, blob);
            return address;
        }

        static revokeObjectURL(url) {
            idl.needArguments('URL.revokeObjectURL', arguments.length, 1);
            blobs.delete(idl.toUSVString(url));
        }

        // Called when the search parameters of this URL have changed.
        #setQuery(text) {
            this.#href = undefined;
            this.#record.query = text === '' ? null : text;
            stripOpaquePath(this.#record);
        }

        get href() {
            const self = URL.#of(this);
            self.#href ??= parser.serialize(self.#record);
            return self.#href;
        }
        set href(value) {
            const self = URL.#of(this);
            const text = idl.toUSVString(value);
            const record = parser.parse(text, null);
            if (record === null) {
                throw invalidURL(text, undefined);
            }
            self.#record = record;
            self.#href = undefined;
            if (self.#params !== undefined) {
                search.replaceParams(self.#params, record.query ?? '');
            }
        }
        toString() {
            return URL.#of(this).href;
        }
        get origin() {
            return parser.serializeOrigin(URL.#of(this).#record);
        }
        get protocol() {
            return `${URL.#of(this).#record.scheme}:`;
        }
        set protocol(value) {
            const self = URL.#of(this);
            self.#part(`${idl.toUSVString(value)}:`, 'schemeStart');
        }
        get username() {
            return URL.#of(this).#record.username;
        }
        set username(value) {
            const self = URL.#of(this);
            const text = idl.toUSVString(value);
            if (!cannotHavePort(self.#record)) {
                self.#href = undefined;
                self.#record.username = percentEncode(text, 'userinfo');
            }
        }
        get password() {
            return URL.#of(this).#record.password;
        }
        set password(value) {
            const self = URL.#of(this);
            const text = idl.toUSVString(value);
            if (!cannotHavePort(self.#record)) {
                self.#href = undefined;
                self.#record.password = percentEncode(text, 'userinfo');
            }
        }
        get host() {
            return parser.serializeHost(URL.#of(this).#record);
        }
        set host(value) {
            const self = URL.#of(this);
            const text = idl.toUSVString(value);
            if (!parser.isOpaque(self.#record)) {
                self.#part(text, 'host');
            }
        }
        get hostname() {
            return URL.#of(this).#record.host ?? '';
        }
        set hostname(value) {
            const self = URL.#of(this);
            const text = idl.toUSVString(value);
            if (!parser.isOpaque(self.#record)) {
                self.#part(text, 'hostname');
            }
        }
        get port() {
            const port = URL.#of(this).#record.port;
            return port === null ? '' : `${port}`;
        }
        set port(value) {
            const self = URL.#of(this);
            const text = idl.toUSVString(value);
            if (cannotHavePort(self.#record)) {
                return;
            }
            if (text === '') {
                self.#href = undefined;
                self.#record.port = null;
            } else {
                self.#part(text, 'port');
            }
        }
        get pathname() {
            return parser.serializePath(URL.#of(this).#record);
        }
        set pathname(value) {
            const self = URL.#of(this);
            const text = idl.toUSVString(value);
            if (!parser.isOpaque(self.#record)) {
                self.#record.path = [];
                self.#part(text, 'pathStart');
            }
        }
        get search() {
            const query = URL.#of(this).#record.query;
            return query === null || query === '' ? '' : `?${query}`;
        }
        set search(value) {
            const self = URL.#of(this);
            const given = idl.toUSVString(value);
            const text = given[0] === '?' ? given.slice(1) : given;
            if (given === '') {
                self.#setQuery('');
            } else {
                self.#record.query = '';
                self.#part(text, 'query');
            }
            if (self.#params !== undefined) {
                search.replaceParams(self.#params, text);
            }
        }
        get searchParams() {
            const self = URL.#of(this);
            self.#params ??= search.makeParams(self.#record.query ?? '', (text) => self.#setQuery(text));
            return self.#params;
        }
        get hash() {
            const fragment = URL.#of(this).#record.fragment;
            return fragment === null || fragment === '' ? '' : `#${fragment}`;
        }
        set hash(value) {
            const self = URL.#of(this);
            const text = idl.toUSVString(value);
            if (text === '') {
                self.#href = undefined;
                self.#record.fragment = null;
                stripOpaquePath(self.#record);
            } else {
                self.#record.fragment = '';
                self.#part(text[0] === '#' ? text.slice(1) : text, 'fragment');
            }
        }
        toJSON() {
            return URL.#of(this).href;
        }

        #part(text, state) {
            this.#href = undefined;
            parser.parsePart(text, this.#record, state);
        }
    }
    idl.define(URL);
    idl.inspectAs(URL, (url) => [url.constructor.name, {
        href: url.href, origin: url.origin, protocol: url.protocol, username: url.username, password: url.password,
        host: url.host, hostname: url.hostname, port: url.port, pathname: url.pathname, search: url.search,
        searchParams: url.searchParams, hash: url.hash,
    }], 'empty');

    // The blob of an address from createObjectURL, for fetch and for node:buffer.
    function resolveObjectURL(address) {
        return blobs.get(address);
    }

    return { URL, URLSearchParams: search.URLSearchParams, isURLSearchParams: search.isURLSearchParams, resolveObjectURL };
})
