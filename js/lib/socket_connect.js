// SPDX-License-Identifier: MIT
// js/lib/socket_connect.js - how a net.Socket of Node connects: names, several addresses by turns, and what is told of it.
// host: netConnect(name, port, milliseconds, local), nextTick(fn)
(function (host, need) {
    'use strict';
    const { Wire } = need('wire');
    const { renew, attempt: attempted } = need('socket');
    const { whenDone } = need('abortable');
    const { nodeError, invalidArgType, validateString, validateFunction, validateNumber } = need('node_error');
    const { withHostPort } = need('system_error');
    const { family: isIP, format } = need('net_address');
    const ETIMEDOUT = -110;
    let selectsFamily = true, attemptTimeout = 250;

    // [options, callback] of connect(options), connect(path), connect(port, host), each with a callback behind it.
    function normalize(args) {
        if (args.length === 0)
            return [{}, null];
        const callback = typeof args.at(-1) === 'function' ? args.at(-1) : null;
        const [first, second] = args;
        if (typeof first === 'object' && first !== null)
            return [first, callback];
        if (isPath(first))
            return [{ path: first }, callback];
        return [{ port: first, ...(args.length > 1 && typeof second === 'string' ? { host: second } : {}) }, callback];
    }

    const isPath = (value) => typeof value === 'string' && !(Number(value) >= 0);

    function validatePort(port, name = 'Port', allowsZero = true) {
        if ((typeof port !== 'number' && typeof port !== 'string') || (typeof port === 'string' && port.trim() === '')
            || +port !== (+port >>> 0) || port > 0xFFFF || (Number(port) === 0 && !allowsZero)) {
            throw nodeError(RangeError, 'ERR_SOCKET_BAD_PORT',
                `${name} should be >= 0 and < 65536.${need('node_error').received(port)}.`);
        }
        return port | 0;
    }

    function connect(socket, args) {
        const [options, callback] = normalize(args);
        if (options.port === undefined && options.path === undefined)
            throw nodeError(TypeError, 'ERR_MISSING_ARGS', 'The "options" or "port" or "path" argument must be specified');
        if (socket.destroyed)
            renew(socket);
        if (callback !== null)
            socket.once('connect', callback);
        socket._unrefTimer();
        socket.connecting = true;
        if (options.path) {
            validateString(options.path, 'options.path');
            attempt(socket, { path: options.path });
        } else {
            lookUp(socket, options);
        }
        return socket;
    }

    // ---- One address ----

    // Connects to it; done(error, wire) unless the socket has been destroyed meanwhile.
    function dial(socket, { path, address, port, localAddress, localPort }, limit, done) {
        const local = localAddress === undefined ? undefined : format(localAddress, localPort ?? 0);
        const name = path === undefined ? address : `unix:${path}`;
        socket[attempted] = whenDone(() => host.netConnect(name, port ?? 0, limit, local), (error, stream) => {
            socket[attempted] = null;
            const wire = error ? null : new Wire(stream);
            if (socket.destroyed || !socket.connecting)
                wire?.close();
            else
                done(error, wire);
        });
    }

    function failure(error, { path, address, port, localAddress, localPort }) {
        const local = localAddress && localPort ? `${localAddress}:${localPort}` : '';
        const made = withHostPort(error.errno, 'connect', path ?? address, port, local);
        return local ? Object.assign(made, { localAddress, localPort }) : made;
    }

    function attempt(socket, where) {
        if (where.address !== undefined)
            socket.emit('connectionAttempt', where.address, where.port, where.family);
        dial(socket, where, -1, (error, wire) => {
            if (!error) {
                succeed(socket, wire);
                return;
            }
            const made = failure(error, where);
            if (where.address !== undefined)
                socket.emit('connectionAttemptFailed', where.address, where.port, where.family, made);
            socket.destroy(made);
        });
    }

    function succeed(socket, wire) {
        socket._handle = wire;
        socket.connecting = false;
        socket._applySettings();
        socket._unrefTimer();
        socket.emit('connect');
        socket.emit('ready');
        if (socket._handle === wire && !socket.isPaused())
            socket.read(0);
    }

    // ---- Names ----

    function checkOptions({ localAddress, localPort, port, lookup }) {
        if (localAddress && !isIP(localAddress))
            throw nodeError(TypeError, 'ERR_INVALID_IP_ADDRESS', `Invalid IP address: ${localAddress}`);
        if (localPort)
            validateNumber(localPort, 'options.localPort');
        if (port !== undefined && typeof port !== 'number' && typeof port !== 'string')
            throw invalidArgType('options.port', ['number', 'string'], port);
        if (lookup !== undefined && lookup !== null)
            validateFunction(lookup, 'options.lookup');
        return port === undefined ? 0 : validatePort(port);
    }

    function lookUp(socket, options) {
        const { localAddress, localPort, family = 0, hints = 0 } = options;
        const port = checkOptions(options);
        const name = options.host || 'localhost';
        const where = (address, kind) => ({ address, family: kind, port, localAddress, localPort });
        const kind = isIP(name);
        if (kind) {
            host.nextTick(() => {
                if (socket.connecting)
                    attempt(socket, where(name, kind));
            });
            return;
        }
        const wanted = { family: { IPv4: 4, IPv6: 6 }[family] ?? family, hints };
        const lookup = options.lookup ?? need('dns').lookup;
        const fail = (error) => host.nextTick(() => socket.destroy(error));
        socket._host = name;
        if ((options.autoSelectFamily ?? selectsFamily) && wanted.family === 0 && !localAddress) {
            const limit = Math.max(10, options.autoSelectFamilyAttemptTimeout ?? attemptTimeout);
            lookup(name, { ...wanted, all: true }, (error, found) => onAll(socket, error, found, name, where, limit, fail));
            return;
        }
        lookup(name, wanted, (error, address, found) => {
            socket.emit('lookup', error, address, found, name);
            if (!socket.connecting)
                return;
            const wrong = error ?? checkAddress(address, found, name, port);
            if (wrong)
                fail(wrong);
            else
                attempt(socket, where(address, found));
        });
    }

    function checkAddress(address, kind, name, port) {
        if (!isIP(address))
            return nodeError(TypeError, 'ERR_INVALID_IP_ADDRESS', `Invalid IP address: ${address}`);
        if (kind === 4 || kind === 6)
            return undefined;
        return nodeError(RangeError, 'ERR_INVALID_ADDRESS_FAMILY', `Invalid address family: ${kind} ${name}:${port}`,
            { host: name, port });
    }

    // ---- Several addresses ----

    function onAll(socket, error, found, name, where, limit, fail) {
        if (!socket.connecting)
            return;
        if (error) {
            socket.emit('lookup', error, undefined, undefined, name);
            fail(error);
            return;
        }
        const good = [];
        let wrong;
        for (const { address, family } of found) {
            socket.emit('lookup', error, address, family, name);
            const mistake = checkAddress(address, family, name, where(address).port);
            wrong ??= mistake;
            if (!mistake)
                good.push(where(address, family));
        }
        if (!socket.connecting)
            return;
        if (good.length === 0)
            fail(wrong ?? nodeError(Error, 'ENOTFOUND', `getaddrinfo ENOTFOUND ${name}`));
        else if (good.length === 1)
            attempt(socket, good[0]);
        else
            attemptEach(socket, byTurns(good), limit);
    }

    // The families by turns, the first one first.
    function byTurns(list) {
        const first = list.filter(({ family }) => family === list[0].family);
        const others = list.filter(({ family }) => family !== list[0].family);
        const mixed = [];
        for (let i = 0; i < Math.max(first.length, others.length); i++)
            mixed.push(...[first[i], others[i]].filter((one) => one));
        return mixed;
    }

    function attemptEach(socket, list, limit, errors = []) {
        const [where, ...others] = list;
        if (where === undefined) {
            const all = new AggregateError(errors);
            socket.destroy(Object.assign(all, { code: errors[0].code }));
            return;
        }
        socket.emit('connectionAttempt', where.address, where.port, where.family);
        dial(socket, where, others.length > 0 ? limit : -1, (error, wire) => {
            if (!error) {
                succeed(socket, wire);
                return;
            }
            const made = failure(error, where);
            socket.emit(error.errno === ETIMEDOUT && others.length > 0 ? 'connectionAttemptTimeout' : 'connectionAttemptFailed',
                where.address, where.port, where.family, made);
            if (socket.connecting)
                attemptEach(socket, others, limit, [...errors, made]);
        });
    }

    const defaults = {
        getDefaultAutoSelectFamily: () => selectsFamily,
        setDefaultAutoSelectFamily(value) {
            need('node_error').validateBoolean(value, 'value');
            selectsFamily = value;
        },
        getDefaultAutoSelectFamilyAttemptTimeout: () => attemptTimeout,
        setDefaultAutoSelectFamilyAttemptTimeout(value) {
            validateNumber(value, 'value', 1, 2 ** 31 - 1);
            attemptTimeout = Math.max(10, value);
        },
    };

    return { connect, normalize, isPath, validatePort, defaults };
})
