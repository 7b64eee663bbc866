// SPDX-License-Identifier: MIT
// js/lib/node_url.js - node:url: the URL class and, besides, the old functions parse, format and resolve, which programs still use.
//
// The old parser knows nothing of the standard: it cuts a text at the places where parts of a URL usually end, escapes what should
// not be there, and leaves the rest alone.
(function (host, need) {
    'use strict';
    const { toURL, fileURLToPath } = need('module_find');
    const { nodeError, validateString, invalidArgType } = need('node_error');

    const withSlashes = new Set(['http:', 'https:', 'ftp:', 'gopher:', 'file:', 'ws:', 'wss:']);
    const opaque = new Set(['javascript:']); // whose rest is nobody's business
    const parts = ['protocol', 'slashes', 'auth', 'host', 'port', 'hostname', 'hash', 'search', 'query', 'pathname', 'path', 'href'];
    const escaped = /[\t\n\r "'<>\\^`{|}]/g;
    const LONGEST_HOST = 255;

    function Url() {
        for (const name of parts)
            this[name] = null;
    }

    const escapeOne = (character) => `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;

    const badUrl = (url) => nodeError(TypeError, 'ERR_INVALID_URL', 'Invalid URL', { input: url });

    // Backslashes before the query are slashes, and blanks around it are none.
    function clean(text) {
        const trimmed = text.replace(/^[\s\ufeff]+|[\s\ufeff]+$/g, '');
        const end = trimmed.search(/[?#]/);
        return end < 0 ? trimmed.replaceAll('\\', '/') : trimmed.slice(0, end).replaceAll('\\', '/') + trimmed.slice(end);
    }

    // Where user, host and port end, and where the user does.
    function cutHost(rest) {
        let end = -1, at = -1;
        for (let i = 0; i < rest.length; i++) {
            const character = rest[i];
            if (character === '@') {
                at = i;
                end = -1;
            } else if (/[ "%';<>\\^`{|}#/?]/.test(character)) {
                if (end < 0)
                    end = i;
                if (/[#/?]/.test(character))
                    break;
            }
        }
        return [end < 0 ? rest.length : end, at];
    }

    // Breaks and tabs are nowhere in it, up to where it ends.
    function withoutBreaks(rest) {
        const end = rest.search(/[#/?]/);
        return end < 0 ? rest.replace(/[\t\n\r]/g, '') : rest.slice(0, end).replace(/[\t\n\r]/g, '') + rest.slice(end);
    }

    const forbidden = /[\0\t\n\r #%/:<>?@[\\\]^|]/, forbiddenInBrackets = /[\0\t\n\r #%/<>?@\\^|]/;

    // What is behind it is returned.
    function takeHost(target, text, url) {
        const rest = withoutBreaks(text);
        const [end, at] = cutHost(rest);
        if (at >= 0)
            target.auth = decodeURIComponent(rest.slice(0, at));
        let name = rest.slice(at + 1, end), after = rest.slice(end);
        const port = name.match(/:\d*$/)?.[0];
        if (port !== undefined) {
            if (port !== ':')
                target.port = port.slice(1);
            name = name.slice(0, -port.length);
        }
        const isBracketed = name.startsWith('[') && name.endsWith(']');
        const odd = isBracketed ? -1 : name.search(/[/\\#?:]/);
        if (odd >= 0) { // a port that is none, and the like: path
            after = `/${name.slice(odd)}${after}`;
            name = name.slice(0, odd);
        }
        name = name.length > LONGEST_HOST ? '' : name.toLowerCase();
        if (name !== '' && !isBracketed)
            name = /[^\x00-\x7f]/.test(name) ? domainToASCII(name) || '%' : name;
        if (name !== '' && (isBracketed ? forbiddenInBrackets : forbidden).test(name))
            throw badUrl(url);
        target.hostname = isBracketed ? name.slice(1, -1) : name;
        target.host = name + (target.port ? `:${target.port}` : '');
        return isBracketed && !after.startsWith('/') ? `/${after}` : after;
    }

    Url.prototype.parse = function (url, parsesQuery = false, slashesDenoteHost = false) {
        validateString(url, 'url');
        let rest = clean(url);
        const simple = !slashesDenoteHost && !/#|^[^?]*@/.test(rest) && rest.match(/^(\/\/?(?!\/)[^?\s]*)(\?[^\s]*)?$/);
        if (simple) {
            this.path = this.href = rest;
            this.pathname = simple[1];
            setQuery(this, simple[2], parsesQuery);
            return this;
        }
        const protocol = rest.match(/^[a-z0-9.+-]+:/i)?.[0];
        const lower = protocol?.toLowerCase();
        if (protocol) {
            this.protocol = lower;
            rest = rest.slice(protocol.length);
        }
        let hasSlashes = false;
        if (slashesDenoteHost || protocol || /^\/\/[^@/]+@[^@/]+/.test(rest)) {
            hasSlashes = rest.startsWith('//');
            if (hasSlashes && !(protocol && opaque.has(lower))) {
                rest = rest.slice(2);
                this.slashes = true;
            }
        }
        if (!opaque.has(lower) && (hasSlashes || (protocol && !withSlashes.has(protocol))))
            rest = takeHost(this, rest, url);
        if (!opaque.has(lower))
            rest = rest.replace(escaped, escapeOne);
        finishPath(this, rest, lower, parsesQuery);
        this.href = this.format();
        return this;
    };

    function setQuery(target, search, parsesQuery) {
        if (search) {
            target.search = search;
            target.query = parsesQuery ? need('querystring').parse(search.slice(1)) : search.slice(1);
        } else if (parsesQuery) {
            target.search = null;
            target.query = { __proto__: null };
        }
    }

    function finishPath(target, rest, protocol, parsesQuery) {
        const hash = rest.indexOf('#');
        if (hash >= 0) {
            target.hash = rest.slice(hash);
            rest = rest.slice(0, hash);
        }
        const question = rest.indexOf('?');
        setQuery(target, question >= 0 ? rest.slice(question) : undefined, parsesQuery);
        const path = question >= 0 ? rest.slice(0, question) : rest;
        if (path)
            target.pathname = path;
        if (withSlashes.has(protocol) && target.hostname && !target.pathname)
            target.pathname = '/';
        if (target.pathname || target.search)
            target.path = (target.pathname ?? '') + (target.search ?? '');
    }

    Url.prototype.format = function () {
        const auth = this.auth ? `${encodeURIComponent(this.auth).replaceAll('%3A', ':')}@` : '';
        let protocol = this.protocol || '', pathname = this.pathname || '', hash = this.hash || '', host = '', query = '';
        if (this.host)
            host = auth + this.host;
        else if (this.hostname)
            host = `${auth}${this.hostname.includes(':') && !this.hostname.startsWith('[') ? `[${this.hostname}]` : this.hostname}`
                + `${this.port ? `:${this.port}` : ''}`;
        if (this.query !== null && typeof this.query === 'object')
            query = need('querystring').stringify(this.query);
        let search = this.search || (query && `?${query}`) || '';
        if (protocol && !protocol.endsWith(':'))
            protocol += ':';
        pathname = pathname.replace(/[#?]/g, escapeOne);
        if (this.slashes || withSlashes.has(protocol)) {
            if (this.slashes || host) {
                if (pathname && !pathname.startsWith('/'))
                    pathname = `/${pathname}`;
                host = `//${host}`;
            } else if (protocol.startsWith('file')) {
                host = '//';
            }
        }
        search = search.replaceAll('#', '%23');
        if (hash && !hash.startsWith('#'))
            hash = `#${hash}`;
        if (search && !search.startsWith('?'))
            search = `?${search}`;
        return protocol + host + pathname + search + hash;
    };

    // ---- resolve ----

    function copied(source) {
        return Object.assign(new Url(), source);
    }

    Url.prototype.resolve = function (relative) {
        return this.resolveObject(parse(relative, false, true)).format();
    };

    function finish(result) {
        if (result.pathname !== null || result.search !== null)
            result.path = (result.pathname ?? '') + (result.search ?? '');
        result.href = result.format();
        return result;
    }

    // Takes "." and ".." out.
    function walk(segments, mustBeAbsolute, keepsAbove) {
        const kept = [];
        let above = 0;
        for (const segment of segments.toReversed()) {
            if (segment === '..')
                above++;
            else if (segment !== '.' && above > 0)
                above--;
            else if (segment !== '.')
                kept.unshift(segment);
        }
        if (!mustBeAbsolute && !keepsAbove)
            for (; above > 0; above--)
                kept.unshift('..');
        if (mustBeAbsolute && kept[0] !== '' && (!kept[0] || kept[0][0] !== '/'))
            kept.unshift('');
        return kept;
    }

    Url.prototype.resolveObject = function (relative) {
        if (typeof relative === 'string')
            relative = parse(relative, false, true);
        const result = copied(this);
        result.hash = relative.hash;
        if (relative.href === '') {
            result.href = result.format();
            return result;
        }
        if (relative.slashes && !relative.protocol) {
            for (const name of parts)
                if (name !== 'protocol')
                    result[name] = relative[name];
            if (withSlashes.has(result.protocol) && result.hostname && !result.pathname)
                result.path = result.pathname = '/';
            result.href = result.format();
            return result;
        }
        if (relative.protocol && relative.protocol !== result.protocol)
            return otherProtocol(result, relative);
        return samePlace(result, relative);
    };

    function otherProtocol(result, relative) {
        if (!withSlashes.has(relative.protocol)) {
            Object.assign(result, relative);
            result.href = result.format();
            return result;
        }
        result.protocol = relative.protocol;
        if (!relative.host && !/^file:?$/.test(relative.protocol)) {
            const segments = (relative.pathname || '').split('/');
            while (segments.length > 0 && !(relative.host = segments.shift()));
            relative.host ||= '';
            relative.hostname ||= '';
            if (segments[0] !== '')
                segments.unshift('');
            if (segments.length < 2)
                segments.unshift('');
            result.pathname = segments.join('/');
        } else {
            result.pathname = relative.pathname;
        }
        Object.assign(result, {
            search: relative.search, query: relative.query, host: relative.host || '', auth: relative.auth,
            hostname: relative.hostname || relative.host, port: relative.port, slashes: result.slashes || relative.slashes,
        });
        return finish(result);
    }

    // Without slashes the host is the first segment while paths are put together.
    function hostIntoPath(host, segments) {
        if (!host)
            return;
        if (segments[0] === '')
            segments[0] = host;
        else
            segments.unshift(host);
    }

    function hostOutOfPath(result, host) {
        result.hostname = result.host = host;
        if (host?.indexOf('@') > 0)
            [result.auth, result.host] = host.split('@');
        result.hostname = result.host;
    }

    function samePlace(result, relative) {
        const isBare = result.protocol && !withSlashes.has(result.protocol);
        const isAbsolute = relative.host || relative.pathname?.startsWith('/');
        let mustBeAbsolute = isAbsolute || result.pathname?.startsWith('/') || (result.host && relative.pathname);
        const keepsAbove = mustBeAbsolute;
        let segments = result.pathname?.split('/') ?? [];
        const given = relative.pathname?.split('/') ?? [];
        if (isBare) {
            hostIntoPath(result.host, segments);
            Object.assign(result, { hostname: '', port: null, host: '' });
            if (relative.protocol) {
                hostIntoPath(relative.host, given);
                Object.assign(relative, { hostname: null, port: null, host: null });
                result.auth = null;
            }
            mustBeAbsolute &&= given[0] === '' || segments[0] === '';
        }
        if (isAbsolute) {
            takePlace(result, relative);
            segments = given;
        } else if (given.length > 0) {
            segments = [...segments.slice(0, -1), ...given];
        } else if (relative.search !== null && relative.search !== undefined) {
            if (isBare)
                hostOutOfPath(result, segments.shift());
            Object.assign(result, { search: relative.search, query: relative.query });
            return finish(result);
        }
        if (isAbsolute || given.length > 0)
            Object.assign(result, { search: relative.search, query: relative.query });
        if (segments.length === 0) {
            Object.assign(result, { pathname: null, path: result.search ? `/${result.search}` : null });
            result.href = result.format();
            return result;
        }
        return joined(result, relative, segments, mustBeAbsolute, keepsAbove, isBare);
    }

    function takePlace(result, relative) {
        if (relative.host || relative.host === '') {
            if (result.host !== relative.host)
                result.auth = null;
            result.host = relative.host;
            result.port = relative.port;
        }
        if (relative.hostname || relative.hostname === '') {
            if (result.hostname !== relative.hostname)
                result.auth = null;
            result.hostname = relative.hostname;
        }
    }

    function joined(result, relative, segments, mustBeAbsolute, keepsAbove, isBare) {
        const last = segments.at(-1);
        const endsWithSlash = ((result.host || relative.host || segments.length > 1) && (last === '.' || last === '..')) || last === '';
        const kept = walk(segments, mustBeAbsolute, keepsAbove);
        if (endsWithSlash && kept.join('/').at(-1) !== '/')
            kept.push('');
        const isRooted = kept[0] === '' || kept[0]?.startsWith('/');
        if (isBare)
            hostOutOfPath(result, isRooted ? '' : kept.shift() ?? '');
        if ((mustBeAbsolute || (result.host && kept.length > 0)) && !isRooted)
            kept.unshift('');
        result.pathname = kept.length > 0 ? kept.join('/') : null;
        if (kept.length === 0)
            result.path = null;
        result.auth = relative.auth || result.auth;
        result.slashes ||= relative.slashes;
        return finish(result);
    }

    // ---- The module ----

    function parse(url, parsesQuery, slashesDenoteHost) {
        return url instanceof Url ? url : new Url().parse(url, parsesQuery, slashesDenoteHost);
    }

    function format(value, options) {
        if (typeof value === 'string')
            return parse(value).format();
        if (typeof value !== 'object' || value === null)
            throw invalidArgType('urlObject', ['Object', 'string'], value);
        if (!(value instanceof URL))
            return Url.prototype.format.call(value instanceof Url ? value : { ...new Url(), ...value });
        const { fragment = true, unicode = false, search = true, auth = true } = options ?? {};
        const copy = new URL(value.href);
        if (!fragment)
            copy.hash = '';
        if (!search)
            copy.search = '';
        if (!auth)
            copy.username = copy.password = '';
        return unicode ? copy.href.replace(copy.hostname, domainToUnicode(copy.hostname)) : copy.href;
    }

    const hostOf = (domain) => {
        try {
            return new URL(`ws://${domain}`).hostname;
        } catch {
            return '';
        }
    };
    const domainToASCII = (domain) => hostOf(`${domain}`);
    const domainToUnicode = (domain) => need('url_idna').toUnicode?.(hostOf(`${domain}`)) ?? hostOf(`${domain}`);

    function urlToHttpOptions(url) {
        const { hostname, pathname, port, username, password, search } = url;
        const options = {
            __proto__: null, ...url, protocol: url.protocol,
            hostname: hostname?.startsWith('[') ? hostname.slice(1, -1) : hostname, hash: url.hash, search, pathname,
            path: `${pathname || ''}${search || ''}`, href: url.href,
        };
        if (port !== '')
            options.port = Number(port);
        if (username || password)
            options.auth = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
        return options;
    }

    return {
        Url, parse, format, resolve: (from, to) => parse(from, false, true).resolve(to),
        resolveObject: (from, to) => (from ? parse(from, false, true).resolveObject(to) : to),
        URL, URLSearchParams, domainToASCII, domainToUnicode, pathToFileURL: (file) => new URL(toURL(need('path').resolve(`${file}`)
            + (/[^/]\/$/.test(file) ? '/' : ''))), fileURLToPath, urlToHttpOptions,
    };
})
