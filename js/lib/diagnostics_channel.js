// SPDX-License-Identifier: MIT
// js/lib/diagnostics_channel.js - node:diagnostics_channel: named channels that tell their subscribers at once.
(function (host, need) {
    'use strict';
    const channels = new Map();

    class Channel {
        #subscribers = [];

        constructor(name) {
            this.name = name;
        }

        get hasSubscribers() {
            return this.#subscribers.length > 0;
        }

        subscribe(fn) {
            need('node_error').validateFunction(fn, 'subscription');
            this.#subscribers = [...this.#subscribers, fn];
        }

        unsubscribe(fn) {
            const at = this.#subscribers.indexOf(fn);
            this.#subscribers = this.#subscribers.filter((each, i) => i !== at);
            return at >= 0;
        }

        publish(message) {
            for (const fn of this.#subscribers) {
                try {
                    fn(message, this.name);
                } catch (error) {
                    need('process').process.nextTick(() => {
                        throw error;
                    });
                }
            }
        }

        bindStore() {}

        unbindStore() {
            return false;
        }

        runStores(message, fn, self, ...args) {
            this.publish(message);
            return Reflect.apply(fn, self, args);
        }
    }

    function channel(name) {
        if (!channels.has(name))
            channels.set(name, new Channel(name));
        return channels.get(name);
    }

    const steps = ['start', 'end', 'asyncStart', 'asyncEnd', 'error'];

    // The five channels of something that begins and ends.
    class TracingChannel {
        constructor(names) {
            for (const step of steps)
                this[step] = typeof names === 'string' ? channel(`tracing:${names}:${step}`) : names[step];
        }

        get hasSubscribers() {
            return steps.some((step) => this[step].hasSubscribers);
        }

        subscribe(handlers) {
            for (const step of steps)
                if (handlers[step])
                    this[step].subscribe(handlers[step]);
        }

        unsubscribe(handlers) {
            return steps.every((step) => !handlers[step] || this[step].unsubscribe(handlers[step]));
        }

        traceSync(fn, context = {}, self = undefined, ...args) {
            this.start.publish(context);
            try {
                return context.result = Reflect.apply(fn, self, args);
            } catch (error) {
                context.error = error;
                this.error.publish(context);
                throw error;
            } finally {
                this.end.publish(context);
            }
        }

        tracePromise(fn, context = {}, self = undefined, ...args) {
            this.start.publish(context);
            const settle = (key, value) => {
                context[key] = value;
                if (key === 'error')
                    this.error.publish(context);
                this.asyncStart.publish(context);
                this.asyncEnd.publish(context);
            };
            try {
                return Promise.resolve(Reflect.apply(fn, self, args)).then((value) => {
                    settle('result', value);
                    return value;
                }, (error) => {
                    settle('error', error);
                    throw error;
                });
            } finally {
                this.end.publish(context);
            }
        }
    }

    return {
        channel, Channel, hasSubscribers: (name) => channels.get(name)?.hasSubscribers ?? false,
        subscribe: (name, fn) => channel(name).subscribe(fn),
        unsubscribe: (name, fn) => channel(name).unsubscribe(fn),
        tracingChannel: (names) => new TracingChannel(names),
    };
})
