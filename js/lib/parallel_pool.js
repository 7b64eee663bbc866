// SPDX-License-Identifier: MIT
// js/lib/parallel_pool.js - instances that are used again and again: Pool and parallel of weft:parallel.
// host: workers()
//
// Each instance of a pool has two channels, one for the jobs that it gets, one at a time, and one for its answers. An instance that
// has died, or was ended because nobody wants its answer any more, is replaced by a new one when there is need for it.
(function (host, need) {
    'use strict';
    const { STACK, Instance, orderOf, rebuilt } = need('spawn');
    const { sharedChannel } = need('channel');
    const { isFiber, wait } = need('fiber');
    const { timeLimit } = need('abortable');
    const CHUNKS = 4; // of a map for each instance: so many that the slowest does not keep the others waiting long
    const CHUNK_MOST = 1000;

    function toCount(value, name, otherwise) {
        if (value === undefined)
            return otherwise;
        if (!Number.isInteger(value) || value < 1)
            throw new RangeError(`${name} must be a whole number, 1 or more`);
        return value;
    }

    // On a fiber the result, elsewhere a promise of it.
    const later = (promise) => (isFiber() ? wait(promise) : promise);

    const closedError = () => need('errors').withCode(new Error('The pool is closed'), 'ERR_POOL_CLOSED');

    // Whichever comes first, the signal or the time: end(reason) is called, and failed is rejected.
    function watch(signal, limit, end) {
        const { addAlgorithm, removeAlgorithm } = need('abort');
        const { promise: failed, reject } = Promise.withResolvers();
        const fail = (reason) => {
            guard.failure ??= { reason };
            reject(reason);
            end(reason);
        };
        const aborted = () => fail(signal.reason);
        const { DOMException } = need('dom_exception');
        const late = () => fail(new DOMException('The operation was aborted due to timeout', 'TimeoutError'));
        const timer = limit < 0 ? undefined : setTimeout(late, limit);
        if (signal !== undefined)
            addAlgorithm(signal, aborted);
        failed.catch(() => {});
        const guard = {
            failed,
            failure: undefined,
            end() {
                clearTimeout(timer);
                if (signal !== undefined)
                    removeAlgorithm(signal, aborted);
            },
        };
        return guard;
    }

    class Worker {
        #jobs = sharedChannel(1);
        #answers = sharedChannel(1);
        #instance;
        isOver = false;

        constructor(options, ended) {
            this.#instance = new Instance(options, { library: 'parallel_worker' }, [this.#jobs, this.#answers]).unref();
            const end = () => {
                this.isOver = true;
                ended();
            };
            this.#instance.then(end, end); // an error is told to whoever has a job there
        }

        async run(job, transfer) {
            let answer;
            try {
                await this.#jobs.send(job, { transfer });
                answer = await this.#answers.recv();
            } catch (error) {
                if (error?.code !== 'EOWNERDEAD')
                    throw error;
                this.isOver = true;
                await this.#instance.ref(); // says why
                throw error;
            }
            const [isGood, value] = answer;
            if (isGood)
                return value;
            throw rebuilt(value);
        }

        terminate(reason) {
            this.isOver = true;
            return this.#instance.terminate(reason);
        }

        // When it has answered.
        close() {
            this.#jobs.close();
            return this.#instance.ref().then(() => {}, () => {});
        }
    }

    let widen;

    class Pool {
        #options;
        #most;
        #workers = new Set();
        #idle = [];
        #waiting = []; // who wants a worker: { resolve, reject }
        #jobs = 0; // that have begun, or wait for a worker
        #isClosed = false;
        #quiet = Promise.withResolvers(); // it is closed, and no job is left

        constructor(options = {}) {
            const { workers, memory, stack, name = 'pool' } = options;
            this.#most = toCount(workers, 'workers', host.workers());
            this.#options = { memory, stack, name };
        }

        static {
            widen = (pool, workers) => {
                pool.#most = Math.max(pool.#most, toCount(workers, 'workers', 1));
                return pool;
            };
        }

        // How many instances there may be, and how many there are.
        get workers() {
            return this.#most;
        }

        get size() {
            return this.#workers.size;
        }

        // What a function returns that runs in one of the instances, or the function of a module.
        run(fn, ...values) {
            return this.runWith({}, fn, ...values);
        }

        // With { signal, timeout, transfer }: an instance whose answer is not wanted any more is ended.
        runWith(options, fn, ...values) {
            return later(this.#job(options, orderOf(fn), [values]).then(([value]) => value));
        }

        // The results of fn(item, index) in the order of the items. The first error is the map's, and ends what the others do.
        map(fn, items, options) {
            return later(this.#map(orderOf(fn), [...items], options ?? {}));
        }

        // No more jobs; those that there are come to their end, and then the instances.
        close() {
            return later(this.#close());
        }

        // Ends all instances, whatever they do.
        terminate(reason = closedError()) {
            this.#isClosed = true;
            for (const { reject } of this.#waiting.splice(0))
                reject(reason);
            return later(Promise.all([...this.#workers].map((worker) => worker.terminate(reason))).then(() => {}));
        }

        async #job({ signal, timeout, transfer }, order, calls) {
            if (this.#isClosed)
                throw closedError();
            const limit = timeLimit({ timeout });
            signal?.throwIfAborted();
            this.#jobs++;
            let worker;
            const guard = watch(signal, limit, (reason) => worker?.terminate(reason));
            try {
                worker = await this.#take(guard.failed);
                if (guard.failure) // before there was a worker to end
                    throw guard.failure.reason;
                const { name, stack = STACK } = this.#options;
                return await worker.run({ order, calls, name, stack }, transfer);
            } finally {
                guard.end();
                this.#give(worker);
                if (--this.#jobs === 0 && this.#isClosed)
                    this.#quiet.resolve();
            }
        }

        // A worker that has nothing to do; waits for one, unless that fails before.
        async #take(failed) {
            const idle = this.#idle.pop();
            if (idle !== undefined)
                return idle;
            if (this.#workers.size < this.#most)
                return this.#newWorker();
            const entry = Promise.withResolvers();
            this.#waiting.push(entry);
            failed.catch((error) => {
                this.#waiting = this.#waiting.filter((other) => other !== entry);
                entry.reject(error);
            });
            return await entry.promise ?? this.#newWorker();
        }

        #newWorker() {
            const worker = new Worker(this.#options, () => this.#lose(worker));
            this.#workers.add(worker);
            return worker;
        }

        // It has ended: somebody else may have a new one in its place.
        #lose(worker) {
            this.#workers.delete(worker);
            this.#idle = this.#idle.filter((other) => other !== worker);
            this.#waiting.shift()?.resolve(undefined);
        }

        #give(worker) {
            if (worker === undefined || worker.isOver)
                return;
            const next = this.#waiting.shift();
            if (next === undefined)
                this.#idle.push(worker);
            else
                next.resolve(worker);
        }

        async #map(order, list, { chunk, signal, workers }) {
            const many = toCount(workers, 'workers', this.#most);
            const size = toCount(chunk, 'chunk', Math.min(CHUNK_MOST, Math.ceil(list.length / (many * CHUNKS)) || 1));
            const controller = new AbortController(), results = new Array(list.length);
            const own = signal === undefined ? controller.signal : AbortSignal.any([signal, controller.signal]);
            let next = 0;
            const work = async () => {
                while (next < list.length) {
                    const from = next;
                    next = Math.min(next + size, list.length);
                    const calls = list.slice(from, next).map((item, index) => [item, from + index]);
                    const values = await this.#job({ signal: own }, order, calls);
                    for (let i = 0; i < values.length; i++)
                        results[from + i] = values[i];
                }
            };
            own.throwIfAborted();
            const length = Math.min(many, Math.ceil(list.length / size));
            const fail = (error) => controller.abort(error); // the first one counts
            await Promise.all(Array.from({ length }, () => work().catch(fail)));
            own.throwIfAborted();
            return results;
        }

        async #close() {
            if (this.#jobs === 0)
                this.#quiet.resolve();
            this.#isClosed = true;
            await this.#quiet.promise;
            await Promise.all([...this.#workers].map((worker) => worker.close()));
        }
    }
    if (Symbol.asyncDispose)
        Object.defineProperty(Pool.prototype, Symbol.asyncDispose, {
            value: Pool.prototype.close, configurable: true, writable: true,
        });

    // The instances that everybody shares.
    let shared;
    const sharedPool = (workers) => widen(shared ??= new Pool({ name: 'parallel' }), workers);

    const parallel = {
        map: (fn, items, options) => sharedPool(options?.workers).map(fn, items, { workers: host.workers(), ...options }),
        run: (fn, ...values) => sharedPool().run(fn, ...values),
        runWith: (options, fn, ...values) => sharedPool().runWith(options, fn, ...values),
    };

    return { Pool, parallel };
})
