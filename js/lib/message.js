// SPDX-License-Identifier: MIT
// js/lib/message.js - MessageChannel, MessagePort and BroadcastChannel, as Node has them: targets of events whose messages come
// in the poll phase, and which also have on, once, off and emit.
// host: portPair() -> [handle, handle], portNamed(name) -> handle, portAttach(handle, object), portPost(handle, value, list) ->
//       whether somebody will get it, portStart(handle, receives), portKeep(handle, keeps), portClose(handle),
//       portReceive(handle) -> [value], portPeer(handle, handle), setHook(number, fn)
(function (host, need) {
    'use strict';

    const idl = need('idl');
    const targets = need('event_target');
    const { EventTarget, Event } = targets;
    const { checkTransfers } = need('clone');
    const { invalidArgument, withCode } = need('errors');
    const ON_MESSAGE = 8;
    const [MESSAGE, MESSAGE_ERROR] = [0, 1];
    const wrappers = new WeakMap(); // target -> listener of on() -> type -> the function that listens for it
    let carried; // the event that is being dispatched, and the value that listeners of on() get instead of it

    // ---- Targets with the methods of emitters ----

    function dispatch(target, event, value) {
        const before = carried;
        carried = { event, value };
        try {
            target.dispatchEvent(event);
        } finally {
            carried = before;
        }
    }

    function newEvent(type, value, ports = []) {
        return type === 'message' || type === 'messageerror' ? new targets.MessageEvent(type, { data: value, ports })
            : new targets.CustomEvent(type, { detail: value });
    }

    // A listener of on() gets what the event carries, not the event.
    function wrapperOf(target, type, listener, isOnce) {
        if (typeof listener !== 'function' && !(typeof listener === 'object' && listener !== null))
            throw invalidArgument('listener', 'EventListener', listener);
        const wrapper = (event) => {
            if (isOnce)
                forget(target, type, listener);
            const value = carried?.event === event ? carried.value : event;
            return typeof listener === 'function' ? Reflect.apply(listener, target, [value]) : listener.handleEvent(value);
        };
        if (!wrappers.has(target))
            wrappers.set(target, new Map());
        const known = wrappers.get(target);
        if (!known.has(listener))
            known.set(listener, new Map());
        known.get(listener).set(type, wrapper);
        return wrapper;
    }

    function forget(target, type, listener) {
        const known = wrappers.get(target)?.get(listener);
        const wrapper = known?.get(type);
        known?.delete(type);
        if (known?.size === 0)
            wrappers.get(target).delete(listener);
        return wrapper;
    }

    function listen(target, type, listener, options) {
        type = `${type}`;
        if (wrappers.get(target)?.get(listener)?.has(type))
            return target;
        target.addEventListener(type, wrapperOf(target, type, listener, options.once), options);
        return target;
    }

    class NodeEventTarget extends EventTarget {
        #most = 10;

        on(type, listener) {
            return listen(this, type, listener, {});
        }

        addListener(type, listener) {
            return listen(this, type, listener, {});
        }

        once(type, listener) {
            return listen(this, type, listener, { once: true });
        }

        off(type, listener, options) {
            this.removeEventListener(type, forget(this, `${type}`, listener) ?? listener, options);
            return this;
        }

        removeListener(type, listener, options) {
            return this.off(type, listener, options);
        }

        emit(type, value) {
            const hasListeners = targets.hasListener(this, `${type}`);
            dispatch(this, newEvent(`${type}`, value), value);
            return hasListeners;
        }

        removeAllListeners(type) {
            const types = type === undefined ? targets.eventTypes(this) : [`${type}`];
            for (const each of types)
                for (const listener of targets.getListeners(this, each))
                    this.removeEventListener(each, listener);
            if (type === undefined)
                wrappers.delete(this);
            return this;
        }

        listenerCount(type) {
            return targets.getListeners(this, `${type}`).length;
        }

        eventNames() {
            return targets.eventTypes(this);
        }

        setMaxListeners(most) {
            this.#most = most;
        }

        getMaxListeners() {
            return this.#most;
        }
    }

    // ---- What both kinds share ----

    // Listening for messages starts a port, and keeps the loop alive until nobody listens any more.
    function watchMessages(target, handle) {
        host.portAttach(handle, target);
        targets.watch(target, (self, type) => {
            if (type !== 'message')
                return;
            const isHeard = targets.hasListener(self, 'message');
            host.portKeep(handle, isHeard);
            if (isHeard)
                host.portStart(handle, true);
        });
    }

    host.setHook(ON_MESSAGE, (target, news, value, transferred) => {
        if (news === MESSAGE)
            dispatch(target, newEvent('message', value, transferred.filter(isPort)), value);
        else if (news === MESSAGE_ERROR)
            dispatch(target, newEvent('messageerror', value), value);
        else
            target.dispatchEvent(new Event('close'));
    });

    // ---- Ports ----

    function transfersOf(options) {
        if (options === undefined || options === null)
            return [];
        const isList = typeof options === 'object' && typeof options[Symbol.iterator] === 'function';
        if (!isList && typeof options !== 'object')
            throw withCode(new TypeError('Optional transferList argument must be an iterable'), 'ERR_INVALID_ARG_TYPE');
        const list = isList ? options : options.transfer;
        if (list === undefined || list === null)
            return [];
        if (typeof list[Symbol.iterator] !== 'function')
            throw withCode(new TypeError('Optional options.transfer argument must be an iterable'), 'ERR_INVALID_ARG_TYPE');
        const objects = [...list];
        if (!objects.every(idl.isObject))
            throw withCode(new TypeError('Found invalid object in transferList'), 'ERR_INVALID_TRANSFER_OBJECT');
        return objects;
    }

    function cloneError(message) {
        return new (need('dom_exception').DOMException)(message, 'DataCloneError');
    }

    let makePort, handleOf, isGone, takeHandle, isPort;

    class MessagePort extends NodeEventTarget {
        #handle;
        #isGone = false; // transferred, or closed

        constructor(handle = undefined) {
            if (typeof handle !== 'object' || handle === null)
                throw withCode(new TypeError('Constructor cannot be called'), 'ERR_CONSTRUCT_CALL_INVALID');
            super();
            watchMessages(this, handle); // throws for what is no handle
            this.#handle = handle;
        }

        static {
            isPort = (value) => typeof value === 'object' && value !== null && #handle in value;
            makePort = (handle) => new MessagePort(handle);
            handleOf = (port) => port.#handle;
            isGone = (port) => port.#isGone;
            takeHandle = (port) => {
                port.#isGone = true;
                return port.#handle;
            };
        }

        postMessage(message, options) {
            if (arguments.length === 0)
                throw withCode(new TypeError('Not enough arguments to MessagePort.postMessage'), 'ERR_MISSING_ARGS');
            const list = transfersOf(options);
            if (list.includes(this))
                throw cloneError('Transfer list contains source port');
            const isLost = list.some((object) => isPort(object) && host.portPeer(this.#handle, object.#handle));
            const isSent = host.portPost(this.#handle, message, checkTransfers(list));
            if (isLost)
                need('process').process.emitWarning('The target port was posted to itself, and the communication '
                    + 'channel was lost');
            return isSent ? true : undefined;
        }

        start() {
            host.portStart(this.#handle, true);
        }

        close(callback) {
            if (typeof callback === 'function')
                this.once('close', callback);
            host.portClose(this.#handle);
        }

        ref() {
            host.portKeep(this.#handle, true);
        }

        unref() {
            host.portKeep(this.#handle, false);
        }

        hasRef() {
            return host.portKeep(this.#handle);
        }
    }
    targets.defineHandler(MessagePort, 'message', (value) => isPort(value));
    targets.defineHandler(MessagePort, 'messageerror', (value) => isPort(value));

    class MessageChannel {
        constructor() {
            const [first, second] = host.portPair();
            this.port1 = makePort(first);
            this.port2 = makePort(second);
        }
    }

    function checkPort(port) {
        if (isGone(port))
            throw cloneError('MessagePort in transfer list is already detached');
    }

    // The next message of a port that nobody listens to, without waiting: { message }, or undefined.
    function receiveMessageOnPort(port) {
        if (!isPort(port) && !isBroadcast(port))
            throw withCode(new TypeError('The "port" argument must be a MessagePort instance'), 'ERR_INVALID_ARG_TYPE');
        const found = host.portReceive(isPort(port) ? handleOf(port) : broadcastHandle(port));
        return found === undefined ? undefined : { message: found[0] };
    }

    // ---- Broadcasts ----

    function needArgument(name, given) {
        if (given === 0)
            throw withCode(new TypeError(`The "${name}" argument must be specified`), 'ERR_MISSING_ARGS');
    }

    let isBroadcast, isActive, broadcastHandle;

    class BroadcastChannel extends EventTarget {
        #name;
        #handle;
        #isClosed = false;

        constructor(name) {
            needArgument('name', arguments.length);
            super();
            this.#name = `${name}`;
            this.#handle = host.portNamed(this.#name);
            host.portAttach(this.#handle, this);
            host.portKeep(this.#handle, true);
            host.portStart(this.#handle, true);
        }

        static #of(value) {
            if (!isBroadcast(value))
                throw idl.illegalInvocation();
            return value;
        }

        static {
            isBroadcast = (value) => typeof value === 'object' && value !== null && #name in value;
            isActive = (value) => !value.#isClosed;
            broadcastHandle = (value) => value.#handle;
        }

        get name() {
            return BroadcastChannel.#of(this).#name;
        }

        postMessage(message) {
            const channel = BroadcastChannel.#of(this);
            needArgument('message', arguments.length);
            if (channel.#isClosed)
                throw new (need('dom_exception').DOMException)('BroadcastChannel is closed.', 'InvalidStateError');
            host.portPost(channel.#handle, message, undefined);
        }

        close() {
            const channel = BroadcastChannel.#of(this);
            channel.#isClosed = true;
            host.portClose(channel.#handle);
        }

        ref() {
            host.portKeep(BroadcastChannel.#of(this).#handle, true);
            return this;
        }

        unref() {
            host.portKeep(BroadcastChannel.#of(this).#handle, false);
            return this;
        }
    }
    targets.defineHandler(BroadcastChannel, 'message', (value) => isBroadcast(value));
    targets.defineHandler(BroadcastChannel, 'messageerror', (value) => isBroadcast(value));
    idl.inspectAs(BroadcastChannel, (channel) => ['BroadcastChannel', { name: channel.name, active: isActive(channel) }], 'name');

    return {
        MessageChannel, MessagePort, BroadcastChannel, receiveMessageOnPort,
        isPort: (value) => isPort(value), checkPort, takeHandle: (port) => takeHandle(port), adopt: (handle) => makePort(handle),
    };
})
