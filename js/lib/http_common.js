// SPDX-License-Identifier: MIT
// js/lib/http_common.js - what both sides of HTTP know: names of methods and statuses, and what fields can be sent.
// host: httpCheck(name, value)
(function (host, need) {
    'use strict';
    const { nodeError } = need('node_error');

    const METHODS = ['ACL', 'BIND', 'CHECKOUT', 'CONNECT', 'COPY', 'DELETE', 'GET', 'HEAD', 'LINK', 'LOCK', 'M-SEARCH', 'MERGE',
        'MKACTIVITY', 'MKCALENDAR', 'MKCOL', 'MOVE', 'NOTIFY', 'OPTIONS', 'PATCH', 'POST', 'PROPFIND', 'PROPPATCH', 'PURGE',
        'PUT', 'QUERY', 'REBIND', 'REPORT', 'SEARCH', 'SOURCE', 'SUBSCRIBE', 'TRACE', 'UNBIND', 'UNLINK', 'UNLOCK',
        'UNSUBSCRIBE'];

    const STATUS_CODES = {
        100: 'Continue', 101: 'Switching Protocols', 102: 'Processing', 103: 'Early Hints',
        200: 'OK', 201: 'Created', 202: 'Accepted', 203: 'Non-Authoritative Information', 204: 'No Content',
        205: 'Reset Content', 206: 'Partial Content', 207: 'Multi-Status', 208: 'Already Reported', 226: 'IM Used',
        300: 'Multiple Choices', 301: 'Moved Permanently', 302: 'Found', 303: 'See Other', 304: 'Not Modified',
        305: 'Use Proxy', 307: 'Temporary Redirect', 308: 'Permanent Redirect',
        400: 'Bad Request', 401: 'Unauthorized', 402: 'Payment Required', 403: 'Forbidden', 404: 'Not Found',
        405: 'Method Not Allowed', 406: 'Not Acceptable', 407: 'Proxy Authentication Required', 408: 'Request Timeout',
        409: 'Conflict', 410: 'Gone', 411: 'Length Required', 412: 'Precondition Failed', 413: 'Payload Too Large',
        414: 'URI Too Long', 415: 'Unsupported Media Type', 416: 'Range Not Satisfiable', 417: 'Expectation Failed',
        418: 'I\'m a Teapot', 421: 'Misdirected Request', 422: 'Unprocessable Entity', 423: 'Locked',
        424: 'Failed Dependency', 425: 'Too Early', 426: 'Upgrade Required', 428: 'Precondition Required',
        429: 'Too Many Requests', 431: 'Request Header Fields Too Large', 451: 'Unavailable For Legal Reasons',
        500: 'Internal Server Error', 501: 'Not Implemented', 502: 'Bad Gateway', 503: 'Service Unavailable',
        504: 'Gateway Timeout', 505: 'HTTP Version Not Supported', 506: 'Variant Also Negotiates',
        507: 'Insufficient Storage', 508: 'Loop Detected', 509: 'Bandwidth Limit Exceeded', 510: 'Not Extended',
        511: 'Network Authentication Required',
    };

    // Of these a message has one; more are dropped. Others are joined.
    const single = new Set(['age', 'authorization', 'content-length', 'content-type', 'etag', 'expires', 'from', 'host',
        'if-modified-since', 'if-unmodified-since', 'last-modified', 'location', 'max-forwards', 'proxy-authorization',
        'referer', 'retry-after', 'server', 'user-agent']);

    const badName = (name, what = 'Header name') => nodeError(TypeError, 'ERR_INVALID_HTTP_TOKEN',
        `${what} must be a valid HTTP token ["${name}"]`);

    // A field that cannot be sent is an error where it is set.
    function checkField(name, value) {
        if (typeof name !== 'string')
            throw badName(name);
        if (value === undefined)
            throw nodeError(TypeError, 'ERR_HTTP_INVALID_HEADER_VALUE', `Invalid value "${value}" for header "${name}"`);
        const verdict = host.httpCheck(name, typeof value === 'string' ? value : String(value));
        if (verdict === 1)
            throw badName(name);
        if (verdict === 2)
            throw badCharacter('header content', name);
    }

    const badCharacter = (what, name) => nodeError(TypeError, 'ERR_INVALID_CHAR',
        `Invalid character in ${what}${name === undefined ? '' : ` ["${name}"]`}`);

    const isText = (text) => host.httpCheck('x', String(text)) === 0;

    function validateHeaderName(name, label) {
        if (typeof name !== 'string' || host.httpCheck(name, '') !== 0)
            throw badName(name, label);
    }

    function validateHeaderValue(name, value) {
        if (value === undefined)
            throw nodeError(TypeError, 'ERR_HTTP_INVALID_HEADER_VALUE', `Invalid value "${value}" for header "${name}"`);
        if (!isText(value))
            throw badCharacter('header content', name);
    }

    // The bytes of a chunk that a message is given; a text in UTF-8 stays one.
    function bytesOf(chunk, encoding) {
        if (typeof chunk === 'string')
            return !encoding || /^utf-?8$/i.test(encoding) ? chunk : need('buffer').Buffer.from(chunk, encoding);
        if (chunk instanceof Uint8Array)
            return chunk;
        if (chunk === null)
            throw nodeError(TypeError, 'ERR_STREAM_NULL_VALUES', 'May not write null values to stream');
        throw need('node_error').invalidArgType('chunk', ['string', 'Buffer', 'Uint8Array'], chunk);
    }

    // Several chunks as one.
    function joined(chunks) {
        if (chunks.length === 1)
            return chunks[0];
        const { Buffer } = need('buffer');
        return Buffer.concat(chunks.map((chunk) => (typeof chunk === 'string' ? Buffer.from(chunk) : chunk)));
    }

    // [name, value, ...] as an object, as IncomingMessage shows it.
    function fieldsOf(raw, joinsAll = false) {
        const fields = {};
        for (let i = 0; i < raw.length; i += 2) {
            const name = raw[i].toLowerCase(), value = raw[i + 1];
            if (name === 'set-cookie')
                (fields[name] ??= []).push(value);
            else if (!Object.hasOwn(fields, name))
                fields[name] = value;
            else if (joinsAll || !single.has(name))
                fields[name] += (name === 'cookie' ? '; ' : ', ') + value;
        }
        return fields;
    }

    function distinctOf(raw) {
        const fields = { __proto__: null };
        for (let i = 0; i < raw.length; i += 2)
            (fields[raw[i].toLowerCase()] ??= []).push(raw[i + 1]);
        return fields;
    }

    return {
        METHODS, STATUS_CODES, checkField, badName, badCharacter, isText, validateHeaderName, validateHeaderValue, bytesOf, joined,
        fieldsOf, distinctOf,
    };
})
