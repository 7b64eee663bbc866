// SPDX-License-Identifier: MIT
// js/lib/weft_pool.js - weft:pool: works, which are functions of this instance, and who runs which of them when.
// host: poolNew(options, onOver, onEvent), poolWait(pool, what, milliseconds), poolControl(pool, what), poolStats(pool),
//       workSubmit(pool, work, fn, options), workControl(pool, what, work), workStopRetry(pool, work), workFind(pool, id), workSelf(),
//       workState(), workStopPoint(agrees), workPausePoint()
//
// Queue, priorities, dependencies, retries, timeouts and all that are those of weft's own pool (js/work.c).
(function (host, need) {
    'use strict';
    const { abortable, timeLimit } = need('abortable');
    const { asCase } = need('select_case');
    const { settlement, settled } = need('channel');
    const { Line, kinds } = need('line');
    const { wait } = need('fiber');
    const { withCode } = need('errors');

    // As in weft/pool.h.
    const controls = { cancel: 0, stop: 1, forceStop: 2, pause: 3, resume: 4, start: 5 };
    const statuses = ['pending', 'succeeded', 'failed', 'cancelled', 'stopped', 'force-stopped', 'timed-out'];
    const rejections = { 'abort': 0, 'caller-runs': 1, 'discard': 2, 'discard-queued': 3, 'block': 4 };
    const disciplines = { fifo: 0, lifo: 1 };
    const retries = { never: 0, immediate: 1, requeue: 2 };
    const actions = { stop: 0, force: 1, tell: 2 };
    const waits = { idle: 0, drained: 1, disposed: 2 };
    const failuresKept = 1024;
    const errorOfDependency = -2; // ENOENT

    // What became of a work that did not return or throw by itself.
    class WorkError extends Error {
        constructor(status, message, code, options) {
            super(message, options);
            this.status = status;
            this.code = code;
        }
    }
    Object.defineProperty(WorkError.prototype, 'name', { value: 'WorkError', configurable: true, writable: true });

    const secret = Symbol('weft.pool');
    let finish, numberOf, submitted, groupHandle;

    class Work {
        #pool;
        #handle; // of the pool
        #failures; // of the pool
        #id;
        #bits; // its number; undefined while it is being submitted
        #result;
        #line = new Line(kinds.work);
        #promise;

        constructor(key, pool, handle, failures, id) {
            if (key !== secret)
                throw new TypeError('Works are made by their pool: pool.submit(fn)');
            this.#pool = pool;
            this.#handle = handle;
            this.#failures = failures;
            this.#id = id;
        }

        static {
            numberOf = (work, pool) => {
                if (typeof work !== 'object' || work === null || !(#bits in work) || work.#pool !== pool)
                    throw new TypeError('A work of the same pool is needed');
                return work.#bits;
            };
            submitted = (work, bits) => {
                work.#bits = bits;
                return work;
            };
            finish = (work, list, value) => work.#finish(list, value);
        }

        get pool() {
            return this.#pool;
        }

        get id() {
            return this.#id;
        }

        // 'pending' until it is over; then 'succeeded', 'failed', 'cancelled', 'stopped', 'force-stopped' or 'timed-out'.
        get status() {
            return this.#result?.status ?? 'pending';
        }

        // What came of it: { status, value, error, attempts, submitted, started, ended }; undefined until it is over.
        get result() {
            return this.#result;
        }

        #finish([number, verdict, error, attempts, cause, submittedAt, startedAt, endedAt, hasThrown], value) {
            const status = statuses[verdict];
            const moment = (time) => (time === 0 ? undefined : time - host.started);
            const result = { status, value: undefined, error: undefined, attempts, submitted: moment(submittedAt),
                started: moment(startedAt), ended: moment(endedAt) };
            if (status === 'succeeded')
                result.value = value;
            else
                result.error = this.#errorOf(status, error, cause, hasThrown ? { cause: value } : undefined);
            if (result.error !== undefined)
                this.#failures.add(number, result.error);
            this.#bits = number;
            this.#result = result;
            while (this.#line.length > 0)
                this.#line.next();
            this.#settle();
        }

        #errorOf(status, error, cause, thrown) {
            switch (status) {
            case 'failed':
                if (error === errorOfDependency && !thrown)
                    return new WorkError(status, 'A work that it comes after has not succeeded', 'EDEPENDENCY',
                        { cause: this.#failures.get(cause) });
                return thrown ? thrown.cause : new WorkError(status, 'The work could not be run', 'EIO');
            case 'cancelled': return new WorkError(status, 'The work was cancelled', 'ECANCELED');
            case 'timed-out': return new WorkError(status, 'The work took too long', 'ETIMEDOUT', thrown);
            default: return new WorkError(status, 'The work was stopped', 'ECANCELED', thrown);
            }
        }

        #outcome() {
            if (this.#result.status === 'succeeded')
                return this.#result.value;
            throw this.#result.error;
        }

        // Its value, when it is over; or its error is thrown.
        wait(options) {
            if (host.workSelf() === this)
                throw withCode(new Error('A work cannot wait for itself'), 'EDEADLK');
            const waited = this.#line.enter(() => this.#result !== undefined, undefined, options);
            return waited instanceof Promise ? waited.then(() => this.#outcome()) : this.#outcome();
        }

        // A promise of that, also on a fiber.
        get promise() {
            if (!this.#promise) {
                this.#promise = Promise.withResolvers();
                this.#settle();
            }
            return this.#promise.promise;
        }

        #settle() {
            if (!this.#result || !this.#promise)
                return;
            const { resolve, reject } = this.#promise;
            if (this.#result.status === 'succeeded')
                resolve(this.#result.value);
            else
                reject(this.#result.error);
        }

        [asCase](key) {
            return key === 'work' ? [...settlement(this.promise)[asCase]('recv'), settled] : undefined;
        }

        #control(what) {
            return this.#isAlive() && host.workControl(this.#handle, controls[what], this.#bits);
        }

        // Each says whether it could be done. cancel: it has not begun, and never will. stop: if it has begun, it is asked to, at its
        // next stop point. forceStop: and its waits are errors from now on; after the pool's grace it is given up. pause: at its next
        // pause point, where it stays until resume.
        cancel() {
            return this.#control('cancel');
        }

        stop() {
            return this.#control('stop');
        }

        forceStop() {
            return this.#control('forceStop');
        }

        pause() {
            return this.#control('pause');
        }

        resume() {
            return this.#control('resume');
        }

        // It is not tried again.
        stopRetry() {
            return this.#isAlive() && host.workStopRetry(this.#handle, this.#bits);
        }

        #isAlive() {
            return this.#bits !== undefined && this.#result === undefined;
        }
    }

    // Errors of works by their numbers, the newest ones: of what others come after.
    class Failures {
        #errors = new Map();

        add(number, error) {
            this.#errors.set(number, error);
            if (this.#errors.size > failuresKept)
                this.#errors.delete(this.#errors.keys().next().value);
        }

        get(number) {
            return this.#errors.get(number);
        }
    }

    function oneOf(table, value, name) {
        if (!Object.hasOwn(table, value))
            throw new TypeError(`${name} is one of ${Object.keys(table).join(', ')}`);
        return table[value];
    }

    function numberFrom(value, name, least = 1) {
        if (!Number.isInteger(value) || value < least || value > 2 ** 31 - 1)
            throw new RangeError(`${name} is a whole number, ${least} or more`);
        return value;
    }

    function timeFrom(value, name) {
        if (!(value > 0 && value < 9e12))
            throw new RangeError(`${name} is a number of milliseconds, more than 0`);
        return value;
    }

    function checkId(id) {
        if (typeof id === 'string' ? id === '' : !(Number.isSafeInteger(id) && id > 0))
            throw new TypeError('The id of a work is a text or a whole number above 0');
        return id;
    }

    const given = (value, read) => (value === undefined ? undefined : read(value));

    // As js/work.c wants it.
    function workOptions(options, pool) {
        const { id, priority = 0, group, after, retry, maxRetries, timeout, timeoutAction, deadline, submitTimeout } = options;
        if (!Number.isInteger(priority) || Math.abs(priority) > 2 ** 31 - 1)
            throw new RangeError('A priority is a whole number');
        const nameOf = (one) => (typeof one === 'object' ? numberOf(one, pool) : checkId(one));
        const before = given(after, (list) => [...list].map(nameOf));
        const most = given(maxRetries, (value) => (value === Infinity ? -1 : numberFrom(value, 'maxRetries')));
        return [
            given(id, checkId), priority, given(group, (value) => groupHandle(value)), before,
            given(retry, (value) => oneOf(retries, value, 'retry')), most, given(timeout, (value) => timeFrom(value, 'timeout')),
            given(timeoutAction, (value) => oneOf(actions, value, 'timeoutAction')),
            given(deadline, (value) => timeFrom(value, 'deadline')),
            given(submitTimeout, (value) => timeFrom(value, 'submitTimeout')),
        ];
    }

    function poolOptions(options) {
        const { name = '', concurrency, maxQueued, rejection = 'abort', discipline = 'fifo', suspended = false, measure = false,
            timeout, timeoutAction = 'stop', workTimeout, workTimeoutAction = 'stop', grace = 1000, tick } = options;
        const orNone = (value, read, what) => (value === undefined || value === Infinity ? 0 : read(value, what));
        return [
            String(name), orNone(concurrency, numberFrom, 'concurrency'), orNone(maxQueued, numberFrom, 'maxQueued'),
            oneOf(rejections, rejection, 'rejection'), oneOf(disciplines, discipline, 'discipline'), Boolean(suspended),
            Boolean(measure), orNone(timeout, timeFrom, 'timeout'), oneOf(actions, timeoutAction, 'timeoutAction'),
            orNone(workTimeout, timeFrom, 'workTimeout'), oneOf(actions, workTimeoutAction, 'workTimeoutAction'),
            timeFrom(grace, 'grace'), orNone(tick, timeFrom, 'tick'),
        ];
    }

    // Works are functions of this instance, which take turns as fibers do. At most concurrency of them have begun and are not over.
    class Pool {
        #handle;
        #name;
        #works = new Map(); // number -> work, until it is over
        #failures = new Failures();

        constructor(options = {}) {
            const { onEvent } = options;
            if (onEvent !== undefined && typeof onEvent !== 'function')
                throw new TypeError('onEvent is a function');
            const told = onEvent && ((kind, number, status, error, source, running, duration) => onEvent({
                type: kind.replaceAll(' ', '-'), work: this.#works.get(number), status: statuses[status], error, running, duration,
            }));
            this.#name = String(options.name ?? '');
            this.#handle = host.poolNew(poolOptions(options), (work, list, value) => this.#over(work, list, value), told);
        }

        #over(work, list, value) {
            this.#works.delete(list[0]);
            finish(work, list, value);
        }

        get name() {
            return this.#name;
        }

        // A work. It waits if the pool has no room and its rejection says so.
        submit(fn, ...values) {
            return this.submitWith({}, fn, ...values);
        }

        submitWith(options, fn, ...values) {
            if (typeof fn !== 'function')
                throw new TypeError('A work is a function');
            const order = workOptions(options, this);
            const work = new Work(secret, this, this.#handle, this.#failures, options.id);
            const body = () => {
                const result = fn(...values);
                return result instanceof Promise ? wait(result) : result;
            };
            const made = (number) => {
                submitted(work, number);
                if (work.result === undefined)
                    this.#works.set(number, work);
                return work;
            };
            const number = abortable(options.signal, () => host.workSubmit(this.#handle, work, body, order));
            return number instanceof Promise ? number.then(made) : made(number);
        }

        // What a work returns.
        run(fn, ...values) {
            return this.runWith({}, fn, ...values);
        }

        runWith(options, fn, ...values) {
            const work = this.submitWith(options, fn, ...values);
            return work instanceof Promise ? work.then((made) => made.wait()) : work.wait();
        }

        // The work with that id that is not over.
        find(id) {
            const number = host.workFind(this.#handle, checkId(id));
            return number === undefined ? undefined : this.#works.get(number);
        }

        // Works that are not over.
        get works() {
            return [...this.#works.values()];
        }

        group(name) {
            return new WorkGroup(secret, this, this.#handle, name, this.#works);
        }

        // Lets a suspended pool go. Whether it was.
        start() {
            return host.poolControl(this.#handle, controls.start) === 0;
        }

        // What has not begun is cancelled: how many those were.
        cancel() {
            return Math.max(0, host.poolControl(this.#handle, controls.cancel));
        }

        // The same, and what has begun is asked to stop, or stopped by force. What is submitted meanwhile begins when that is over.
        // Whether there was something to stop.
        stop() {
            return host.poolControl(this.#handle, controls.stop) === 0;
        }

        forceStop() {
            return host.poolControl(this.#handle, controls.forceStop) === 0;
        }

        // Works wait at their pause points. Whether something has changed.
        pause() {
            return host.poolControl(this.#handle, controls.pause) === 0;
        }

        resume() {
            return host.poolControl(this.#handle, controls.resume) === 0;
        }

        #wait(what, options) {
            const limit = timeLimit(options);
            return abortable(options?.signal, () => host.poolWait(this.#handle, what, limit));
        }

        // Until nothing is left to do.
        wait(options) {
            return this.#wait(waits.idle, options);
        }

        // The same, and nothing more is taken, but from works of its own.
        drain(options) {
            return this.#wait(waits.drained, options);
        }

        // Ends everything: what has not begun is cancelled, what has is stopped by force.
        dispose() {
            return this.#wait(waits.disposed);
        }

        // Lets everything end, and then the pool.
        close(options) {
            const drained = this.drain(options);
            return drained instanceof Promise ? drained.then(() => this.dispose()) : this.dispose();
        }

        [Symbol.asyncDispose]() {
            return Promise.resolve(this.close());
        }

        stats() {
            const [flags, queued, held, running, submittedCount, succeeded, failed, cancelled, stopped, forceStopped, timedOut, rejected,
                discarded, retried, abandoned, generation, runtime, queueTime, runTime] = host.poolStats(this.#handle);
            return {
                idle: (flags & 1) !== 0, stopping: (flags & 2) !== 0, suspended: (flags & 4) !== 0, paused: (flags & 8) !== 0,
                disposed: (flags & 16) !== 0, queued, held, running, submitted: submittedCount, succeeded, failed, cancelled, stopped,
                forceStopped, timedOut, rejected, discarded, retried, abandoned, generation, runtime, queueTime, runTime,
            };
        }
    }

    // Works, and groups below. What is done to it is done to all of them.
    class WorkGroup {
        #pool;
        #handle;
        #name;
        #works; // of the pool

        constructor(key, pool, poolHandle, name, works) {
            if (key !== secret)
                throw new TypeError('Groups are made by their pool: pool.group()');
            if (name !== undefined && (typeof name !== 'string' || name === ''))
                throw new TypeError('The name of a group is a text');
            this.#pool = pool;
            this.#name = name;
            this.#works = works;
            this.#handle = host.groupNew(poolHandle, name);
        }

        static {
            groupHandle = (group) => {
                if (typeof group !== 'object' || group === null || !(#handle in group))
                    throw new TypeError('A group of works is needed');
                return group.#handle;
            };
        }

        get name() {
            return this.#name;
        }

        // Those in it and below it that are not over.
        get works() {
            return host.groupWorks(this.#handle).map((number) => this.#works.get(number)).filter((work) => work !== undefined);
        }

        // Each says whether that has changed something.
        add(work) {
            return host.groupWork(this.#handle, numberOf(work, this.#pool), true);
        }

        remove(work) {
            return host.groupWork(this.#handle, numberOf(work, this.#pool), false);
        }

        // The other group stands below this one.
        join(group) {
            return host.groupJoin(this.#handle, groupHandle(group), true);
        }

        part(group) {
            return host.groupJoin(this.#handle, groupHandle(group), false);
        }

        wait(options) {
            const limit = timeLimit(options);
            return abortable(options?.signal, () => host.groupWait(this.#handle, limit));
        }

        // As those of works; how many could not be.
        cancel() {
            return host.groupControl(this.#handle, controls.cancel);
        }

        stop() {
            return host.groupControl(this.#handle, controls.stop);
        }

        forceStop() {
            return host.groupControl(this.#handle, controls.forceStop);
        }

        pause() {
            return host.groupControl(this.#handle, controls.pause);
        }

        resume() {
            return host.groupControl(this.#handle, controls.resume);
        }
    }

    // Inside a work: itself, and what was asked of it.
    const current = {
        // undefined: the caller is inside no work.
        get work() {
            return host.workSelf();
        },

        // From 1.
        get attempt() {
            return host.workState()[0];
        },

        get stopping() {
            return host.workState()[1];
        },

        // Whether it was asked to stop, and so is to clean up and return. A hook that returns false says no to that: then the work goes
        // on as if nothing had been asked.
        stopPoint(hook) {
            return current.stopping && host.workStopPoint(hook === undefined || hook() !== false);
        },

        // Waits while it is paused.
        pausePoint() {
            return host.workPausePoint();
        },
    };

    const exported = { Pool, Work, WorkGroup, WorkError, current };
    return { ...exported, default: exported };
})
