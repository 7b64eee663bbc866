// SPDX-License-Identifier: MIT
// js/lib/ticker.js - time as channels: one value after a while, or one every while.
(function (host, need) {
    'use strict';
    const { Channel } = need('channel');

    function checkTime(milliseconds, least) {
        if (!(milliseconds >= least && milliseconds < 2 ** 31))
            throw new RangeError(`A time is a number of milliseconds, ${least} or more`);
    }

    // A channel that gets the time, as by performance.now(), once; then it is closed.
    function after(milliseconds) {
        checkTime(milliseconds, 0);
        const channel = new Channel(1);
        setTimeout(() => {
            channel.send(performance.now());
            channel.close();
        }, milliseconds);
        return channel;
    }

    // A channel that gets the time again and again. Who is too slow misses some: at most one is kept for it.
    class Ticker extends Channel {
        #timer;

        constructor(milliseconds) {
            checkTime(milliseconds, 1);
            super(1);
            this.reset(milliseconds);
        }

        // From now on in that distance.
        reset(milliseconds) {
            checkTime(milliseconds, 1);
            if (this.closed)
                throw new TypeError('The ticker has been stopped');
            clearInterval(this.#timer);
            this.#timer = setInterval(() => {
                if (this.length === 0)
                    this.send(performance.now());
            }, milliseconds);
        }

        // No more of them; the channel is closed.
        stop() {
            this.close();
        }

        close() {
            clearInterval(this.#timer);
            return super.close();
        }

        [Symbol.dispose]() {
            this.close();
        }
    }

    return { after, Ticker, ticker: (milliseconds) => new Ticker(milliseconds) };
})
