// SPDX-License-Identifier: MIT
// js/lib/counts.js - meeting by numbers: Semaphore, WaitGroup, Once, Barrier.
// host: fiberNumber(), isFiber()
(function (host, need) {
    'use strict';
    const { Line, kinds, running } = need('line');
    const { go, wait } = need('fiber');
    const { withCode } = need('errors');

    function checkCount(count, least, what) {
        if (!Number.isSafeInteger(count) || count < least)
            throw new RangeError(`${what} is a whole number, ${least} or more`);
    }

    const never = () => false;

    // A number of permits. Who wants many is not overtaken by those who want few.
    class Semaphore {
        #permits;
        #line = new Line(kinds.semaphore, () => this.#advance());

        constructor(permits = 0) {
            checkCount(permits, 0, 'The number of permits');
            this.#permits = permits;
        }

        get permits() {
            return this.#permits;
        }

        acquire(count = 1, options = undefined) {
            checkCount(count, 1, 'The number of permits');
            return this.#line.enter(() => this.tryAcquire(count), count, options);
        }

        // Whether they were to be had at once.
        tryAcquire(count = 1) {
            checkCount(count, 1, 'The number of permits');
            if (this.#line.length > 0 || this.#permits < count)
                return false;
            this.#permits -= count;
            return true;
        }

        release(count = 1) {
            checkCount(count, 1, 'The number of permits');
            checkCount(this.#permits + count, 1, 'The number of permits');
            this.#permits += count;
            this.#advance();
        }

        #advance() {
            for (let count; (count = this.#line.first) <= this.#permits;) {
                this.#permits -= count;
                this.#line.next();
            }
        }

        // Has one permit while fn runs, whatever that waits for.
        run(fn, options) {
            if (typeof fn !== 'function')
                throw new TypeError('run needs a function');
            return running(this.acquire(1, options), fn, () => this.release());
        }
    }

    // Waiting until a number of things is done.
    class WaitGroup {
        #count = 0;
        #line = new Line(kinds.waitGroup);

        get count() {
            return this.#count;
        }

        // So many more, or fewer.
        add(count = 1) {
            if (!Number.isSafeInteger(count) || !Number.isSafeInteger(this.#count + count) || this.#count + count < 0)
                throw new RangeError('The count of a wait group is a whole number, 0 or more');
            this.#count += count;
            while (this.#count === 0 && this.#line.length > 0)
                this.#line.next();
        }

        done() {
            this.add(-1);
        }

        wait(options) {
            return this.#line.enter(() => this.#count === 0, undefined, options);
        }

        // As go; it counts until the fiber has ended, in whatever way.
        go(fn, ...values) {
            const promise = go(fn, ...values);
            const done = () => this.done();
            this.add();
            promise.then(done, done);
            return promise;
        }
    }

    // Something that is done once, by whoever comes first; the others wait for it, and get the same.
    class Once {
        #result; // { value }
        #runner; // the fiber, or 0; undefined: nobody
        #line = new Line(kinds.once);

        get done() {
            return this.#result !== undefined;
        }

        // If fn fails, the next one tries again.
        run(fn, options) {
            if (typeof fn !== 'function')
                throw new TypeError('run needs a function');
            return host.isFiber() ? this.#run(fn, options) : this.#runLater(fn, options);
        }

        #run(fn, options) {
            const number = host.fiberNumber();
            if (this.#runner === number)
                throw withCode(new Error('The fiber would wait for itself: it is inside the call'), 'EDEADLK');
            while (!this.#result && this.#runner !== undefined)
                this.#line.enter(never, undefined, options);
            if (this.#result)
                return this.#result.value;
            this.#runner = number;
            try {
                const value = fn();
                this.#result = { value: value instanceof Promise ? wait(value) : value };
            } finally {
                this.#end();
            }
            return this.#result.value;
        }

        async #runLater(fn, options) {
            while (!this.#result && this.#runner !== undefined)
                await this.#line.enter(never, undefined, options);
            if (this.#result)
                return this.#result.value;
            this.#runner = 0;
            try {
                this.#result = { value: await fn() };
            } finally {
                this.#end();
            }
            return this.#result.value;
        }

        #end() {
            this.#runner = undefined;
            while (this.#line.length > 0)
                this.#line.next();
        }
    }

    // A meeting of a fixed number of parties, again and again.
    class Barrier {
        #parties;
        #line = new Line(kinds.barrier);

        constructor(parties) {
            checkCount(parties, 1, 'The number of parties');
            this.#parties = parties;
        }

        get parties() {
            return this.#parties;
        }

        get arrived() {
            return this.#line.length;
        }

        // Waits until all have come: true for the last of them, false for the others. Who gives up has not come.
        wait(options) {
            let isLast = false;
            const waited = this.#line.enter(() => {
                isLast = this.#line.length + 1 === this.#parties;
                while (isLast && this.#line.length > 0)
                    this.#line.next();
                return isLast;
            }, undefined, options);
            return waited instanceof Promise ? waited.then(() => isLast) : isLast;
        }
    }

    return { Semaphore, WaitGroup, Once, Barrier };
})
