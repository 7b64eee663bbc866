// SPDX-License-Identifier: MIT
// js/lib/abort.js - AbortController and AbortSignal.
// host: setTimeoutUnref(function, milliseconds)
(function (host, need) {
    'use strict';

    const idl = need('idl');
    const { Event, EventTarget, fire, defineHandler, watch, hasListener } = need('event_target');
    const highest = Number.MAX_SAFE_INTEGER;

    // Only the library may make a signal: it passes this token.
    const token = Symbol('token');
    // Access to the private state of signals for the code of this library.
    let inside;

    function abortError() {
        const { DOMException } = need('dom_exception');
        return new DOMException('This operation was aborted', 'AbortError');
    }

    class AbortSignal extends EventTarget {
        #aborted = false;
        #reason = undefined;
        // Functions of the library to run when the signal aborts.
        #algorithms = undefined;
        // A signal of any(): the plain signals that it follows.
        #sources = undefined;
        // The signals that follow this one: weakly, and those with somebody listening also strongly.
        #followers = undefined;
        #sweepAt = 16;
        #kept = undefined;

        static #of(value) {
            if (typeof value !== 'object' || value === null || !(#aborted in value)) {
                throw idl.illegalInvocation();
            }
            return value;
        }

        static abort(reason = undefined) {
            const signal = new AbortSignal(token);
            signal.#aborted = true;
            signal.#reason = reason === undefined ? abortError() : reason;
            return signal;
        }

        static timeout(milliseconds) {
            idl.needArguments('AbortSignal.timeout', arguments.length, 1);
            const delay = idl.toRangedInteger(milliseconds, highest, 'The delay of AbortSignal.timeout');
            const signal = new AbortSignal(token);
            host.setTimeoutUnref(() => {
                const { DOMException } = need('dom_exception');
                const reason = new DOMException('The operation was aborted due to timeout', 'TimeoutError');
                AbortSignal.#signalAbort(signal, reason);
            }, delay);
            return signal;
        }

        static any(signals) {
            idl.needArguments('AbortSignal.any', arguments.length, 1);
            const list = idl.toSequence(signals, 'The argument of AbortSignal.any', (value) => {
                if (!AbortSignal.#isOurs(value)) {
                    throw new TypeError('AbortSignal.any takes AbortSignals only');
                }
                return value;
            });
            const result = new AbortSignal(token);
            for (const signal of list) {
                if (signal.#aborted) {
                    result.#aborted = true;
                    result.#reason = signal.#reason;
                    return result;
                }
            }
            result.#sources = new Set();
            for (const signal of list) {
                for (const source of signal.#sources ?? [signal]) {
                    result.#sources.add(source);
                }
            }
            AbortSignal.#follow(result);
            return result;
        }

        static #isOurs(value) {
            return typeof value === 'object' && value !== null && #aborted in value;
        }

        static #follow(follower) {
            const weak = new WeakRef(follower);
            for (const source of follower.#sources) {
                source.#followers ??= new Set();
                source.#followers.add(weak);
                // Every now and then the places of signals that are gone are given up.
                if (source.#followers.size >= source.#sweepAt) {
                    for (const other of source.#followers) {
                        if (other.deref() === undefined) {
                            source.#followers.delete(other);
                        }
                    }
                    source.#sweepAt = Math.max(16, source.#followers.size * 2);
                }
            }
            watch(follower, AbortSignal.#listenersChanged);
        }

        static #listenersChanged(follower, type) {
            if (type === 'abort') {
                AbortSignal.#keep(follower);
            }
        }

        // A follower that somebody waits for lives as long as one of its sources does.
        static #keep(follower) {
            if (follower.#sources === undefined) {
                return;
            }
            const wanted = !follower.#aborted && (hasListener(follower, 'abort') || (follower.#algorithms?.size ?? 0) > 0);
            for (const source of follower.#sources) {
                if (wanted) {
                    source.#kept ??= new Set();
                    source.#kept.add(follower);
                } else {
                    source.#kept?.delete(follower);
                }
            }
        }

        static #runSteps(signal) {
            const algorithms = signal.#algorithms;
            signal.#algorithms = undefined;
            for (const algorithm of algorithms ?? []) {
                algorithm(signal.#reason);
            }
            fire(signal, new Event('abort'));
            AbortSignal.#keep(signal);
        }

        static #signalAbort(signal, reason) {
            if (signal.#aborted) {
                return;
            }
            signal.#aborted = true;
            signal.#reason = reason === undefined ? abortError() : reason;
            const followers = [];
            for (const weak of signal.#followers ?? []) {
                const follower = weak.deref();
                if (follower !== undefined && !follower.#aborted) {
                    follower.#aborted = true;
                    follower.#reason = signal.#reason;
                    followers.push(follower);
                }
            }
            signal.#followers = undefined;
            AbortSignal.#runSteps(signal);
            for (const follower of followers) {
                AbortSignal.#runSteps(follower);
            }
            signal.#kept = undefined;
        }

        static {
            inside = {
                isAbortSignal: AbortSignal.#isOurs,
                abort: AbortSignal.#signalAbort,
                addAlgorithm(signal, algorithm) {
                    if (!signal.#aborted) {
                        signal.#algorithms ??= new Set();
                        signal.#algorithms.add(algorithm);
                        AbortSignal.#keep(signal);
                    }
                },
                removeAlgorithm(signal, algorithm) {
                    if (signal.#algorithms?.delete(algorithm)) {
                        AbortSignal.#keep(signal);
                    }
                },
            };
        }

        constructor(key = undefined) {
            if (key !== token) {
                throw new TypeError('Illegal constructor');
            }
            super();
        }

        get aborted() {
            return AbortSignal.#of(this).#aborted;
        }
        get reason() {
            return AbortSignal.#of(this).#reason;
        }
        throwIfAborted() {
            const signal = AbortSignal.#of(this);
            if (signal.#aborted) {
                throw signal.#reason;
            }
        }
    }
    defineHandler(AbortSignal, 'abort', inside.isAbortSignal);
    idl.define(AbortSignal);
    idl.inspectAs(AbortSignal, (signal) => ['AbortSignal', { aborted: signal.aborted }], 'empty');

    class AbortController {
        #signal = new AbortSignal(token);
        static #of(value) {
            if (typeof value !== 'object' || value === null || !(#signal in value)) {
                throw idl.illegalInvocation();
            }
            return value;
        }
        get signal() {
            return AbortController.#of(this).#signal;
        }
        abort(reason = undefined) {
            inside.abort(AbortController.#of(this).#signal, reason);
        }
    }
    idl.define(AbortController);
    idl.inspectAs(AbortController, (controller) => ['AbortController', { signal: controller.signal }], 'empty');

    return {
        AbortController, AbortSignal, isAbortSignal: inside.isAbortSignal, signalAbort: inside.abort,
        addAlgorithm: inside.addAlgorithm, removeAlgorithm: inside.removeAlgorithm,
        createSignal: () => new AbortSignal(token),
    };
})
