// SPDX-License-Identifier: MIT
// js/lib/body.js - bodies of requests and responses, and the methods that read them.
(function (host, need) {
    'use strict';

    const { promiseReject, promiseResolve, then } = need('streams_base');
    const { isBlob, partsOf, makeBlob } = need('blob');
    const { illegal } = need('headers');

    const BytesClass = Uint8Array;
    const encode = (text) => need('encoding').encodeUtf8(text);
    const streamState = (stream) => need('streams_readable').stateOf(stream);

    // One body. It has parts (an array of bytes), a pump (an object with read() and cancel() from the transport), or
    // neither; a stream is made of them when the program asks for it, and from then on the stream is what counts.
    class Body {
        constructor(parts, pump, stream) {
            this.parts = parts;
            this.pump = pump;
            this.stream = stream;
            this.used = false;
        }

        // Whether the bytes can be had a second time.
        get replayable() {
            return this.parts !== undefined;
        }

        get length() {
            return this.parts === undefined ? undefined : this.parts.reduce((sum, part) => sum + part.byteLength, 0);
        }

        get disturbed() {
            return this.used || this.stream !== undefined && streamState(this.stream).disturbed;
        }

        get unusable() {
            return this.disturbed || this.stream !== undefined && streamState(this.stream).reader !== undefined;
        }

        // The stream for programs.
        toStream() {
            if (this.stream !== undefined) {
                return this.stream;
            }
            if (this.used) {
                this.stream = spentStream();
            } else if (this.pump !== undefined) {
                this.stream = pumpStream(this.pump);
            } else {
                this.stream = partsStream(this.parts);
            }
            return this.stream;
        }

        // All bytes, once.
        readAll() {
            this.used = true;
            if (this.stream !== undefined) {
                return readStream(this.stream);
            }
            if (this.pump !== undefined) {
                return readPump(this.pump);
            }
            return promiseResolve(join(this.parts));
        }

        clone() {
            if (this.stream === undefined && this.pump === undefined) {
                return new Body(this.parts, undefined, undefined);
            }
            const [mine, other] = this.toStream().tee();
            this.stream = mine;
            return new Body(this.parts, undefined, other);
        }

        // The body for another owner; this one counts as used from now on.
        handOver() {
            let stream = this.stream;
            if (stream !== undefined) {
                stream = stream.pipeThrough(new (need('streams_transform').TransformStream)());
            }
            const other = new Body(this.parts, this.pump, stream);
            this.used = true;
            return other;
        }

        // What the transport sends: bytes, or an object with read() and cancel().
        toTransport() {
            this.used = true;
            if (this.stream === undefined && this.parts !== undefined) {
                return join(this.parts);
            }
            return this.pump !== undefined && this.stream === undefined ? this.pump : streamPump(this.toStream());
        }
    }

    function join(parts) {
        if (parts.length === 1) {
            return parts[0].slice();
        }
        const bytes = new BytesClass(parts.reduce((sum, part) => sum + part.byteLength, 0));
        let at = 0;
        for (const part of parts) {
            bytes.set(part, at);
            at += part.byteLength;
        }
        return bytes;
    }

    // What is left of a body that was read without a stream: closed and locked.
    function spentStream() {
        const { ReadableStream } = need('streams_readable');
        const stream = new ReadableStream({ type: 'bytes', start: (controller) => controller.close() });
        streamState(stream).disturbed = true;
        stream.getReader();
        return stream;
    }

    function byteStream(next, cancel) {
        const { ReadableStream } = need('streams_readable');
        return new ReadableStream({
            type: 'bytes',
            async pull(controller) {
                for (;;) {
                    const chunk = await next();
                    if (chunk === null) {
                        controller.close();
                        if (controller.byobRequest !== null) {
                            controller.byobRequest.respond(0);
                        }
                        return;
                    }
                    if (chunk.byteLength > 0) {
                        controller.enqueue(chunk);
                        return;
                    }
                }
            },
            cancel,
        }, { highWaterMark: 0 });
    }

    function partsStream(parts) {
        let at = 0;
        return byteStream(() => (at < parts.length ? parts[at++].slice() : null), undefined);
    }

    function pumpStream(pump) {
        return byteStream(() => pump.read(), (reason) => pump.cancel(reason));
    }

    async function readPump(pump) {
        const parts = [];
        for (;;) {
            const chunk = await pump.read();
            if (chunk === null) {
                return join(parts);
            }
            parts.push(chunk);
        }
    }

    const wrongChunk = () => new TypeError('Received non-Uint8Array chunk');

    async function readStream(stream) {
        const reader = stream.getReader();
        const parts = [];
        for (;;) {
            const { value, done } = await reader.read();
            if (done) {
                return join(parts);
            }
            if (!(value instanceof BytesClass)) {
                throw wrongChunk();
            }
            parts.push(value);
        }
    }

    // A stream as the transport wants it.
    function streamPump(stream) {
        const reader = stream.getReader();
        return {
            async read() {
                const { value, done } = await reader.read();
                if (done) {
                    return null;
                }
                if (!(value instanceof BytesClass)) {
                    const error = wrongChunk();
                    reader.cancel(error).catch(() => {});
                    throw error;
                }
                return value;
            },
            cancel(reason) {
                return reader.cancel(reason);
            },
        };
    }

    function iterablePump(iterable) {
        const iterator = iterable[Symbol.asyncIterator]();
        return {
            async read() {
                const { value, done } = await iterator.next();
                return done ? null : new BytesClass(value);
            },
            async cancel(reason) {
                if (typeof iterator.return === 'function') {
                    await iterator.return(reason);
                }
            },
        };
    }

    // Makes a body of anything that a program may give; type is the Content-Type that follows from it, or null.
    function extractBody(value) {
        const plain = (parts, type) => ({ body: new Body(parts, undefined, undefined), type });
        if (typeof value === 'object' && value !== null) {
            const state = streamState(value);
            if (state !== undefined) {
                if (state.disturbed || state.reader !== undefined) {
                    throw new TypeError('Response body object should not be disturbed or locked');
                }
                return { body: new Body(undefined, undefined, value), type: null };
            }
            if (isBlob(value)) {
                const { parts, type } = partsOf(value);
                return plain(parts, type === '' ? null : type);
            }
            if (ArrayBuffer.isView(value)) {
                return plain([new BytesClass(value.buffer, value.byteOffset, value.byteLength).slice()], null);
            }
            if (value instanceof ArrayBuffer || value instanceof SharedArrayBuffer) {
                return plain([new BytesClass(value).slice()], null);
            }
            if (need('url').isURLSearchParams(value)) {
                return plain([encode(value.toString())], 'application/x-www-form-urlencoded;charset=UTF-8');
            }
            if (need('form_data').isFormData(value)) {
                const { parts, boundary } = need('form_multipart').encodeForm(value);
                return plain(parts, 'multipart/form-data; boundary=' + boundary);
            }
            if (typeof value[Symbol.asyncIterator] === 'function') {
                return { body: new Body(undefined, iterablePump(value), undefined), type: null };
            }
        }
        return plain([encode(`${value}`.toWellFormed())], 'text/plain;charset=UTF-8');
    }

    // Text without the mark that may stand at its beginning.
    function decode(bytes) {
        const text = need('encoding').decodeUtf8(bytes);
        return text.charCodeAt(0) === 0xFEFF ? text.slice(1) : text;
    }

    const conversions = {
        blob(bytes, list) {
            const { extractMime, serializeMime } = need('body_mime');
            const mime = extractMime(list);
            return makeBlob([bytes], mime === undefined ? '' : serializeMime(mime).toLowerCase());
        },
        arrayBuffer: (bytes) => bytes.buffer,
        text: decode,
        json: (bytes) => JSON.parse(decode(bytes)),
        formData(bytes, list) {
            const mime = need('body_mime').extractMime(list);
            if (mime !== undefined && mime.essence === 'multipart/form-data') {
                return need('form_multipart').parseMultipart(bytes, mime.parameters.get('boundary'));
            }
            if (mime !== undefined && mime.essence === 'application/x-www-form-urlencoded') {
                return need('form_multipart').parseUrlencoded(bytes);
            }
            throw new TypeError('Content-Type was not one of "multipart/form-data" or "application/x-www-form-urlencoded".');
        },
        bytes: (bytes) => bytes,
    };

    // Reads the body of an owner, whose state has body and list.
    function consume(state, convert) {
        if (state === undefined) {
            return promiseReject(illegal());
        }
        const body = state.body;
        if (body === null) {
            return then(promiseResolve(), () => convert(new BytesClass(0), state.list));
        }
        if (body.unusable) {
            return promiseReject(new TypeError('Body is unusable: Body has already been read'));
        }
        return then(body.readAll(), (bytes) => convert(bytes, state.list));
    }

    // Adds the members of the mixin; stateOf(object) is undefined for a wrong object.
    function addBody(Class, stateOf) {
        const own = (object) => {
            const state = stateOf(object);
            if (state === undefined) {
                throw illegal();
            }
            return state;
        };
        const members = {
            get body() {
                const { body } = own(this);
                return body === null ? null : body.toStream();
            },
            get bodyUsed() {
                const { body } = own(this);
                return body !== null && body.disturbed;
            },
            blob() {
                return consume(stateOf(this), conversions.blob);
            },
            arrayBuffer() {
                return consume(stateOf(this), conversions.arrayBuffer);
            },
            text() {
                return consume(stateOf(this), conversions.text);
            },
            json() {
                return consume(stateOf(this), conversions.json);
            },
            formData() {
                return consume(stateOf(this), conversions.formData);
            },
            bytes() {
                return consume(stateOf(this), conversions.bytes);
            },
        };
        Object.defineProperties(Class.prototype, Object.getOwnPropertyDescriptors(members));
    }

    return { Body, extractBody, addBody };
})
