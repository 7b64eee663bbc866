// SPDX-License-Identifier: MIT
// js/lib/events.js - node:events: EventEmitter.
// host: nothing of its own; need('node_error'), need('inspect').
(function (host, need) {
    'use strict';

    const nodeErrors = need('node_error');
    const CAPTURE = Symbol('kCapture');
    const SHAPE = Symbol('shapeMode');
    const REJECTION = Symbol.for('nodejs.rejection');
    const ERROR_MONITOR = Symbol('events.errorMonitor');
    let defaultMaxListeners = 10;

    // A function and not a class: programs call it on objects of their own (util.inherits).
    function EventEmitter(options) {
        EventEmitter.init.call(this, options);
    }

    function init(options) {
        if (this._events === undefined || this._events === Object.getPrototypeOf(this)._events) {
            this._events = { __proto__: null };
            this._eventsCount = 0;
        }
        this._maxListeners = this._maxListeners || undefined;
        this[SHAPE] = false;
        if (options && options.captureRejections) {
            nodeErrors.validateBoolean(options.captureRejections, 'options.captureRejections');
            this[CAPTURE] = Boolean(options.captureRejections);
        } else {
            this[CAPTURE] = EventEmitter.prototype[CAPTURE];
        }
    }

    const { prototype } = EventEmitter;
    prototype._events = undefined;
    prototype._eventsCount = 0;
    prototype._maxListeners = undefined;
    Object.defineProperty(prototype, CAPTURE, { value: false, writable: true, enumerable: false });

    prototype.setMaxListeners = function setMaxListeners(n) {
        nodeErrors.validateNumber(n, 'setMaxListeners', 0);
        this._maxListeners = n;
        return this;
    };

    function limitOf(emitter) {
        return emitter._maxListeners === undefined ? defaultMaxListeners : emitter._maxListeners;
    }

    prototype.getMaxListeners = function getMaxListeners() {
        return limitOf(this);
    };

    function later(callback, ...values) {
        const { process } = globalThis;
        if (process && typeof process.nextTick === 'function') process.nextTick(callback, ...values);
        else queueMicrotask(() => callback(...values));
    }

    function deliverRejection(emitter, error, type, values) {
        if (typeof emitter[REJECTION] === 'function') {
            emitter[REJECTION](error, type, ...values);
            return;
        }
        // An error listener that rejects itself must not come back here.
        const before = emitter[CAPTURE];
        try {
            emitter[CAPTURE] = false;
            emitter.emit('error', error);
        } finally {
            emitter[CAPTURE] = before;
        }
    }

    function watchResult(emitter, result, type, values) {
        if (!emitter[CAPTURE]) return;
        try {
            const { then } = result;
            if (typeof then === 'function') {
                then.call(result, undefined, (error) => later(deliverRejection, emitter, error, type, values));
            }
        } catch (error) {
            emitter.emit('error', error);
        }
    }

    // An error event that nobody listens to is thrown.
    function throwUnheard(value) {
        if (value instanceof Error) throw value;
        let shown;
        try {
            shown = need('inspect').inspect(value);
        } catch {
            shown = value;
        }
        throw nodeErrors.nodeError(Error, 'ERR_UNHANDLED_ERROR', `Unhandled error. (${shown})`, { context: value });
    }

    function callOne(emitter, listener, type, values) {
        const result = Reflect.apply(listener, emitter, values);
        if (result !== undefined && result !== null) watchResult(emitter, result, type, values);
    }

    prototype.emit = function emit(type, ...values) {
        const events = this._events;
        if (type === 'error') {
            if (events !== undefined && events[ERROR_MONITOR] !== undefined) this.emit(ERROR_MONITOR, ...values);
            if (events === undefined || events.error === undefined) throwUnheard(values[0]);
        } else if (events === undefined) {
            return false;
        }
        const listeners = events[type];
        if (listeners === undefined) return false;
        if (typeof listeners === 'function') {
            callOne(this, listeners, type, values);
        } else {
            // A copy: listeners may add and remove others while they run.
            for (const listener of listeners.slice()) callOne(this, listener, type, values);
        }
        return true;
    };

    function checkListener(listener) {
        nodeErrors.validateFunction(listener, 'listener');
    }

    function warnOfLeak(emitter, type, list) {
        const limit = limitOf(emitter);
        if (!(limit > 0) || list.length <= limit || list.warned) return;
        list.warned = true;
        const warning = new Error('Possible EventEmitter memory leak detected. ' +
            `${list.length} ${String(type)} listeners added to ${need('inspect').inspect(emitter, { depth: -1 })}. ` +
            `MaxListeners is ${limit}. ` + 'Use emitter.setMaxListeners() to increase limit');
        warning.name = 'MaxListenersExceededWarning';
        warning.emitter = emitter;
        warning.type = type;
        warning.count = list.length;
        nodeErrors.emitWarning(warning);
    }

    function add(emitter, type, listener, first) {
        checkListener(listener);
        let events = emitter._events;
        if (events === undefined) {
            events = emitter._events = { __proto__: null };
            emitter._eventsCount = 0;
        } else if (events.newListener !== undefined) {
            emitter.emit('newListener', type, listener.listener === undefined ? listener : listener.listener);
            // The listener may have replaced the whole table.
            events = emitter._events;
        }
        const existing = events[type];
        if (existing === undefined) {
            events[type] = listener;
            emitter._eventsCount++;
            return emitter;
        }
        if (typeof existing === 'function') events[type] = first ? [listener, existing] : [existing, listener];
        else if (first) existing.unshift(listener);
        else existing.push(listener);
        warnOfLeak(emitter, type, events[type]);
        return emitter;
    }

    prototype.addListener = function addListener(type, listener) {
        return add(this, type, listener, false);
    };
    prototype.on = prototype.addListener;
    prototype.prependListener = function prependListener(type, listener) {
        return add(this, type, listener, true);
    };

    function onceWrapper(emitter, type, listener) {
        checkListener(listener);
        let fired = false;
        function wrapped(...values) {
            if (fired) return undefined;
            emitter.removeListener(type, wrapped);
            fired = true;
            return Reflect.apply(listener, emitter, values);
        }
        Object.defineProperty(wrapped, 'name', { value: 'bound onceWrapper', configurable: true });
        wrapped.listener = listener;
        return wrapped;
    }

    prototype.once = function once(type, listener) {
        this.on(type, onceWrapper(this, type, listener));
        return this;
    };
    prototype.prependOnceListener = function prependOnceListener(type, listener) {
        this.prependListener(type, onceWrapper(this, type, listener));
        return this;
    };

    function forget(emitter, type) {
        emitter._eventsCount -= 1;
        if (emitter._eventsCount === 0) emitter._events = { __proto__: null };
        else delete emitter._events[type];
    }

    prototype.removeListener = function removeListener(type, listener) {
        checkListener(listener);
        const events = this._events;
        const list = events === undefined ? undefined : events[type];
        if (list === undefined) return this;
        if (list === listener || list.listener === listener) {
            forget(this, type);
            if (events.removeListener) this.emit('removeListener', type, list.listener || listener);
            return this;
        }
        if (typeof list === 'function') return this;
        const index = list.findLastIndex((item) => item === listener || item.listener === listener);
        if (index < 0) return this;
        list.splice(index, 1);
        if (list.length === 1) events[type] = list[0];
        if (events.removeListener !== undefined) this.emit('removeListener', type, listener);
        return this;
    };
    prototype.off = prototype.removeListener;

    prototype.removeAllListeners = function removeAllListeners(type) {
        const events = this._events;
        if (events === undefined) return this;
        if (events.removeListener === undefined) {
            if (arguments.length === 0) {
                this._events = { __proto__: null };
                this._eventsCount = 0;
            } else if (events[type] !== undefined) {
                forget(this, type);
            }
            return this;
        }
        if (arguments.length === 0) {
            for (const key of Reflect.ownKeys(events)) if (key !== 'removeListener') this.removeAllListeners(key);
            this.removeAllListeners('removeListener');
            this._events = { __proto__: null };
            this._eventsCount = 0;
            return this;
        }
        const list = events[type];
        if (typeof list === 'function') this.removeListener(type, list);
        else if (list !== undefined) for (let i = list.length - 1; i >= 0; i--) this.removeListener(type, list[i]);
        return this;
    };

    function listOf(emitter, type, unwrap) {
        const found = emitter._events === undefined ? undefined : emitter._events[type];
        if (found === undefined) return [];
        const list = typeof found === 'function' ? [found] : found.slice();
        return unwrap ? list.map((item) => item.listener || item) : list;
    }

    prototype.listeners = function listeners(type) {
        return listOf(this, type, true);
    };
    prototype.rawListeners = function rawListeners(type) {
        return listOf(this, type, false);
    };

    function listenerCount(type, listener) {
        const list = listOf(this, type, false);
        if (listener === undefined || listener === null) return list.length;
        return list.filter((item) => item === listener || item.listener === listener).length;
    }
    prototype.listenerCount = listenerCount;

    prototype.eventNames = function eventNames() {
        return this._eventsCount > 0 ? Reflect.ownKeys(this._events) : [];
    };

    function staticProperties() {
        // Most programs use none of these: their code is loaded with the first call.
        const asynchronous = () => need('events_async');
        Object.assign(EventEmitter, {
            addAbortListener(signal, listener) { return asynchronous().addAbortListener(signal, listener); },
            once(emitter, name, options) { return asynchronous().once(emitter, name, options); },
            on(emitter, event, options) { return asynchronous().on(emitter, event, options); },
            getEventListeners(emitterOrTarget, type) { return asynchronous().getEventListeners(emitterOrTarget, type); },
            getMaxListeners(emitterOrTarget) { return asynchronous().getMaxListeners(emitterOrTarget); },
            EventEmitter,
            usingDomains: false,
            captureRejectionSymbol: REJECTION,
        });
        Object.defineProperty(EventEmitter, 'captureRejections', {
            get() { return EventEmitter.prototype[CAPTURE]; },
            set(value) {
                nodeErrors.validateBoolean(value, 'EventEmitter.captureRejections');
                EventEmitter.prototype[CAPTURE] = value;
            },
            enumerable: true,
        });
        EventEmitter.errorMonitor = ERROR_MONITOR;
        Object.defineProperty(EventEmitter, 'defaultMaxListeners', {
            get() { return defaultMaxListeners; },
            set(value) {
                nodeErrors.validateNumber(value, 'defaultMaxListeners', 0);
                defaultMaxListeners = value;
            },
            enumerable: true,
        });
        EventEmitter.setMaxListeners = function (n = defaultMaxListeners, ...targets) {
            nodeErrors.validateNumber(n, 'setMaxListeners', 0);
            if (targets.length === 0) defaultMaxListeners = n;
            else for (const target of targets) asynchronous().setLimit(target, n);
        };
        EventEmitter.init = function (options) { Reflect.apply(init, this, [options]); };
        EventEmitter.listenerCount = function (emitter, type) {
            if (typeof emitter.listenerCount === 'function') return emitter.listenerCount(type);
            return Reflect.apply(listenerCount, emitter, [type]);
        };
    }

    staticProperties();
    return { default: EventEmitter, EventEmitter, errorMonitor: ERROR_MONITOR, captureRejectionSymbol: REJECTION,
        once: EventEmitter.once, on: EventEmitter.on, getEventListeners: EventEmitter.getEventListeners,
        getMaxListeners: EventEmitter.getMaxListeners, setMaxListeners: EventEmitter.setMaxListeners,
        listenerCount: EventEmitter.listenerCount, addAbortListener: EventEmitter.addAbortListener, usingDomains: false };
})
