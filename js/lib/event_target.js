// SPDX-License-Identifier: MIT
// js/lib/event_target.js - Event and EventTarget; the other event classes are in event_kinds.js.
// host: reportError(error) gets what a listener throws
(function (host, need) {
    'use strict';

    const idl = need('idl');
    const clock = need('clock');

    // Access to the private state of Event and EventTarget for the code of this library.
    let inside;

    // All events share one getter, since isTrusted cannot be changed on any of them.
    let trustedDescriptor;

    class Event {
        #type;
        #bubbles = false;
        #cancelable = false;
        #composed = false;
        #target = null;
        #current = null;
        #phase = 0;
        #stopped = false;
        #stoppedNow = false;
        #canceled = false;
        #passive = false;
        #dispatching = false;
        #trusted = false;
        #time = clock.now();

        static {
            inside = {
                isEvent: (value) => typeof value === 'object' && value !== null && #type in value,
                trust(event) {
                    event.#trusted = true;
                },
                initialize(event, type, bubbles, cancelable) {
                    if (!event.#dispatching) {
                        event.#stopped = event.#stoppedNow = event.#canceled = event.#trusted = false;
                        event.#target = null;
                        event.#type = type;
                        event.#bubbles = bubbles;
                        event.#cancelable = cancelable;
                        return true;
                    }
                    return false;
                },
                isDispatching: (event) => event.#dispatching,
                begin(event, target) {
                    event.#dispatching = true;
                    event.#target = event.#current = target;
                    event.#phase = 2;
                },
                end(event) {
                    event.#phase = 0;
                    event.#current = null;
                    event.#dispatching = event.#stopped = event.#stoppedNow = false;
                    return !event.#canceled;
                },
                setPassive(event, value) {
                    event.#passive = value;
                },
                isStopped: (event) => event.#stopped,
                isStoppedNow: (event) => event.#stoppedNow,
            };
            const getter = Reflect.getOwnPropertyDescriptor({
                get isTrusted() {
                    return Event.#of(this).#trusted;
                },
            }, 'isTrusted').get;
            trustedDescriptor = { get: getter, set: undefined, enumerable: true, configurable: false };
        }

        static #of(value) {
            if (typeof value !== 'object' || value === null || !(#type in value)) {
                throw idl.illegalInvocation();
            }
            return value;
        }

        constructor(type, options = undefined) {
            idl.needArguments('Event constructor', arguments.length, 1);
            this.#type = idl.toDOMString(type);
            const init = idl.toDictionary(options, 'The options of an Event');
            if (init !== undefined) {
                this.#bubbles = !!init.bubbles;
                this.#cancelable = !!init.cancelable;
                this.#composed = !!init.composed;
            }
            Object.defineProperty(this, 'isTrusted', trustedDescriptor);
        }

        get type() {
            return Event.#of(this).#type;
        }
        get target() {
            return Event.#of(this).#target;
        }
        get srcElement() {
            return Event.#of(this).#target;
        }
        get currentTarget() {
            return Event.#of(this).#current;
        }
        composedPath() {
            return Event.#of(this).#current === null ? [] : [this.#current];
        }
        get eventPhase() {
            return Event.#of(this).#phase;
        }
        stopPropagation() {
            Event.#of(this).#stopped = true;
        }
        get cancelBubble() {
            return Event.#of(this).#stopped;
        }
        set cancelBubble(value) {
            const event = Event.#of(this);
            if (value) {
                event.#stopped = true;
            }
        }
        stopImmediatePropagation() {
            Event.#of(this).#stopped = true;
            this.#stoppedNow = true;
        }
        get bubbles() {
            return Event.#of(this).#bubbles;
        }
        get cancelable() {
            return Event.#of(this).#cancelable;
        }
        get returnValue() {
            return !Event.#of(this).#canceled;
        }
        set returnValue(value) {
            const event = Event.#of(this);
            if (!value && event.#cancelable && !event.#passive) {
                event.#canceled = true;
            }
        }
        preventDefault() {
            const event = Event.#of(this);
            if (event.#cancelable && !event.#passive) {
                event.#canceled = true;
            }
        }
        get defaultPrevented() {
            return Event.#of(this).#canceled;
        }
        get composed() {
            return Event.#of(this).#composed;
        }
        get timeStamp() {
            return Event.#of(this).#time;
        }
        initEvent(type, bubbles = false, cancelable = false) {
            const event = Event.#of(this);
            idl.needArguments('initEvent', arguments.length, 1);
            inside.initialize(event, idl.toDOMString(type), !!bubbles, !!cancelable);
        }
    }
    idl.define(Event, { NONE: 0, CAPTURING_PHASE: 1, AT_TARGET: 2, BUBBLING_PHASE: 3 });
    idl.inspectAs(Event, (event) => [event.constructor.name, {
        type: event.type, defaultPrevented: event.defaultPrevented, cancelable: event.cancelable,
        timeStamp: event.timeStamp,
    }], 'name');

    // The third argument of addEventListener is an object or whether to capture.
    function captureOf(options) {
        if (idl.isObject(options)) {
            return !!options.capture;
        }
        return !!options;
    }

    function toSignal(value) {
        if (value === undefined) {
            return undefined;
        }
        if (!need('abort').isAbortSignal(value)) {
            throw new TypeError('The signal of a listener must be an AbortSignal');
        }
        return value;
    }

    function toCallback(value) {
        if (value === undefined || value === null) {
            return null;
        }
        if (!idl.isObject(value)) {
            throw new TypeError('A listener must be a function or an object');
        }
        return value;
    }

    class EventTarget {
        // A map from the type to its listeners in the order of their registration; made with the first one.
        #listeners = undefined;
        // The values of attributes like onabort: a map from the type to its listener.
        #handlers = undefined;
        // A function of the library that hears about the first listener of a type and the loss of the last.
        #watcher = undefined;

        static {
            Object.assign(inside, {
                isTarget: (value) => typeof value === 'object' && value !== null && #listeners in value,
                listeners: (target, type) => target.#listeners?.get(type),
                watch(target, watcher) {
                    target.#watcher = watcher;
                },
                add(target, listener) {
                    target.#listeners ??= new Map();
                    const list = target.#listeners.get(listener.type);
                    if (list === undefined) {
                        target.#listeners.set(listener.type, [listener]);
                        target.#watcher?.(target, listener.type);
                        return true;
                    }
                    for (const other of list) {
                        if (other.callback === listener.callback && other.capture === listener.capture) {
                            return false;
                        }
                    }
                    // The list is replaced, so that a dispatch that walks over the old one does not see the change.
                    target.#listeners.set(listener.type, [...list, listener]);
                    return true;
                },
                remove(target, listener) {
                    listener.removed = true;
                    listener.release?.();
                    const list = target.#listeners.get(listener.type)?.filter((other) => other !== listener);
                    if (list === undefined || list.length > 0) {
                        if (list !== undefined) {
                            target.#listeners.set(listener.type, list);
                        }
                        return;
                    }
                    target.#listeners.delete(listener.type);
                    target.#watcher?.(target, listener.type);
                },
                types: (target) => [...target.#listeners?.keys() ?? []],
                handlers(target) {
                    target.#handlers ??= new Map();
                    return target.#handlers;
                },
            });
        }

        static #of(value) {
            if (typeof value !== 'object' || value === null || !(#listeners in value)) {
                throw idl.illegalInvocation();
            }
            return value;
        }

        addEventListener(type, callback, options = {}) {
            const target = EventTarget.#of(this);
            idl.needArguments('addEventListener', arguments.length, 2);
            type = idl.toDOMString(type);
            callback = toCallback(callback);
            const capture = captureOf(options);
            let once = false;
            let passive = false;
            let signal;
            if (idl.isObject(options)) {
                once = !!options.once;
                passive = !!options.passive;
                signal = toSignal(options.signal);
            }
            if (callback === null || (signal !== undefined && signal.aborted)) {
                return;
            }
            const listener = { type, callback, capture, once, passive, removed: false, release: undefined };
            if (inside.add(target, listener) && signal !== undefined) {
                const { addAlgorithm, removeAlgorithm } = need('abort');
                const algorithm = () => inside.remove(target, listener);
                listener.release = () => removeAlgorithm(signal, algorithm);
                addAlgorithm(signal, algorithm);
            }
        }

        removeEventListener(type, callback, options = {}) {
            const target = EventTarget.#of(this);
            idl.needArguments('removeEventListener', arguments.length, 2);
            type = idl.toDOMString(type);
            callback = toCallback(callback);
            const capture = captureOf(options);
            for (const listener of inside.listeners(target, type) ?? []) {
                if (listener.callback === callback && listener.capture === capture) {
                    inside.remove(target, listener);
                    return;
                }
            }
        }

        dispatchEvent(event) {
            const target = EventTarget.#of(this);
            idl.needArguments('dispatchEvent', arguments.length, 1);
            if (!inside.isEvent(event)) {
                throw new TypeError('The argument of dispatchEvent must be an Event');
            }
            if (inside.isDispatching(event)) {
                const { DOMException } = need('dom_exception');
                throw new DOMException('The event is already being dispatched', 'InvalidStateError');
            }
            return dispatch(target, event);
        }
    }
    idl.define(EventTarget);
    idl.inspectAs(EventTarget, (target) => [target.constructor.name, {}], 'name');

    function callListener(target, event, listener) {
        try {
            const callback = listener.callback;
            if (typeof callback === 'function') {
                return Reflect.apply(callback, target, [event]);
            }
            const method = callback.handleEvent;
            if (typeof method !== 'function') {
                throw new TypeError('The handleEvent of a listener must be a function');
            }
            Reflect.apply(method, callback, [event]);
        } catch (error) {
            host.reportError(error);
        }
    }

    // Calls the listeners of one of the two turns, in the order of their registration.
    function invoke(target, event, capture) {
        if (inside.isStopped(event)) {
            return;
        }
        // Each turn works on the listeners that there are when it begins.
        for (const listener of inside.listeners(target, event.type) ?? []) {
            if (listener.removed || listener.capture !== capture) {
                continue;
            }
            if (listener.once) {
                inside.remove(target, listener);
            }
            inside.setPassive(event, listener.passive);
            callListener(target, event, listener);
            inside.setPassive(event, false);
            if (inside.isStoppedNow(event)) {
                return;
            }
        }
    }

    // A target is alone, without parents: those who capture are called first, then the others.
    function dispatch(target, event) {
        inside.begin(event, target);
        invoke(target, event, true);
        if (!inside.isStoppedNow(event)) {
            invoke(target, event, false);
        }
        return inside.end(event);
    }

    // Dispatches an event that the host itself has made.
    function fire(target, event) {
        inside.trust(event);
        return dispatch(target, event);
    }

    function setHandler(target, type, value) {
        const handlers = inside.handlers(target);
        const old = handlers.get(type);
        if (!idl.isObject(value)) {
            if (old !== undefined) {
                handlers.delete(type);
                inside.remove(target, old);
            }
            return;
        }
        if (old !== undefined) {
            old.value = value;
            return;
        }
        const listener = { type, callback: undefined, capture: false, once: false, passive: false, removed: false, value };
        // Each handler has a function of its own, so that it never equals a listener of the program.
        listener.callback = function (event) {
            if (typeof listener.value === 'function' && Reflect.apply(listener.value, this, [event]) === false) {
                event.preventDefault();
            }
        };
        handlers.set(type, listener);
        inside.add(target, listener);
    }

    // Adds an attribute like onabort to a subclass of EventTarget; isOurs(value) is the class's brand check.
    function defineHandler(Class, type, isOurs) {
        const name = `on${type}`;
        const { get, set } = Reflect.getOwnPropertyDescriptor({
            get [name]() {
                if (!isOurs(this)) {
                    throw idl.illegalInvocation();
                }
                return inside.handlers(this).get(type)?.value ?? null;
            },
            set [name](value) {
                if (!isOurs(this)) {
                    throw idl.illegalInvocation();
                }
                setHandler(this, type, value);
            },
        }, name);
        Object.defineProperty(Class.prototype, name, { get, set, enumerable: true, configurable: true });
    }

    function isEvent(value) {
        return inside.isEvent(value);
    }

    function isEventTarget(value) {
        return inside.isTarget(value);
    }

    // For the library: whether a target has a listener, and a function that hears of the first and the last one.
    function hasListener(target, type) {
        return inside.listeners(target, type) !== undefined;
    }

    // The listeners of a type as the program gave them, for events.getEventListeners of Node.
    function getListeners(target, type) {
        return (inside.listeners(target, `${type}`) ?? []).map((listener) => listener.value ?? listener.callback);
    }

    const exported = {
        Event, EventTarget, isEvent, isEventTarget, fire, defineHandler, hasListener, getListeners,
        initialize: inside.initialize, watch: inside.watch, eventTypes: inside.types,
    };
    // The classes derived from Event are made when the first of them is asked for.
    for (const name of ['CustomEvent', 'MessageEvent', 'ErrorEvent', 'CloseEvent', 'ProgressEvent']) {
        Object.defineProperty(exported, name, { get: () => need('event_kinds')[name], enumerable: true });
    }
    return exported;
})
