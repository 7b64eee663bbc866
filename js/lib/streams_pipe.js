// SPDX-License-Identifier: MIT
// js/lib/streams_pipe.js - pipeTo and pipeThrough.
(function (host, need) {
    'use strict';

    const {
        noop, deferred, then, handled, promiseResolve, promiseReject, invalidState, invalidArgument, asDictionary,
    } = need('streams_base');
    const reading = need('streams_core');
    const writing = need('streams_write');

    // One running pipe.
    class Pipe {
        constructor(source, destination, options) {
            this.source = source;
            this.destination = destination;
            this.options = options;
            this.reader = reading.acquireReader(source);
            this.writer = writing.acquireWriter(destination);
            this.result = deferred();
            this.shuttingDown = false;
            this.lastWrite = promiseResolve();
            this.onAbort = undefined;
            source.disturbed = true;
        }

        start() {
            const { signal } = this.options;
            if (signal !== undefined) {
                this.onAbort = () => this.abort(signal.reason);
                if (signal.aborted) {
                    this.onAbort();
                    return this.result.promise;
                }
                need('abort').addAlgorithm(signal, this.onAbort);
            }
            this.watch();
            this.step();
            return this.result.promise;
        }

        // What ends the pipe from either side, in the standard's order.
        watch() {
            const { source, destination, reader, writer } = this;
            this.whenErrored(source.state === reading.ERRORED, source, reader.closed.promise, (error) => {
                if (this.options.preventAbort) {
                    this.shutdown(undefined, true, error);
                } else {
                    this.shutdown(() => destination.abort(error), true, error);
                }
            });
            this.whenErrored(destination.state === writing.ERRORED, destination, writer.closed.promise, (error) => {
                if (this.options.preventCancel) {
                    this.shutdown(undefined, true, error);
                } else {
                    this.shutdown(() => reading.cancelStream(source, error), true, error);
                }
            });
            const sourceClosed = () => {
                if (this.options.preventClose) {
                    this.shutdown(undefined, false, undefined);
                } else {
                    this.shutdown(() => writing.closeWithError(writer), false, undefined);
                }
            };
            if (source.state === reading.CLOSED) {
                sourceClosed();
            } else {
                then(reader.closed.promise, sourceClosed, noop);
            }
            if (destination.queuedOrInFlight() || destination.state === writing.CLOSED) {
                const error = invalidState('Destination WritableStream is closed');
                if (this.options.preventCancel) {
                    this.shutdown(undefined, true, error);
                } else {
                    this.shutdown(() => reading.cancelStream(source, error), true, error);
                }
            }
        }

        whenErrored(already, stream, promise, action) {
            if (already) {
                action(stream.error);
            } else {
                then(promise, undefined, action);
            }
        }

        step() {
            if (this.shuttingDown) {
                return;
            }
            then(this.writer.ready.promise, () => this.readOne(), noop);
        }

        readOne() {
            if (this.shuttingDown) {
                return;
            }
            reading.readFrom(this.reader, {
                chunk: (value) => {
                    this.lastWrite = then(writing.write(this.writer, value), undefined, noop);
                    then(promiseResolve(), () => this.step());
                },
                close: noop,
                error: noop,
            });
        }

        abort(error) {
            const { source, destination, options } = this;
            const actions = [];
            if (!options.preventAbort) {
                actions.push(() => (destination.state === writing.WRITABLE ? destination.abort(error) : promiseResolve()));
            }
            if (!options.preventCancel) {
                actions.push(() => (source.state === reading.READABLE ?
                    reading.cancelStream(source, error) : promiseResolve()));
            }
            this.shutdown(() => Promise.all(actions.map((action) => action())), true, error);
        }

        // Writes that are under way end first; then the action runs, then the pipe is over.
        shutdown(action, failed, error) {
            if (this.shuttingDown) {
                return;
            }
            this.shuttingDown = true;
            const finish = () => {
                if (action === undefined) {
                    this.finalize(failed, error);
                    return;
                }
                then(action(), () => this.finalize(failed, error), (reason) => this.finalize(true, reason));
            };
            const { destination } = this;
            if (destination.state === writing.WRITABLE && !destination.queuedOrInFlight()) {
                this.settleWrites(finish);
            } else {
                finish();
            }
        }

        settleWrites(finish) {
            const last = this.lastWrite;
            then(last, () => {
                if (last === this.lastWrite) {
                    finish();
                } else {
                    this.settleWrites(finish);
                }
            });
        }

        finalize(failed, error) {
            writing.releaseWriter(this.writer);
            reading.releaseReader(this.reader);
            if (this.onAbort !== undefined) {
                need('abort').removeAlgorithm(this.options.signal, this.onAbort);
            }
            if (failed) {
                this.result.reject(error);
            } else {
                this.result.resolve();
            }
        }
    }

    function readOptions(options) {
        const dictionary = asDictionary(options, 'options');
        if (dictionary === undefined) {
            return { preventAbort: false, preventCancel: false, preventClose: false, signal: undefined };
        }
        const preventAbort = !!dictionary.preventAbort;
        const preventCancel = !!dictionary.preventCancel;
        const preventClose = !!dictionary.preventClose;
        const signal = dictionary.signal;
        if (signal !== undefined && !need('abort').isAbortSignal(signal)) {
            throw invalidArgument('options.signal', 'an instance of AbortSignal', signal);
        }
        return { preventAbort, preventCancel, preventClose, signal };
    }

    function checkLocks(source, destination) {
        if (source.reader !== undefined) {
            throw invalidState('The ReadableStream is locked');
        }
        if (destination.writer !== undefined) {
            throw invalidState('The WritableStream is locked');
        }
    }

    function pipeTo(source, destination, options) {
        return new Pipe(source, destination, options).start();
    }

    function pipeToMethod(source, destination, options) {
        try {
            const target = need('streams_writable').stateOf(destination);
            if (target === undefined) {
                throw invalidArgument('transform.writable', 'an instance of WritableStream', destination);
            }
            const converted = readOptions(options);
            checkLocks(source, target);
            return pipeTo(source, target, converted);
        } catch (error) {
            return promiseReject(error);
        }
    }

    function pipeThrough(stream, source, transform, options) {
        const { readable } = transform;
        if (need('streams_readable').stateOf(readable) === undefined) {
            throw invalidArgument('transform.readable', 'an instance of ReadableStream', readable);
        }
        const { writable } = transform;
        const target = need('streams_writable').stateOf(writable);
        if (target === undefined) {
            throw invalidArgument('transform.writable', 'an instance of WritableStream', writable);
        }
        const converted = readOptions(options);
        checkLocks(source, target);
        handled(pipeTo(source, target, converted));
        return readable;
    }

    return { pipeTo, pipeToMethod, pipeThrough };
})
