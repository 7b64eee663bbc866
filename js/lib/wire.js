// SPDX-License-Identifier: MIT
// js/lib/wire.js - a stream of the host as Node's sockets use it: what waits at it calls back, and may keep nothing alive.
// host: waitKeep(handle, keeps), waitCancel(handle), netClose(stream), whenClosing(fn)
(function (host, need) {
    'use strict';
    const { whenDone } = need('abortable');

    class Wire {
        #waits = new Set();
        #keeps = true;

        constructor(stream) {
            this.stream = stream;
            this.isReading = false;
            this.isLent = false; // somebody else reads from it
            this.bytesRead = 0;
            this.bytesWritten = 0;
        }

        // done(error, value) when what operation() has begun is over; not any more once it is closed.
        start(operation, done) {
            const wait = whenDone(operation, (error, value) => {
                this.#waits.delete(wait);
                if (this.stream !== null && !(this.isLent && error?.code === 'ECANCELED'))
                    done(error, value);
            }, !this.#keeps);
            this.#waits.add(wait);
        }

        // From now on a child has it: what waits here is called off, and nothing more is read.
        lend() {
            this.isLent = true;
            for (const wait of this.#waits)
                host.waitCancel(wait);
        }

        #keep(keeps) {
            this.#keeps = keeps;
            for (const wait of this.#waits)
                host.waitKeep(wait, keeps);
        }

        ref() {
            this.#keep(true);
        }

        unref() {
            this.#keep(false);
        }

        hasRef() {
            return this.#keeps;
        }

        // fn comes in the loop's phase for that.
        close(fn) {
            if (this.stream !== null)
                host.netClose(this.stream);
            this.stream = null;
            if (fn)
                host.whenClosing(fn);
        }
    }

    return { Wire };
})
