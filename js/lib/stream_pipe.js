// SPDX-License-Identifier: MIT
// js/lib/stream_pipe.js - pipe and unpipe of node:stream, and the pipe of streams that only have events.
// host: nextTick(fn)
(function (host, need) {
    'use strict';
    const { fail } = need('stream_end');

    // Before those that a program has set: also for emitters of other makes.
    function prepend(emitter, name, listener) {
        if (typeof emitter.prependListener === 'function') {
            emitter.prependListener(name, listener);
            return;
        }
        const others = emitter._events?.[name];
        if (!others)
            emitter.on(name, listener);
        else if (Array.isArray(others))
            others.unshift(listener);
        else
            emitter._events[name] = [listener, others];
    }

    const isStandard = (target) => {
        const { process } = globalThis;
        return target === process?.stdout || target === process?.stderr;
    };

    // One target of a source. While the target is full the source is paused; it goes on when the last one that is waited for
    // has drained.
    class Pipe {
        constructor(source, target) {
            this.source = source;
            this.target = target;
            this.isOver = false;
            this.onDrain = undefined;
            this.onData = (chunk) => {
                if (target.write(chunk) === false)
                    this.pause();
            };
            this.onEnd = () => target.end();
            this.leave = () => unpipe(source, target);
            this.onClose = () => {
                target.removeListener('finish', this.onFinish);
                this.leave();
            };
            this.onFinish = () => {
                target.removeListener('close', this.onClose);
                this.leave();
            };
            this.onUnpipe = (from, info) => {
                if (from === source && info && info.hasUnpiped === false) {
                    info.hasUnpiped = true;
                    this.cleanUp();
                }
            };
            this.onError = (error) => this.fail(error);
        }

        begin(endsToo) {
            const { source, target } = this, state = source._readableState;
            const atEnd = endsToo ? this.onEnd : this.leave;
            if (state.endEmitted)
                host.nextTick(atEnd);
            else
                source.once('end', atEnd);
            target.on('unpipe', this.onUnpipe);
            source.on('data', this.onData);
            prepend(target, 'error', this.onError);
            target.once('close', this.onClose);
            target.once('finish', this.onFinish);
            target.emit('pipe', source);
            if (target.writableNeedDrain === true)
                this.pause();
            else if (!state.flowing)
                source.resume();
        }

        pause() {
            const { source, target } = this, state = source._readableState;
            if (!this.isOver) {
                if (state.pipes.length === 1 && state.pipes[0] === target) {
                    state.awaitDrainWriters = target;
                    state.multiAwaitDrain = false;
                } else if (state.pipes.length > 1 && state.pipes.includes(target)) {
                    state.awaitDrainWriters.add(target);
                }
                source.pause();
            }
            if (!this.onDrain) {
                this.onDrain = () => this.drained();
                target.on('drain', this.onDrain);
            }
        }

        drained() {
            const { source, target } = this, state = source._readableState;
            if (state.awaitDrainWriters === target)
                state.awaitDrainWriters = null;
            else if (state.multiAwaitDrain)
                state.awaitDrainWriters.delete(target);
            const isFree = !state.awaitDrainWriters || state.awaitDrainWriters.size === 0;
            if (isFree && state.dataListening)
                source.resume();
        }

        fail(error) {
            const { target } = this;
            this.leave();
            target.removeListener('error', this.onError);
            if (target.listenerCount('error') > 0)
                return;
            const state = target._writableState || target._readableState;
            if (state && !state.errorEmitted)
                fail(target, error); // somebody has told it on behalf of the target
            else
                target.emit('error', error);
        }

        cleanUp() {
            const { source, target, onDrain } = this;
            target.removeListener('close', this.onClose);
            target.removeListener('finish', this.onFinish);
            if (onDrain)
                target.removeListener('drain', onDrain);
            target.removeListener('error', this.onError);
            target.removeListener('unpipe', this.onUnpipe);
            source.removeListener('end', this.onEnd);
            source.removeListener('end', this.leave);
            source.removeListener('data', this.onData);
            this.isOver = true;
            // A target that has gone will not drain.
            if (onDrain && source._readableState.awaitDrainWriters && (!target._writableState || target._writableState.needDrain))
                onDrain();
        }
    }

    function pipe(source, target, options) {
        const state = source._readableState;
        if (state.pipes.length === 1 && !state.multiAwaitDrain) {
            state.multiAwaitDrain = true;
            state.awaitDrainWriters = new Set(state.awaitDrainWriters ? [state.awaitDrainWriters] : []);
        }
        state.pipes.push(target);
        new Pipe(source, target).begin(options?.end !== false && !isStandard(target));
        return target;
    }

    function unpipe(source, target) {
        const state = source._readableState;
        if (state.pipes.length === 0)
            return source;
        if (!target) {
            const all = state.pipes;
            state.pipes = [];
            source.pause();
            for (const each of all)
                each.emit('unpipe', source, { hasUnpiped: false });
            return source;
        }
        const index = state.pipes.indexOf(target);
        if (index < 0)
            return source;
        state.pipes.splice(index, 1);
        if (state.pipes.length === 0)
            source.pause();
        target.emit('unpipe', source, { hasUnpiped: false });
        return source;
    }

    // Of a Stream that is neither Readable nor Writable.
    function pipePlain(source, target, options) {
        let isOver = false;
        const onData = (chunk) => {
            if (target.writable && target.write(chunk) === false && source.pause)
                source.pause();
        };
        const onDrain = () => {
            if (source.readable && source.resume)
                source.resume();
        };
        const once = (fn) => () => {
            if (!isOver) {
                isOver = true;
                fn();
            }
        };
        const onEnd = once(() => target.end());
        const onClose = once(() => typeof target.destroy === 'function' && target.destroy());
        function onError(error) {
            cleanUp();
            if (this.listenerCount('error') === 0)
                this.emit('error', error);
        }
        const ends = !target._isStdio && options?.end !== false;
        const listeners = [[source, 'data', onData], [target, 'drain', onDrain], ...ends ? [[source, 'end', onEnd],
            [source, 'close', onClose]] : []];
        const last = [[source, 'end', cleanUp], [source, 'close', cleanUp], [target, 'close', cleanUp]];
        function cleanUp() {
            for (const [emitter, name, listener] of [...listeners, [source, 'error', onError], [target, 'error', onError], ...last])
                emitter.removeListener(name, listener);
        }
        for (const [emitter, name, listener] of listeners)
            emitter.on(name, listener);
        prepend(source, 'error', onError);
        prepend(target, 'error', onError);
        for (const [emitter, name, listener] of last)
            emitter.on(name, listener);
        target.emit('pipe', source);
        return target;
    }

    return { pipe, unpipe, pipePlain };
})
