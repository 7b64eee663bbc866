// SPDX-License-Identifier: MIT
// js/lib/net_address.js - addresses as the host writes them ("127.0.0.1:80", "[::1]:80", "unix:/run/app"), and as programs do.
(function () {
    'use strict';

    const isIPv4 = (text) => /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/.test(text);

    function isIPv6(text) {
        const [address, zone, ...more] = text.split('%');
        if (more.length > 0 || zone === '' || !/^[\da-f:.]+$/i.test(address))
            return false;
        const halves = address.split('::');
        if (halves.length > 2)
            return false;
        let count = 0;
        const parts = halves.map((half) => (half === '' ? [] : half.split(':')));
        const last = parts.at(-1).at(-1);
        for (const part of parts.flat()) {
            if (part === last && part.includes('.') && isIPv4(part) && address.endsWith(part))
                count += 2;
            else if (/^[\da-f]{1,4}$/i.test(part))
                count++;
            else
                return false;
        }
        return halves.length === 2 ? count < 8 : count === 8;
    }

    const family = (text) => (isIPv4(text) ? 4 : isIPv6(text) ? 6 : 0);

    // { address, family, port }, or { path }; undefined of undefined.
    function parse(text) {
        if (text === undefined)
            return undefined;
        if (text.startsWith('unix:'))
            return { path: text.slice(5) };
        const [, inner, plain, port] = text.match(/^(?:\[(.*)\]|(.*)):(\d+)$/);
        if (plain === '*')
            return { address: '::', family: 'IPv6', port: Number(port) };
        return { address: inner ?? plain, family: inner === undefined ? 'IPv4' : 'IPv6', port: Number(port) };
    }

    const format = (address, port) => (address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`);

    function checkPort(port) {
        const number = typeof port === 'string' && /^\d+$/.test(port) ? Number(port) : port;
        if (!Number.isInteger(number) || number < 0 || number > 65535)
            throw new RangeError(`A port is a number from 0 to 65535, not ${String(port)}`);
        return number;
    }

    // What a caller means by { host, port }, { path }, 'host:port', 'unix:path' or a port: { host, port } or { path }.
    function target(given) {
        if (typeof given === 'number')
            return { host: undefined, port: checkPort(given) };
        if (typeof given === 'string') {
            if (given.startsWith('unix:'))
                return { path: given.slice(5) };
            const [, inner, plain, port] = given.match(/^(?:\[(.*)\]|([^:]*)):(\d+)$/) ?? [];
            if (port === undefined)
                throw new TypeError(`Not a host and a port: ${given}`);
            return { host: inner ?? plain, port: checkPort(port) };
        }
        if (typeof given !== 'object' || given === null)
            throw new TypeError('An address is { host, port }, { path } or "host:port"');
        if (given.path !== undefined)
            return { path: String(given.path) };
        return { host: given.host, port: checkPort(given.port ?? 0) };
    }

    // The same as the host wants it, for addresses of this machine; names are not looked up.
    function local(given) {
        const { path, host, port } = target(given);
        if (path !== undefined)
            return `unix:${path}`;
        if (host === undefined || host === '' || host === '*')
            return `*:${port}`;
        const number = host === 'localhost' ? '127.0.0.1' : host;
        if (!family(number))
            throw new TypeError(`Not an IP address: ${host}`);
        return format(number, port);
    }

    return { isIPv4, isIPv6, family, parse, format, target, local };
})
