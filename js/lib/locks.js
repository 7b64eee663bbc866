// SPDX-License-Identifier: MIT
// js/lib/locks.js - locks with holders: Mutex, RWLock, and Cond, which needs one.
// host: fiberNumber(), isFiber()
//
// The holder of a lock is a fiber, by its number, or all code that is on none, by 0.
(function (host, need) {
    'use strict';
    const { Line, kinds, running } = need('line');
    const { withCode } = need('errors');

    // What `using` ends: once, by whoever has it.
    class Hold {
        #release;

        constructor(release) {
            this.#release = release;
        }

        release() {
            const release = this.#release;
            this.#release = undefined;
            release?.();
        }

        [Symbol.dispose]() {
            this.release();
        }
    }

    // After locking, which is done or a promise: a hold.
    function holding(locked, release) {
        const hold = () => new Hold(release);
        return locked instanceof Promise ? locked.then(hold) : hold();
    }

    function checkFunction(fn) {
        if (typeof fn !== 'function')
            throw new TypeError('run needs a function');
    }

    const never = () => false;
    const itself = () => withCode(new Error('The fiber would wait for itself: it has the lock'), 'EDEADLK');
    const notMine = (what) => withCode(new Error(`${what} is not locked by the caller`), 'EPERM');
    let lockAgain;

    // One at a time, in the order in which they came.
    class Mutex {
        #holder; // undefined: nobody
        #line = new Line(kinds.mutex);

        get locked() {
            return this.#holder !== undefined;
        }

        lock(options) {
            return this.#lock(options, false);
        }

        #lock(options, surely) {
            const number = host.fiberNumber();
            if (number !== 0 && this.#holder === number)
                throw itself();
            return this.#line.enter(() => this.tryLock(), number, options, surely);
        }

        // Whether it was to be had at once.
        tryLock() {
            if (this.#holder !== undefined)
                return false;
            this.#holder = host.fiberNumber();
            return true;
        }

        unlock() {
            if (this.#holder !== host.fiberNumber())
                throw notMine('The mutex');
            this.#release();
        }

        #release() {
            this.#holder = this.#line.first;
            this.#line.next();
        }

        // Locks, and unlocks at the end of the block: using held = mutex.hold().
        hold(options) {
            return holding(this.lock(options), () => this.#release());
        }

        // Holds it while fn runs, whatever that waits for.
        run(fn, options) {
            checkFunction(fn);
            return running(this.lock(options), fn, () => this.#release());
        }

        static {
            lockAgain = (mutex) => mutex.#lock(undefined, true);
        }
    }

    // Many readers or one writer. Who comes while others wait, waits behind them: readers cannot starve a writer.
    class RWLock {
        #readers = new Map(); // holder -> how often
        #reads = 0;
        #writer; // undefined: nobody
        #line = new Line((wish) => (wish.isWrite ? kinds.write : kinds.read), () => this.#advance());

        get readers() {
            return this.#reads;
        }

        get writing() {
            return this.#writer !== undefined;
        }

        read(options) {
            return this.#lock(false, options);
        }

        write(options) {
            return this.#lock(true, options);
        }

        #lock(isWrite, options) {
            const number = host.fiberNumber();
            const wish = { isWrite, number };
            if (number !== 0 && (this.#writer === number || (isWrite && this.#readers.has(number))))
                throw itself();
            return this.#line.enter(() => this.#line.length === 0 && this.#take(wish), wish, options);
        }

        // Whether that was possible.
        #take({ isWrite, number }) {
            if (this.#writer !== undefined || (isWrite && this.#reads > 0))
                return false;
            if (isWrite) {
                this.#writer = number;
            } else {
                this.#reads++;
                this.#readers.set(number, (this.#readers.get(number) ?? 0) + 1);
            }
            return true;
        }

        // Ends one read, or the write, of the caller.
        unlock() {
            const number = host.fiberNumber();
            if (this.#writer === number)
                this.#release({ isWrite: true, number });
            else if (this.#readers.has(number))
                this.#release({ isWrite: false, number });
            else
                throw notMine('The lock');
        }

        #release({ isWrite, number }) {
            if (isWrite) {
                this.#writer = undefined;
            } else {
                const left = this.#readers.get(number) - 1;
                this.#reads--;
                if (left > 0)
                    this.#readers.set(number, left);
                else
                    this.#readers.delete(number);
            }
            this.#advance();
        }

        #advance() {
            for (let wish; (wish = this.#line.first) && this.#take(wish);)
                this.#line.next();
        }

        #releaser(isWrite) {
            const number = host.fiberNumber();
            return () => this.#release({ isWrite, number });
        }

        holdRead(options) {
            return holding(this.read(options), this.#releaser(false));
        }

        holdWrite(options) {
            return holding(this.write(options), this.#releaser(true));
        }

        runRead(fn, options) {
            checkFunction(fn);
            return running(this.read(options), fn, this.#releaser(false));
        }

        runWrite(fn, options) {
            checkFunction(fn);
            return running(this.write(options), fn, this.#releaser(true));
        }
    }

    // Waiting for something that a mutex guards.
    class Cond {
        #line = new Line(kinds.cond);

        // Unlocks the mutex, waits for a signal, and locks it again, also after a limit of time or a cancellation.
        wait(mutex, options) {
            if (!(mutex instanceof Mutex))
                throw new TypeError('wait needs the mutex that the caller has locked');
            mutex.unlock();
            if (!host.isFiber())
                return this.#waitLater(mutex, options);
            try {
                return this.#line.enter(never, undefined, options);
            } finally {
                lockAgain(mutex);
            }
        }

        async #waitLater(mutex, options) {
            try {
                await this.#line.enter(never, undefined, options);
            } finally {
                await lockAgain(mutex);
            }
        }

        // Lets one, or all, of those through who wait now; how many those were.
        signal() {
            const count = Math.min(1, this.#line.length);
            this.#line.next();
            return count;
        }

        broadcast() {
            const count = this.#line.length;
            for (let i = 0; i < count; i++)
                this.#line.next();
            return count;
        }
    }

    return { Mutex, RWLock, Cond };
})
