// SPDX-License-Identifier: MIT
// js/lib/http2.js - node:http2, of which there are the constants: packages load it, and use it where they are told to.
(function (host, need) {
    'use strict';
    const { nodeError } = need('node_error');
    const { STATUS_CODES, METHODS } = need('http_common');

    const names = ['accept', 'accept-encoding', 'accept-language', 'accept-ranges', 'access-control-allow-origin', 'age', 'allow',
        'authorization', 'cache-control', 'connection', 'content-disposition', 'content-encoding', 'content-language',
        'content-length', 'content-location', 'content-range', 'content-type', 'cookie', 'date', 'etag', 'expect', 'expires', 'from',
        'host', 'http2-settings', 'if-match', 'if-modified-since', 'if-none-match', 'if-range', 'if-unmodified-since', 'keep-alive',
        'last-modified', 'link', 'location', 'max-forwards', 'prefer', 'proxy-authenticate', 'proxy-authorization',
        'proxy-connection', 'range', 'referer', 'refresh', 'retry-after', 'server', 'set-cookie', 'strict-transport-security', 'te',
        'trailer', 'transfer-encoding', 'upgrade', 'user-agent', 'vary', 'via', 'warning', 'www-authenticate'];
    const errors = ['NO_ERROR', 'PROTOCOL_ERROR', 'INTERNAL_ERROR', 'FLOW_CONTROL_ERROR', 'SETTINGS_TIMEOUT', 'STREAM_CLOSED',
        'FRAME_SIZE_ERROR', 'REFUSED_STREAM', 'CANCEL', 'COMPRESSION_ERROR', 'CONNECT_ERROR', 'ENHANCE_YOUR_CALM',
        'INADEQUATE_SECURITY', 'HTTP_1_1_REQUIRED'];
    const constants = {};
    const key = (text) => text.toUpperCase().replaceAll('-', '_').replaceAll(' ', '_').replaceAll('\'', '');
    for (const name of ['status', 'method', 'authority', 'scheme', 'path', 'protocol'])
        constants[`HTTP2_HEADER_${key(name)}`] = `:${name}`;
    for (const name of names)
        constants[`HTTP2_HEADER_${key(name)}`] = name;
    for (const name of METHODS)
        constants[`HTTP2_METHOD_${key(name)}`] = name;
    for (const status of Object.keys(STATUS_CODES))
        constants[`HTTP_STATUS_${key(STATUS_CODES[status])}`] = Number(status);
    for (const [number, name] of errors.entries())
        constants[`NGHTTP2_${name}`] = number;

    const refuse = (what) => () => {
        throw nodeError(Error, 'ERR_FEATURE_UNAVAILABLE_ON_PLATFORM', `weft has no HTTP/2: http2.${what} is not there`);
    };
    return {
        constants, sensitiveHeaders: Symbol('sensitiveHeaders'), connect: refuse('connect'), createServer: refuse('createServer'),
        createSecureServer: refuse('createSecureServer'), Http2ServerRequest: class Http2ServerRequest {},
        Http2ServerResponse: class Http2ServerResponse {},
    };
})
