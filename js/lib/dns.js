// SPDX-License-Identifier: MIT
// js/lib/dns.js - node:dns: addresses of names. Other kinds of records are not there.
// host: resolve(name, family, servers, milliseconds), nextTick(fn)
(function (host, need) {
    'use strict';
    const { whenDone } = need('abortable');
    const { nodeError, invalidArgType, invalidArgValue, validateFunction, validateString } = need('node_error');
    const addresses = need('net_address');
    const codes = { ENOENT: ['ENOTFOUND', -3008], EAGAIN: ['EAI_AGAIN', -3001] }; // of getaddrinfo
    let order = 'verbatim';

    // "getaddrinfo ENOTFOUND name"
    function failure(error, syscall, hostname) {
        const isQuery = syscall !== 'getaddrinfo';
        const [code, errno] = codes[error.code] ?? [error.code, error.errno];
        const told = isQuery && code === 'EAI_AGAIN' ? 'ESERVFAIL' : code;
        const made = new Error(`${syscall} ${told} ${hostname}`);
        return Object.assign(made, isQuery ? { errno: undefined } : { errno }, { code: told, syscall, hostname });
    }

    // done(error, [{ address, family }, ...])
    function find(name, family, servers, syscall, done) {
        whenDone(() => host.resolve(name, family, servers, -1), (error, found) => {
            if (error) {
                done(failure(error, syscall, name));
                return;
            }
            done(null, found.map((text) => addresses.parse(text))
                .map(({ address, family: kind }) => ({ address, family: kind === 'IPv6' ? 6 : 4 })));
        });
    }

    // ---- lookup ----

    const families = { IPv4: 4, IPv6: 6 };

    function lookupOptions(hostname, options) {
        if (hostname)
            validateString(hostname, 'hostname');
        if (typeof options === 'number')
            return { family: checkFamily(options, 'family'), all: false };
        if (options !== undefined && (options === null || typeof options !== 'object'))
            throw invalidArgType('options', ['integer', 'object'], options);
        const { family = 0, all = false, verbatim, order: own } = options ?? {};
        return {
            family: checkFamily(families[family] ?? family, 'options.family'), all,
            order: own ?? (verbatim === false ? 'ipv4first' : order),
        };
    }

    function checkFamily(family, name) {
        if (![0, 4, 6].includes(family))
            throw invalidArgValue(name, family, 'must be one of: 0, 4, 6');
        return family;
    }

    function sorted(list, wanted) {
        const first = { ipv4first: 4, ipv6first: 6 }[wanted];
        return first === undefined ? list : [...list].sort((a, b) => (b.family === first) - (a.family === first));
    }

    function lookup(hostname, options, callback) {
        if (typeof options === 'function')
            [options, callback] = [undefined, options];
        else
            validateFunction(callback, 'callback');
        validateFunction(callback, 'callback');
        const { family, all, order: wanted } = lookupOptions(hostname, options);
        const tell = (list) => (all ? callback(null, list) : callback(null, list[0].address, list[0].family));
        if (!hostname) {
            host.nextTick(() => (all ? callback(null, []) : callback(null, null, family === 6 ? 6 : 4)));
            return {};
        }
        const kind = addresses.family(hostname);
        if (kind)
            host.nextTick(() => tell([{ address: hostname, family: kind }]));
        else
            find(hostname, family, undefined, 'getaddrinfo', (error, found) => (error ? callback(error)
                : tell(sorted(found, wanted))));
        return {};
    }

    // ---- resolve ----

    function resolver(getServers, family, syscall) {
        return function (hostname, options, callback) {
            if (typeof options === 'function')
                [options, callback] = [undefined, options];
            validateString(hostname, 'name');
            validateFunction(callback, 'callback');
            find(hostname, family, getServers(), syscall, (error, found) => {
                const list = found?.map(({ address }) => (options?.ttl ? { address, ttl: 0 } : address));
                callback(error, list);
            });
            return {};
        };
    }

    class Resolver {
        #servers;

        constructor() {
            const servers = () => this.#servers?.join(',');
            this.resolve4 = resolver(servers, 4, 'queryA');
            this.resolve6 = resolver(servers, 6, 'queryAaaa');
        }

        resolve(hostname, type, callback) {
            if (typeof type === 'function')
                [type, callback] = ['A', type];
            validateString(type, 'rrtype');
            if (type !== 'A' && type !== 'AAAA')
                throw nodeError(TypeError, 'ERR_INVALID_ARG_VALUE', `The argument 'rrtype' is invalid. Received '${type}'`);
            return type === 'A' ? this.resolve4(hostname, callback) : this.resolve6(hostname, callback);
        }

        getServers() {
            return this.#servers?.map((text) => text.replace(/^\[?(.*?)\]?:53$/, '$1')) ?? systemServers();
        }

        setServers(servers) {
            if (!Array.isArray(servers))
                throw invalidArgType('servers', 'Array', servers);
            this.#servers = servers.map((server, i) => {
                validateString(server, `servers[${i}]`);
                const [, inner, plain, port] = server.match(/^(?:\[(.*)\]|([^:]*))(?::(\d+))?$/) ?? [null, server];
                const number = addresses.family(server) ? server : inner ?? plain;
                if (!addresses.family(number ?? ''))
                    throw nodeError(TypeError, 'ERR_INVALID_IP_ADDRESS', `Invalid IP address: ${server}`);
                return addresses.format(number, number === server ? 53 : port ?? 53);
            });
        }

        cancel() {}
    }

    function systemServers() {
        try {
            return Array.from(host.readText('/etc/resolv.conf').matchAll(/^nameserver\s+(\S+)/gm), (match) => match[1]);
        } catch {
            return [];
        }
    }

    // ---- With promises ----

    const promised = (fn) => (...args) => new Promise((resolve, reject) =>
        fn(...args, (error, value) => (error ? reject(error) : resolve(value))));

    function lookupPromise(hostname, options) {
        return new Promise((resolve, reject) => lookup(hostname, options ?? {}, (error, address, family) => {
            if (error)
                reject(error);
            else
                resolve(Array.isArray(address) ? address : { address, family });
        }));
    }

    class PromiseResolver extends Resolver {
        constructor() {
            super();
            this.resolve4 = promised(this.resolve4);
            this.resolve6 = promised(this.resolve6);
        }

        resolve(hostname, type = 'A') {
            return type === 'AAAA' ? this.resolve6(hostname) : this.resolve4(hostname);
        }
    }

    const shared = new Resolver();
    const { resolve4, resolve6 } = shared;
    const resolve = (hostname, type, callback) => shared.resolve(hostname, type, callback);
    const settings = {
        getServers: () => shared.getServers(), setServers: (servers) => shared.setServers(servers),
        getDefaultResultOrder: () => order,
        setDefaultResultOrder(value) {
            if (!['verbatim', 'ipv4first', 'ipv6first'].includes(value))
                throw invalidArgValue('dnsOrder', value, "must be one of: 'verbatim', 'ipv4first', 'ipv6first'");
            order = value;
        },
    };
    const errors = {};
    for (const name of ['NODATA', 'FORMERR', 'SERVFAIL', 'NOTFOUND', 'NOTIMP', 'REFUSED', 'TIMEOUT', 'CANCELLED'])
        errors[name] = `E${name}`;
    const promises = {
        lookup: lookupPromise, resolve4: promised(resolve4), resolve6: promised(resolve6), resolve: promised(resolve),
        Resolver: PromiseResolver, ...settings, ...errors,
    };
    const custom = Symbol.for('nodejs.util.promisify.custom');
    Object.defineProperty(lookup, custom, { value: lookupPromise });

    const hints = { ADDRCONFIG: 32, ALL: 16, V4MAPPED: 8 };
    return { lookup, resolve, resolve4, resolve6, Resolver, promises, ...hints, ...settings, ...errors };
})
