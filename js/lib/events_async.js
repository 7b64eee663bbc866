// SPDX-License-Identifier: MIT
// js/lib/events_async.js - node:events: once and on, which turn events into promises, and help for event targets.
// host: nothing.
(function (host, need) {
    'use strict';

    const nodeErrors = need('node_error');
    const WATERMARKS = Symbol.for('nodejs.watermarkData');
    const targetLimits = new WeakMap();

    function isEmitter(value) {
        return value !== null && value !== undefined && typeof value.on === 'function';
    }

    function isTarget(value) {
        return value !== null && value !== undefined && typeof value.addEventListener === 'function';
    }

    function listen(emitter, name, listener, options) {
        if (isEmitter(emitter)) {
            if (options && options.once) emitter.once(name, listener);
            else emitter.on(name, listener);
        } else if (isTarget(emitter)) {
            emitter.addEventListener(name, listener, options);
        } else {
            throw nodeErrors.invalidArgType('emitter', 'EventEmitter', emitter);
        }
    }

    function unlisten(emitter, name, listener, options) {
        if (typeof emitter.removeListener === 'function') emitter.removeListener(name, listener);
        else if (typeof emitter.removeEventListener === 'function') emitter.removeEventListener(name, listener, options);
        else throw nodeErrors.invalidArgType('emitter', 'EventEmitter', emitter);
    }

    // A promise of the values of the next event of that name.
    async function once(emitter, name, options = { __proto__: null }) {
        const signal = options ? options.signal : undefined;
        nodeErrors.validateAbortSignal(signal, 'options.signal');
        if (signal !== undefined && signal.aborted) throw nodeErrors.abortError(signal);
        return new Promise((resolve, reject) => {
            function leave() {
                if (isEmitter(emitter) && name !== 'error') emitter.removeListener('error', failed);
                if (signal !== undefined) signal.removeEventListener('abort', aborted);
            }
            function failed(error) {
                unlisten(emitter, name, came);
                if (signal !== undefined) signal.removeEventListener('abort', aborted);
                reject(error);
            }
            function came(...values) {
                leave();
                resolve(values);
            }
            function aborted() {
                unlisten(emitter, name, came);
                leave();
                reject(nodeErrors.abortError(signal));
            }
            listen(emitter, name, came, { __proto__: null, once: true });
            if (name !== 'error' && isEmitter(emitter) && typeof emitter.once === 'function') emitter.once('error', failed);
            if (signal !== undefined) signal.addEventListener('abort', aborted, { once: true });
        });
    }

    function done(value) {
        return { value, done: value === undefined };
    }

    const asyncIteratorPrototype = () => Object.getPrototypeOf(Object.getPrototypeOf(async function* () {}).prototype);

    // What one iterator of events.on keeps: events nobody has asked for yet, and questions nobody has answered yet.
    class Queue {
        constructor(emitter, high, low) {
            this.emitter = emitter;
            this.high = high;
            this.low = low;
            this.events = [];
            this.waiting = [];
            this.error = undefined;
            this.failed = false;
            this.finished = false;
            this.paused = false;
            this.cleanups = [];
        }

        push(values) {
            if (this.waiting.length > 0) {
                this.waiting.shift().resolve({ value: values, done: false });
                return;
            }
            this.events.push(values);
            if (!this.paused && this.events.length > this.high && typeof this.emitter.pause === 'function') {
                this.paused = true;
                this.emitter.pause();
            }
        }

        fail(error) {
            if (this.waiting.length > 0) {
                this.waiting.shift().reject(error);
            } else {
                this.error = error;
                this.failed = true;
            }
            this.close();
        }

        next() {
            if (this.events.length > 0) {
                const value = this.events.shift();
                if (this.paused && this.events.length < this.low) {
                    this.emitter.resume();
                    this.paused = false;
                }
                return Promise.resolve({ value, done: false });
            }
            if (this.failed) {
                const { error } = this;
                this.failed = false;
                this.error = undefined;
                return Promise.reject(error);
            }
            if (this.finished) return this.close();
            return new Promise((resolve, reject) => { this.waiting.push({ resolve, reject }); });
        }

        close() {
            for (const cleanup of this.cleanups.splice(0)) cleanup();
            this.finished = true;
            for (const { resolve } of this.waiting.splice(0)) resolve(done());
            return Promise.resolve(done());
        }

        attach(name, listener) {
            listen(this.emitter, name, listener);
            this.cleanups.push(() => unlisten(this.emitter, name, listener));
        }
    }

    function iteratorOf(queue) {
        return Object.setPrototypeOf({
            next() { return queue.next(); },
            return() { return queue.close(); },
            throw(error) {
                if (!(error instanceof Error)) throw nodeErrors.invalidArgType('EventEmitter.AsyncIterator', 'Error', error);
                queue.fail(error);
            },
            [Symbol.asyncIterator]() { return this; },
            [WATERMARKS]: {
                get size() { return queue.events.length; },
                get low() { return queue.low; },
                get high() { return queue.high; },
                get isPaused() { return queue.paused; },
            },
        }, asyncIteratorPrototype());
    }

    function watermark(options, name, older, fallback) {
        const value = options[name] === undefined ? (options[older] === undefined ? fallback : options[older]) :
            options[name];
        if (!Number.isInteger(value)) {
            if (typeof value !== 'number') throw nodeErrors.invalidArgType('options.' + name, 'number', value);
            throw nodeErrors.outOfRange('options.' + name, 'an integer', value);
        }
        if (value < 1) throw nodeErrors.outOfRange('options.' + name, '>= 1 && <= ' + Number.MAX_SAFE_INTEGER, value);
        return value;
    }

    // An iterator over the values of all coming events of that name.
    function on(emitter, event, options = { __proto__: null }) {
        const signal = options ? options.signal : undefined;
        nodeErrors.validateAbortSignal(signal, 'options.signal');
        if (signal !== undefined && signal.aborted) throw nodeErrors.abortError(signal);
        const high = watermark(options, 'highWaterMark', 'highWatermark', Number.MAX_SAFE_INTEGER);
        const low = watermark(options, 'lowWaterMark', 'lowWatermark', 1);
        const queue = new Queue(emitter, high, low);
        queue.attach(event, (...values) => queue.push(values));
        if (event !== 'error' && isEmitter(emitter)) queue.attach('error', (error) => queue.fail(error));
        for (const name of options.close || []) queue.attach(name, () => queue.close());
        if (signal !== undefined) {
            const aborted = () => queue.fail(nodeErrors.abortError(signal));
            signal.addEventListener('abort', aborted, { once: true });
            queue.cleanups.push(() => signal.removeEventListener('abort', aborted));
        }
        return iteratorOf(queue);
    }

    function getEventListeners(emitterOrTarget, type) {
        if (emitterOrTarget && typeof emitterOrTarget.listeners === 'function') return emitterOrTarget.listeners(type);
        if (isTarget(emitterOrTarget)) {
            const { getListeners } = need('event_target');
            return typeof getListeners === 'function' ? getListeners(emitterOrTarget, type) : [];
        }
        throw nodeErrors.invalidArgType('emitter', ['EventEmitter', 'EventTarget'], emitterOrTarget);
    }

    function getMaxListeners(emitterOrTarget) {
        if (emitterOrTarget &&
            typeof emitterOrTarget.getMaxListeners === 'function') return emitterOrTarget.getMaxListeners();
        if (isTarget(emitterOrTarget)) {
            const limit = targetLimits.get(emitterOrTarget);
            return limit === undefined ? need('events').EventEmitter.defaultMaxListeners : limit;
        }
        throw nodeErrors.invalidArgType('emitter', ['EventEmitter', 'EventTarget'], emitterOrTarget);
    }

    function setLimit(target, limit) {
        if (target && typeof target.setMaxListeners === 'function') target.setMaxListeners(limit);
        else if (isTarget(target)) targetLimits.set(target, limit);
        else throw nodeErrors.invalidArgType('eventTargets', ['EventEmitter', 'EventTarget'], target);
    }

    // Calls the listener when the signal aborts, at once if it has; gives a handle that takes it back.
    function addAbortListener(signal, listener) {
        if (signal === undefined) throw nodeErrors.invalidArgType('signal', 'AbortSignal', signal);
        nodeErrors.validateAbortSignal(signal, 'signal');
        nodeErrors.validateFunction(listener, 'listener');
        let remove;
        if (signal.aborted) {
            queueMicrotask(() => listener());
        } else {
            signal.addEventListener('abort', listener, { __proto__: null, once: true });
            remove = () => signal.removeEventListener('abort', listener);
        }
        const dispose = Symbol.dispose || Symbol.for('nodejs.dispose');
        return { __proto__: null, [dispose]() { if (remove !== undefined) remove(); } };
    }

    return { once, on, getEventListeners, getMaxListeners, setLimit, addAbortListener };
})
