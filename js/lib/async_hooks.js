// SPDX-License-Identifier: MIT
// js/lib/async_hooks.js - node:async_hooks: AsyncLocalStorage and AsyncResource. Hooks that are told of every resource are not there.
// host: surroundings(), surround(value)
//
// What the host calls surroundings are a Map from storages to their values, or undefined. It is never changed: who sets a value makes
// another one. The host takes them along to whatever is put off: reactions of promises, ticks, timers, fibers, callbacks.
(function (host, need) {
    'use strict';
    const { validateFunction, validateString, nodeError } = need('node_error');

    function within(surroundings, fn, self, values) {
        const outer = host.surround(surroundings);
        try {
            return Reflect.apply(fn, self, values);
        } finally {
            host.surround(outer);
        }
    }

    // A function that runs in the surroundings of now.
    function bound(fn, self) {
        const surroundings = host.surroundings();
        return function (...values) {
            return within(surroundings, fn, self ?? this, values);
        };
    }

    class AsyncLocalStorage {
        static bind(fn) {
            validateFunction(fn, 'fn');
            return bound(fn);
        }

        static snapshot() {
            return bound((fn, ...values) => fn(...values));
        }

        #with(store) {
            return new Map(host.surroundings()).set(this, store);
        }

        #without() {
            const others = new Map(host.surroundings());
            others.delete(this);
            return others.size === 0 ? undefined : others;
        }

        run(store, fn, ...values) {
            return within(this.#with(store), fn, undefined, values);
        }

        exit(fn, ...values) {
            return within(this.#without(), fn, undefined, values);
        }

        // For the rest of what runs now, and whatever that puts off.
        enterWith(store) {
            host.surround(this.#with(store));
        }

        disable() {
            host.surround(this.#without());
        }

        getStore() {
            return host.surroundings()?.get(this);
        }
    }

    // ---- Resources: something that is not put off by the host, but by a program ----

    let count = 1;

    class AsyncResource {
        #surroundings = host.surroundings();
        #number = ++count;
        #trigger;

        constructor(type, options = {}) {
            validateString(type, 'type');
            const trigger = typeof options === 'number' ? options : options?.triggerAsyncId ?? 1;
            if (!Number.isSafeInteger(trigger) || trigger < -1)
                throw nodeError(RangeError, 'ERR_INVALID_ASYNC_ID', `Invalid triggerAsyncId value: ${trigger}`);
            this.#trigger = trigger;
        }

        runInAsyncScope(fn, self, ...values) {
            return within(this.#surroundings, fn, self, values);
        }

        emitDestroy() {
            return this;
        }

        asyncId() {
            return this.#number;
        }

        triggerAsyncId() {
            return this.#trigger;
        }

        bind(fn, self) {
            validateFunction(fn, 'fn');
            const resource = this;
            return Object.defineProperty(function (...values) {
                return resource.runInAsyncScope(fn, self ?? this, ...values);
            }, 'length', { value: fn.length, configurable: true });
        }

        static bind(fn, type, self) {
            return new AsyncResource(type || fn.name || 'bound-anonymous-fn').bind(fn, self);
        }
    }

    // Nobody is told, but who asks for a hook has one.
    function createHook(callbacks) {
        for (const name of ['init', 'before', 'after', 'destroy', 'promiseResolve'])
            if (callbacks[name] !== undefined && typeof callbacks[name] !== 'function')
                throw nodeError(TypeError, 'ERR_ASYNC_CALLBACK', `hook.${name} must be a function`);
        const hook = {
            enable: () => hook,
            disable: () => hook,
        };
        return hook;
    }

    const resource = {};
    return {
        AsyncLocalStorage, AsyncResource, createHook, executionAsyncId: () => 1, triggerAsyncId: () => 0,
        executionAsyncResource: () => resource,
    };
})
