// SPDX-License-Identifier: MIT
// js/lib/go.js - weft:go: functions on fibers of their own, and what they meet at.
//
// On a fiber, calls that wait return what they waited for; elsewhere they return a promise of it. So `await` is never wrong.
(function (host, need) {
    'use strict';
    const { go, sleep, isFiber, wait } = need('fiber');
    const { Channel } = need('channel');
    const { select } = need('select');
    const { scope } = need('scope');
    const chan = (capacity) => new Channel(capacity);

    // One at a time. run(fn) holds it while fn runs, whatever it waits for meanwhile.
    class Mutex {
        #turn = new Channel(1);

        lock(options) {
            return this.#turn.send(true, options);
        }

        unlock() {
            if (this.#turn.length === 0)
                throw new Error('The mutex is not locked');
            return this.#turn.recv();
        }

        run(fn) {
            const locked = this.lock();
            if (isFiber()) {
                try {
                    return fn();
                } finally {
                    this.unlock();
                }
            }
            return locked.then(fn).finally(() => this.unlock());
        }
    }

    const exported = { go, sleep, wait, select, scope, isFiber, chan, Channel, Mutex };
    return { ...exported, default: exported };
})
