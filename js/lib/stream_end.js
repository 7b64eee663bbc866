// SPDX-License-Identifier: MIT
// js/lib/stream_end.js - how streams of node:stream end: destroy, errors and 'close', for both halves together.
// host: nextTick(fn)
(function (host, need) {
    'use strict';

    function destroyable(state, options) {
        state.destroyed = state.closed = state.closeEmitted = state.errorEmitted = false;
        state.errored = null;
        state.autoDestroy = options?.autoDestroy !== false;
        state.emitClose = options?.emitClose !== false;
    }

    const halves = (stream) => [stream._readableState, stream._writableState].filter((state) => state);

    function destroy(error, callback) {
        const states = halves(this);
        if (states.some((state) => state.destroyed)) {
            callback?.();
            return this;
        }
        for (const state of states) {
            state.destroyed = true;
            if (error)
                state.errored ??= error;
        }
        let isDone = false;
        const done = (failure) => {
            if (isDone)
                return;
            isDone = true;
            for (const state of states) {
                state.closed = true;
                if (failure)
                    state.errored ??= failure;
            }
            callback?.(failure);
            host.nextTick(() => {
                if (failure && !states.some((state) => state.errorEmitted)) {
                    for (const state of states)
                        state.errorEmitted = true;
                    this.emit('error', failure);
                }
                for (const state of states)
                    state.closeEmitted = true;
                if (states.some((state) => state.emitClose))
                    this.emit('close');
            });
        };
        try {
            this._destroy(error ?? null, done);
        } catch (failure) {
            done(failure);
        }
        return this;
    }

    // An error of the stream itself: it is the end of one that destroys itself, else it is only told.
    function failOf(stream, error, result) {
        const states = halves(stream);
        if (states.some((state) => state.destroyed))
            return result;
        if (states.some((state) => state.autoDestroy)) {
            stream.destroy(error);
        } else {
            for (const state of states)
                state.errored ??= error;
            host.nextTick(() => {
                if (states.some((state) => state.errorEmitted))
                    return;
                for (const state of states)
                    state.errorEmitted = true;
                stream.emit('error', error);
            });
        }
        return result;
    }

    function addGetters(prototype) {
        const getters = {
            destroyed: (states) => states.some((state) => state.destroyed),
            closed: (states) => states.some((state) => state.closed),
            errored: (states) => states.find((state) => state.errored)?.errored ?? null,
        };
        for (const name of Object.keys(getters)) {
            Object.defineProperty(prototype, name, {
                configurable: true,
                enumerable: false,
                get() {
                    return getters[name](halves(this));
                },
                set(value) {
                    for (const state of halves(this))
                        state[name] = value;
                },
            });
        }
    }

    return { destroyable, destroy, failOf, addGetters };
})
