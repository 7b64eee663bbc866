// SPDX-License-Identifier: MIT
// js/lib/url_parse.js - the parser and the serializer of URLs, state by state as the URL standard has them.
(function (host, need) {
    'use strict';

    const { parseHost, percentEncode } = need('url_host');

    // The special schemes and their default ports.
    const specialPorts = { __proto__: null, 'http': 80, 'https': 443, 'ws': 80, 'wss': 443, 'ftp': 21, 'file': null };

    function isSpecial(url) {
        return url.scheme in specialPorts;
    }

    function isOpaque(url) {
        return typeof url.path === 'string';
    }

    function hasCredentials(url) {
        return url.username !== '' || url.password !== '';
    }

    function isDriveLetter(text) {
        return /^[A-Za-z][:|]$/.test(text);
    }

    function isNormalDriveLetter(text) {
        return /^[A-Za-z]:$/.test(text);
    }

    function startsWithDriveLetter(text, at) {
        return /^[A-Za-z][:|](?:[/\\?#]|$)/.test(text.slice(at, at + 3));
    }

    function isSingleDot(segment) {
        return segment === '.' || /^%2e$/i.test(segment);
    }

    function isDoubleDot(segment) {
        return segment === '..' || /^(?:\.|%2e){2}$/i.test(segment);
    }

    function shortenPath(url) {
        const path = url.path;
        if (url.scheme === 'file' && path.length === 1 && isNormalDriveLetter(path[0])) {
            return;
        }
        path.pop();
    }

    // The colon before the port: one that is not between the brackets of an IPv6 address.
    function findPort(text) {
        if (!text.includes('[')) {
            return text.indexOf(':');
        }
        let inside = false;
        for (let i = 0; i < text.length; i++) {
            const c = text[i];
            if (c === ':' && !inside) {
                return i;
            }
            inside = c === '[' || (inside && c !== ']');
        }
        return -1;
    }

    function newRecord() {
        return {
            scheme: '', username: '', password: '', host: null, port: null, path: [], query: null, fragment: null,
        };
    }

    // The states that can end a run beside the next one to go to.
    const done = Symbol('done');
    const failure = Symbol('failure');

    class Parser {
        constructor(input, base, url, override) {
            this.input = input;
            this.at = 0;
            this.base = base;
            this.url = url;
            // The state in which a setter starts the parser; undefined for a whole URL.
            this.override = override;
        }

        run(state) {
            while (state !== done && state !== failure) {
                state = this[state]();
            }
            return state === done;
        }

        isEnd(c) {
            return c === undefined || c === '/' || c === '?' || c === '#' || (c === '\\' && isSpecial(this.url));
        }

        isSlash(c) {
            return c === '/' || (c === '\\' && isSpecial(this.url));
        }

        copy(...names) {
            for (const name of names) {
                const value = this.base[name];
                this.url[name] = name === 'path' ? value.slice() : value;
            }
        }

        schemeStart() {
            const match = /^[A-Za-z][A-Za-z0-9+.-]*:/.exec(this.input);
            if (match === null) {
                return this.override === undefined ? 'noScheme' : failure;
            }
            this.at = match[0].length;
            return this.scheme(match[0].slice(0, -1).toLowerCase());
        }

        scheme(name) {
            const { url, base } = this;
            if (this.override !== undefined) {
                if (isSpecial(url) !== name in specialPorts ||
                    (name === 'file' && (hasCredentials(url) || url.port !== null)) ||
                    (url.scheme === 'file' && (url.host === '' || url.host === null))) {
                    return done;
                }
                url.scheme = name;
                if (url.port === specialPorts[name]) {
                    url.port = null;
                }
                return done;
            }
            url.scheme = name;
            if (name === 'file') {
                return 'file';
            }
            if (isSpecial(url)) {
                return base !== null && base.scheme === name ? 'specialRelativeOrAuthority' : 'specialAuthoritySlashes';
            }
            if (this.input[this.at] === '/') {
                this.at++;
                return 'pathOrAuthority';
            }
            url.path = '';
            return 'opaquePath';
        }

        noScheme() {
            const { url, base } = this;
            const c = this.input[this.at];
            if (base === null || (isOpaque(base) && c !== '#')) {
                return failure;
            }
            if (isOpaque(base)) {
                this.copy('scheme', 'path', 'query');
                this.at++;
                url.fragment = '';
                return 'fragment';
            }
            return base.scheme === 'file' ? 'file' : 'relative';
        }

        specialRelativeOrAuthority() {
            if (this.input.startsWith('//', this.at)) {
                this.at += 2;
                return 'specialAuthorityIgnoreSlashes';
            }
            return 'relative';
        }

        pathOrAuthority() {
            if (this.input[this.at] === '/') {
                this.at++;
                return 'authority';
            }
            this.at--;
            return 'pathStart';
        }

        relative() {
            const { url, base } = this;
            url.scheme = base.scheme;
            const c = this.input[this.at];
            if (this.isSlash(c)) {
                this.at++;
                return 'relativeSlash';
            }
            this.copy('username', 'password', 'host', 'port', 'path', 'query');
            return this.afterBase(c);
        }

        // What follows a base whose path was taken over.
        afterBase(c) {
            const { url } = this;
            if (c === '?' || c === '#') {
                this.at++;
                url[c === '?' ? 'query' : 'fragment'] = '';
                return c === '?' ? 'query' : 'fragment';
            }
            if (c === undefined) {
                return done;
            }
            url.query = null;
            if (url.scheme === 'file' && startsWithDriveLetter(this.input, this.at)) {
                url.path = [];
            } else {
                shortenPath(url);
            }
            return 'path';
        }

        relativeSlash() {
            const c = this.input[this.at];
            if (isSpecial(this.url) && (c === '/' || c === '\\')) {
                this.at++;
                return 'specialAuthorityIgnoreSlashes';
            }
            if (c === '/') {
                this.at++;
                return 'authority';
            }
            this.copy('username', 'password', 'host', 'port');
            return 'path';
        }

        specialAuthoritySlashes() {
            if (this.input.startsWith('//', this.at)) {
                this.at += 2;
            }
            return 'specialAuthorityIgnoreSlashes';
        }

        specialAuthorityIgnoreSlashes() {
            while (this.input[this.at] === '/' || this.input[this.at] === '\\') {
                this.at++;
            }
            return 'authority';
        }

        // Where the authority ends that begins here.
        findEnd() {
            const rest = isSpecial(this.url) ? /[/?#\\]/g : /[/?#]/g;
            rest.lastIndex = this.at;
            const match = rest.exec(this.input);
            return match === null ? this.input.length : match.index;
        }

        // Looks for the last @ before the path: what is before it are the credentials.
        authority() {
            const { url, input } = this;
            const end = this.findEnd();
            const sign = input.lastIndexOf('@', end - 1);
            if (sign < this.at) {
                return 'host';
            }
            if (sign + 1 === end) {
                return failure;
            }
            const credentials = input.slice(this.at, sign);
            const colon = credentials.indexOf(':');
            url.username = percentEncode(colon < 0 ? credentials : credentials.slice(0, colon), 'userinfo');
            url.password = colon < 0 ? '' : percentEncode(credentials.slice(colon + 1), 'userinfo');
            this.at = sign + 1;
            return 'host';
        }

        host() {
            const { url, input, override } = this;
            if (override !== undefined && url.scheme === 'file') {
                return 'fileHost';
            }
            let text = input.slice(this.at, this.findEnd());
            const colon = findPort(text);
            if (colon >= 0) {
                text = text.slice(0, colon);
                if (text === '' || override === 'hostname') {
                    return failure;
                }
            }
            if (text === '' && (isSpecial(url) || (override !== undefined && (hasCredentials(url) || url.port !== null)))) {
                return failure;
            }
            const parsed = parseHost(text, !isSpecial(url));
            if (parsed === undefined) {
                return failure;
            }
            url.host = parsed;
            this.at += text.length;
            if (colon >= 0) {
                this.at++;
                return 'port';
            }
            return override === undefined ? 'pathStart' : done;
        }

        hostname() {
            return this.host();
        }

        port() {
            const { url, input, override } = this;
            const digits = /^[0-9]*/.exec(input.slice(this.at))[0];
            const c = input[this.at + digits.length];
            if (!this.isEnd(c) && override === undefined) {
                return failure;
            }
            if (digits !== '') {
                const port = Number(digits);
                if (port > 65535) {
                    return failure;
                }
                url.port = port === specialPorts[url.scheme] ? null : port;
            }
            if (override !== undefined) {
                return done;
            }
            this.at += digits.length;
            return 'pathStart';
        }

        file() {
            const { url, base, input } = this;
            url.scheme = 'file';
            url.host = '';
            const c = input[this.at];
            if (c === '/' || c === '\\') {
                this.at++;
                return 'fileSlash';
            }
            if (base === null || base.scheme !== 'file') {
                return 'path';
            }
            this.copy('host', 'path', 'query');
            return this.afterBase(c);
        }

        fileSlash() {
            const { url, base, input } = this;
            const c = input[this.at];
            if (c === '/' || c === '\\') {
                this.at++;
                return 'fileHost';
            }
            if (base !== null && base.scheme === 'file') {
                url.host = base.host;
                if (!startsWithDriveLetter(input, this.at) && base.path.length > 0 && isNormalDriveLetter(base.path[0])) {
                    url.path.push(base.path[0]);
                }
            }
            return 'path';
        }

        fileHost() {
            const { url, input, override } = this;
            const text = /^[^/\\?#]*/.exec(input.slice(this.at))[0];
            if (override === undefined && isDriveLetter(text)) {
                return 'path';
            }
            if (text === '') {
                url.host = '';
            } else {
                const parsed = parseHost(text, !isSpecial(url));
                if (parsed === undefined) {
                    return failure;
                }
                url.host = parsed === 'localhost' ? '' : parsed;
            }
            this.at += text.length;
            return override === undefined ? 'pathStart' : done;
        }

        pathStart() {
            const { url, input, override } = this;
            const c = input[this.at];
            if (isSpecial(url)) {
                if (this.isSlash(c)) {
                    this.at++;
                }
                return 'path';
            }
            if (override === undefined && (c === '?' || c === '#')) {
                return this.endPath(c);
            }
            if (c !== undefined) {
                if (c === '/') {
                    this.at++;
                }
                return 'path';
            }
            if (override !== undefined && url.host === null) {
                url.path.push('');
            }
            return done;
        }

        endPath(c) {
            if (c === undefined) {
                return done;
            }
            this.at++;
            this.url[c === '?' ? 'query' : 'fragment'] = '';
            return c === '?' ? 'query' : 'fragment';
        }

        // The rest of the path, segment by segment.
        path() {
            const { url, input, override } = this;
            const found = override === undefined ? input.slice(this.at).search(/[?#]/) : -1;
            const end = found < 0 ? input.length : this.at + found;
            let text = percentEncode(input.slice(this.at, end), 'path');
            if (text.includes('\\') && isSpecial(url)) {
                text = text.replaceAll('\\', '/');
            }
            const segments = text.split('/');
            const last = segments.length - 1;
            for (let i = 0; i <= last; i++) {
                const segment = segments[i];
                const first = segment[0];
                if ((first === '.' || first === '%') && (isDoubleDot(segment) || isSingleDot(segment))) {
                    if (isDoubleDot(segment)) {
                        shortenPath(url);
                    }
                    if (i === last) {
                        url.path.push('');
                    }
                } else if (url.scheme === 'file' && url.path.length === 0 && isDriveLetter(segment)) {
                    url.path.push(`${first}:`);
                } else {
                    url.path.push(segment);
                }
            }
            this.at = end;
            return this.endPath(input[end]);
        }

        opaquePath() {
            const text = /^[^?#]*/.exec(this.input.slice(this.at))[0];
            this.url.path = percentEncode(text, 'control');
            this.at += text.length;
            return this.endPath(this.input[this.at]);
        }

        query() {
            const { url, input } = this;
            const hash = this.override === undefined ? input.indexOf('#', this.at) : -1;
            const text = hash < 0 ? input.slice(this.at) : input.slice(this.at, hash);
            url.query += percentEncode(text, isSpecial(url) ? 'specialQuery' : 'query');
            if (hash < 0) {
                return done;
            }
            this.at = hash;
            return this.endPath('#');
        }

        fragment() {
            this.url.fragment += percentEncode(this.input.slice(this.at), 'fragment');
            return done;
        }
    }

    function withoutBreaks(text) {
        return /[\t\n\r]/.test(text) ? text.replace(/[\t\n\r]/g, '') : text;
    }

    // A web address that is written as it will be read: nothing to encode, no dots to resolve, no number for a host.
    const common = new RegExp('^(https?)://([a-z0-9.-]+)(?::([0-9]{1,5}))?(/[!$-;=@-\\[\\]-_a-z|~]*)?' +
        '(?:\\?([!$-&(-;=?-~]*))?(?:#([!#-;=?-_a-~]*))?$');

    // The record of such an address; undefined where it takes the whole parser to tell.
    function parseCommon(text) {
        const match = common.exec(text);
        if (match === null) {
            return undefined;
        }
        const [, scheme, hostname, digits, path, query, fragment] = match;
        if (/(?:^|\.)(?:[0-9][^.]*\.?$|xn--)/.test(hostname) || (path !== undefined && /\/(?:\.|%2)/.test(path))) {
            return undefined;
        }
        const port = digits === undefined ? null : +digits;
        if (port > 65535) {
            return undefined;
        }
        return {
            scheme, username: '', password: '', host: hostname, port: port === specialPorts[scheme] ? null : port,
            path: path === undefined ? [''] : path.slice(1).split('/'), query: query ?? null, fragment: fragment ?? null,
        };
    }

    // The record of a URL, or null.
    function parse(text, base) {
        const quick = parseCommon(text);
        if (quick !== undefined) {
            return quick;
        }
        const input = withoutBreaks(text.replace(/^[\0- ]+/, '').replace(/[\0- ]+$/, ''));
        const url = newRecord();
        return new Parser(input, base, url, undefined).run('schemeStart') ? url : null;
    }

    // Parses one part into a record, as setters do.
    function parsePart(text, url, state) {
        return new Parser(withoutBreaks(text), null, url, state).run(state);
    }

    function serializePath(url) {
        if (isOpaque(url)) {
            return url.path;
        }
        return url.path.length === 0 ? '' : `/${url.path.join('/')}`;
    }

    function serializeHost(url) {
        if (url.host === null) {
            return '';
        }
        return url.port === null ? url.host : `${url.host}:${url.port}`;
    }

    function serialize(url, withoutFragment = false) {
        let text = `${url.scheme}:`;
        if (url.host !== null) {
            text += '//';
            if (hasCredentials(url)) {
                text += url.password === '' ? `${url.username}@` : `${url.username}:${url.password}@`;
            }
            text += serializeHost(url);
        } else if (!isOpaque(url) && url.path.length > 1 && url.path[0] === '') {
            text += '/.';
        }
        text += serializePath(url);
        if (url.query !== null) {
            text += `?${url.query}`;
        }
        return url.fragment === null || withoutFragment ? text : `${text}#${url.fragment}`;
    }

    function serializeOrigin(url) {
        switch (url.scheme) {
        case 'blob': {
            const inner = isOpaque(url) ? parse(url.path, null) : null;
            return inner !== null && (inner.scheme === 'http' || inner.scheme === 'https') ? serializeOrigin(inner) : 'null';
        }
        case 'ftp':
        case 'http':
        case 'https':
        case 'ws':
        case 'wss':
            return `${url.scheme}://${serializeHost(url)}`;
        default:
            return 'null';
        }
    }

    return { parse, parsePart, serialize, serializePath, serializeHost, serializeOrigin, isSpecial, isOpaque };
})
