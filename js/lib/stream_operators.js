// SPDX-License-Identifier: MIT
// js/lib/stream_operators.js - methods of Readable that take its chunks one by one: map, filter, reduce and their kin.
(function (host, need) {
    'use strict';
    const errors = need('node_error');
    const SKIPPED = Symbol('skipped');

    function checkFunction(fn, name = 'fn') {
        if (typeof fn !== 'function')
            throw errors.invalidArgType(name, ['Function', 'AsyncFunction'], fn);
    }

    function checkOptions(options) {
        if (options === undefined || options === null)
            return;
        errors.validateObject(options, 'options');
        if (options.signal !== undefined && options.signal !== null)
            errors.validateAbortSignal(options.signal, 'options.signal');
    }

    function wholeNumber(value, name, least) {
        const number = Math.floor(value);
        if (!Number.isSafeInteger(number) || number < least)
            throw errors.outOfRange(name, Number.isInteger(number) ? `>= ${least} && <= ${Number.MAX_SAFE_INTEGER}`
                : 'an integer', number);
        return number;
    }

    const isAborted = (options) => options?.signal?.aborted;

    // Several calls at a time, results in order: what is begun waits in a line, and reading goes on while that is short.
    class Line {
        constructor(stream, fn, options) {
            this.stream = stream;
            this.fn = fn;
            this.most = options?.concurrency === undefined || options.concurrency === null ? 1
                : wholeNumber(options.concurrency, 'options.concurrency', 1);
            const ahead = options?.highWaterMark;
            this.longest = this.most + (ahead === undefined || ahead === null ? this.most - 1
                : wholeNumber(ahead, 'options.highWaterMark', 0));
            this.outer = options?.signal;
            this.signal = undefined;
            this.waiting = []; // promises
            this.running = 0;
            this.isOver = false; // nothing more is begun
            this.wakeTaker = this.wakeReader = undefined;
        }

        wake(who) {
            const fn = this[who];
            this[who] = undefined;
            fn?.();
        }

        ended(hasFailed) {
            this.isOver ||= hasFailed;
            this.running--;
            this.mayRead();
        }

        mayRead() {
            if (!this.isOver && this.running < this.most && this.waiting.length < this.longest)
                this.wake('wakeReader');
        }

        put(promise) {
            promise.then(() => this.ended(false), () => this.ended(true));
            this.waiting.push(promise);
        }

        begin(value) {
            let result;
            try {
                result = this.fn(value, { signal: this.signal });
                if (result === SKIPPED)
                    return;
                result = Promise.resolve(result);
            } catch (error) {
                result = Promise.reject(error);
            }
            this.running++;
            this.put(result);
        }

        async read() {
            try {
                for await (const value of this.stream) {
                    if (this.isOver)
                        return;
                    if (this.signal.aborted)
                        throw errors.abortError();
                    const before = this.waiting.length;
                    this.begin(value);
                    if (this.waiting.length === before)
                        continue;
                    this.wake('wakeTaker');
                    if (!this.isOver && (this.waiting.length >= this.longest || this.running >= this.most))
                        await new Promise((resolve) => { this.wakeReader = resolve; });
                }
                this.waiting.push(undefined); // the end
            } catch (error) {
                this.put(Promise.reject(error));
            } finally {
                this.isOver = true;
                this.wake('wakeTaker');
            }
        }

        async* results() {
            this.signal = AbortSignal.any(this.outer ? [this.outer] : []);
            this.read();
            try {
                for (;;) {
                    while (this.waiting.length > 0) {
                        const first = this.waiting[0], value = await first;
                        if (first === undefined)
                            return;
                        if (this.signal.aborted)
                            throw errors.abortError();
                        if (value !== SKIPPED)
                            yield value;
                        this.waiting.shift();
                        this.mayRead();
                    }
                    await new Promise((resolve) => { this.wakeTaker = resolve; });
                }
            } finally {
                this.isOver = true;
                this.wake('wakeReader');
            }
        }
    }

    function map(fn, options) {
        checkFunction(fn);
        checkOptions(options);
        return new Line(this, fn, options).results();
    }

    function filter(fn, options) {
        checkFunction(fn);
        return map.call(this, async (value, given) => (await fn(value, given) ? value : SKIPPED), options);
    }

    async function* each(stream, options) {
        if (isAborted(options))
            throw errors.abortError();
        for await (const value of stream) {
            if (isAborted(options))
                throw errors.abortError();
            yield value;
        }
    }

    function count(value) {
        const number = Number(value);
        if (number < 0)
            throw errors.outOfRange('number', '>= 0', number);
        return Number.isNaN(number) ? 0 : number;
    }

    const streams = {
        map,
        filter,
        flatMap(fn, options) {
            const lists = map.call(this, fn, options);
            return (async function* flat() {
                for await (const list of lists)
                    yield* list;
            })();
        },
        drop(number, options = undefined) {
            checkOptions(options);
            let left = count(number);
            return (async function* rest(stream) {
                for await (const value of each(stream, options))
                    if (left-- <= 0)
                        yield value;
            })(this);
        },
        take(number, options = undefined) {
            checkOptions(options);
            let left = count(number);
            return (async function* first(stream) {
                for await (const value of each(stream, options)) {
                    if (left-- > 0)
                        yield value;
                    if (left <= 0)
                        return;
                }
            })(this);
        },
        asIndexedPairs(options = undefined) {
            checkOptions(options);
            return (async function* pairs(stream) {
                let index = 0;
                for await (const value of each(stream, options))
                    yield [index++, value];
            })(this);
        },
        compose(stream, options) {
            checkOptions(options);
            const is = need('stream_is');
            if (is.node(stream) && !is.writable(stream))
                throw errors.invalidArgValue('stream', stream, 'must be writable');
            const composed = need('stream_compose').compose(this, stream);
            return options?.signal ? need('stream_finished').addAbortSignal(options.signal, composed) : composed;
        },
    };

    const promises = {
        async some(fn, options = undefined) {
            for await (const value of filter.call(this, fn, options)) {
                void value;
                return true;
            }
            return false;
        },
        async every(fn, options = undefined) {
            checkFunction(fn);
            return !(await promises.some.call(this, async (...values) => !(await fn(...values)), options));
        },
        async find(fn, options) {
            for await (const value of filter.call(this, fn, options))
                return value;
            return undefined;
        },
        async forEach(fn, options) {
            checkFunction(fn);
            const results = map.call(this, async (value, given) => {
                await fn(value, given);
                return SKIPPED;
            }, options);
            for await (const value of results)
                void value;
        },
        async toArray(options) {
            checkOptions(options);
            const list = [];
            for await (const value of this) {
                if (isAborted(options))
                    throw errors.abortError(options.signal);
                list.push(value);
            }
            return list;
        },
        async reduce(reducer, initial, options) {
            checkFunction(reducer, 'reducer');
            checkOptions(options);
            let hasValue = arguments.length > 1, value = initial;
            if (isAborted(options)) {
                const error = errors.abortError(options.signal);
                this.once('error', () => {}); // it is thrown
                await need('stream_finished').finishedLater(this.destroy(error));
                throw error;
            }
            const controller = new AbortController();
            const stop = options?.signal
                && need('stream_finished').onAbort(options.signal, () => controller.abort());
            try {
                for await (const next of this) {
                    if (isAborted(options))
                        throw errors.abortError();
                    value = hasValue ? await reducer(value, next, { signal: controller.signal }) : next;
                    hasValue = true;
                }
                if (!hasValue)
                    throw errors.nodeError(TypeError, 'ERR_MISSING_ARGS', 'Reduce of an empty stream requires an initial value');
            } finally {
                stop?.();
                controller.abort();
            }
            return value;
        },
    };

    // As methods: what is made of a stream is one again, or a promise.
    function addTo(Readable) {
        const add = (name, fn, length) => {
            Object.defineProperty(fn, 'name', { value: name, configurable: true });
            Object.defineProperty(fn, 'length', { value: length, configurable: true });
            Object.defineProperty(Readable.prototype, name, { value: fn, writable: true, configurable: true });
        };
        for (const name of Object.keys(streams))
            add(name, function (...values) {
                return Readable.from(streams[name].apply(this, values));
            }, streams[name].length);
        for (const name of Object.keys(promises))
            add(name, function (...values) {
                return promises[name].apply(this, values);
            }, promises[name].length);
    }

    return { addTo };
})
