// SPDX-License-Identifier: MIT
// js/lib/stream_is.js - what a stream is, and how far it has come: questions that are also put to streams of other makes.
// Answers are null where a question makes no sense.
(function (host, need) {
    'use strict';
    const DESTROYED = Symbol.for('nodejs.stream.destroyed');
    const ERRORED = Symbol.for('nodejs.stream.errored');
    const READABLE = Symbol.for('nodejs.stream.readable');
    const WRITABLE = Symbol.for('nodejs.stream.writable');
    const DISTURBED = Symbol.for('nodejs.stream.disturbed');
    const isFunction = (value) => typeof value === 'function';

    // ---- Kinds ----

    // Writables have pipe too, so a state counts for more; one half of a duplex may be switched off.
    const reader = (value, hasFlow = false) => !!(value && isFunction(value.pipe) && isFunction(value.on)
        && (!hasFlow || (isFunction(value.pause) && isFunction(value.resume)))
        && (!value._writableState || (value._readableState && value._readableState.readable !== false)));

    const writer = (value) => !!(value && isFunction(value.write) && isFunction(value.on)
        && (!value._readableState || value._writableState?.writable !== false));

    const duplex = (value) => !!(value && isFunction(value.pipe) && value._readableState && isFunction(value.on)
        && isFunction(value.write));

    const node = (value) => !!(value && (value._readableState || value._writableState
        || (isFunction(value.on) && (isFunction(value.write) || isFunction(value.pipe)))));

    const webReadable = (value) => !!(value && !node(value) && isFunction(value.pipeThrough) && isFunction(value.getReader)
        && isFunction(value.cancel));

    const webWritable = (value) => !!(value && !node(value) && isFunction(value.getWriter) && isFunction(value.abort));

    const webTransform = (value) => !!(value && !node(value) && typeof value.readable === 'object'
        && typeof value.writable === 'object');

    const web = (value) => webReadable(value) || webWritable(value) || webTransform(value);

    const asyncIterable = (value) => isFunction(value?.[Symbol.asyncIterator]);
    const iterable = (value) => asyncIterable(value) || isFunction(value?.[Symbol.iterator]);

    const outgoing = (stream) => typeof stream._closed === 'boolean' && typeof stream._defaultKeepAlive === 'boolean'
        && typeof stream._removedConnection === 'boolean' && typeof stream._removedContLen === 'boolean';

    const serverResponse = (stream) => typeof stream._sent100 === 'boolean' && outgoing(stream);

    const serverRequest = (stream) => typeof stream._consuming === 'boolean' && typeof stream._dumped === 'boolean'
        && stream.req?.upgradeOrConnect === undefined;

    // ---- How far ----

    function destroyed(stream) {
        if (!node(stream))
            return null;
        return !!(stream.destroyed || stream[DESTROYED] || (stream._writableState || stream._readableState)?.destroyed);
    }

    // end() was called.
    function writableEnded(stream) {
        if (!writer(stream))
            return null;
        if (stream.writableEnded === true)
            return true;
        const state = stream._writableState;
        if (state?.errored)
            return false;
        return typeof state?.ended === 'boolean' ? state.ended : null;
    }

    // 'finish' was told; or, for those who are not strict, it cannot but be.
    function finished(stream, isStrict = true) {
        if (!writer(stream))
            return null;
        if (stream.writableFinished === true)
            return true;
        const state = stream._writableState;
        if (state?.errored)
            return false;
        if (typeof state?.finished !== 'boolean')
            return null;
        return !!(state.finished || (!isStrict && state.ended === true && state.length === 0));
    }

    // 'end' was told; or, for those who are not strict, it cannot but be.
    function ended(stream, isStrict = true) {
        if (!reader(stream))
            return null;
        const state = stream._readableState;
        if (state?.errored)
            return false;
        if (typeof state?.endEmitted !== 'boolean')
            return null;
        return !!(state.endEmitted || (!isStrict && state.ended === true && state.length === 0));
    }

    function readable(stream) {
        if (stream && stream[READABLE] !== undefined && stream[READABLE] !== null)
            return stream[READABLE];
        if (typeof stream?.readable !== 'boolean')
            return null;
        return !destroyed(stream) && reader(stream) && stream.readable && !ended(stream);
    }

    function writable(stream) {
        if (stream && stream[WRITABLE] !== undefined && stream[WRITABLE] !== null)
            return stream[WRITABLE];
        if (typeof stream?.writable !== 'boolean')
            return null;
        return !destroyed(stream) && writer(stream) && stream.writable && !writableEnded(stream);
    }

    // Nothing more can be read or written.
    function over(stream) {
        if (!node(stream))
            return null;
        return destroyed(stream) || !(readable(stream) || writable(stream));
    }

    function closed(stream) {
        if (!node(stream))
            return null;
        if (typeof stream.closed === 'boolean')
            return stream.closed;
        const { _writableState: writing, _readableState: reading } = stream;
        if (typeof writing?.closed === 'boolean' || typeof reading?.closed === 'boolean')
            return writing?.closed || reading?.closed;
        return outgoing(stream) ? stream._closed : null;
    }

    const errorOf = (stream) => (node(stream) ? stream.writableErrored || stream._writableState?.errored
        || stream.readableErrored || stream._readableState?.errored || null : null);

    // Whether 'close' is bound to come, so that one can wait for it.
    function willClose(stream) {
        if (!node(stream))
            return null;
        const state = stream._writableState || stream._readableState;
        return state ? !!(state.autoDestroy && state.emitClose && state.closed === false) : serverResponse(stream);
    }

    const disturbed = (stream) => !!(stream && (stream[DISTURBED] ?? (stream.readableDidRead || stream.readableAborted)));

    const errored = (stream) => !!(stream && (stream[ERRORED] ?? stream.readableErrored ?? stream.writableErrored
        ?? stream._readableState?.errorEmitted ?? stream._writableState?.errorEmitted ?? stream._readableState?.errored
        ?? stream._writableState?.errored));

    return {
        reader, writer, duplex, node, web, webReadable, webWritable, webTransform, iterable, asyncIterable, serverResponse,
        serverRequest, destroyed, writableEnded, finished, ended, readable, writable, over, closed, errorOf, willClose,
        disturbed, errored,
    };
})
