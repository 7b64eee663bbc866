// SPDX-License-Identifier: MIT
// js/lib/streams_byob.js - ReadableByteStreamController and ReadableStreamBYOBRequest.
(function (host, need) {
    'use strict';

    const {
        INTERNAL, invalidState, invalidThis, illegalConstructor, invalidArgument, expose, inspectAs,
    } = need('streams_base');
    const { READABLE } = need('streams_core');
    const { isDetached } = need('streams_byte');

    let requestFields;

    class ReadableByteStreamController {
        #s;

        constructor(token = undefined, state = undefined) {
            if (token !== INTERNAL) {
                throw illegalConstructor();
            }
            this.#s = state;
        }

        static #of(value) {
            try {
                return value.#s;
            } catch {
                throw invalidThis('ReadableByteStreamController');
            }
        }

        get byobRequest() {
            const request = ReadableByteStreamController.#of(this).currentRequest();
            if (request === undefined) {
                return null;
            }
            if (request.object === undefined) {
                request.object = new ReadableStreamBYOBRequest(INTERNAL, request);
            }
            return request.object;
        }

        get desiredSize() {
            return ReadableByteStreamController.#of(this).desiredSize();
        }

        close() {
            const controller = ReadableByteStreamController.#of(this);
            if (controller.closeRequested || controller.stream.state !== READABLE) {
                throw invalidState('ReadableStream is already closed');
            }
            controller.close();
        }

        enqueue(chunk) {
            const controller = ReadableByteStreamController.#of(this);
            if (!ArrayBuffer.isView(chunk)) {
                throw invalidArgument('buffer', 'an instance of Buffer, TypedArray, or DataView', chunk);
            }
            if (chunk.byteLength === 0 || chunk.buffer.byteLength === 0) {
                throw invalidState('chunk ArrayBuffer is zero-length or detached');
            }
            if (controller.closeRequested || controller.stream.state !== READABLE) {
                throw invalidState('ReadableStream is already closed');
            }
            controller.enqueue(chunk);
        }

        error(reason = undefined) {
            ReadableByteStreamController.#of(this).fail(reason);
        }
    }

    class ReadableStreamBYOBRequest {
        #s;

        constructor(token = undefined, state = undefined) {
            if (token !== INTERNAL) {
                throw illegalConstructor();
            }
            this.#s = state;
        }

        static #of(value) {
            try {
                return value.#s;
            } catch {
                throw invalidThis('ReadableStreamBYOBRequest');
            }
        }

        static {
            requestFields = (value) => {
                const { view, controller } = ReadableStreamBYOBRequest.#of(value);
                return { view, controller: controller === undefined ? undefined : controller.object };
            };
        }

        get view() {
            return ReadableStreamBYOBRequest.#of(this).view;
        }

        respond(bytesWritten) {
            const request = ReadableStreamBYOBRequest.#of(this);
            const count = Math.trunc(+bytesWritten);
            if (!(count >= 0 && count <= Number.MAX_SAFE_INTEGER)) {
                throw new TypeError('bytesWritten is out of range');
            }
            if (request.controller === undefined) {
                throw invalidState('This BYOB request has been invalidated');
            }
            if (isDetached(request.view.buffer)) {
                throw invalidState('Viewed ArrayBuffer is detached');
            }
            request.controller.respond(count);
        }

        respondWithNewView(view) {
            const request = ReadableStreamBYOBRequest.#of(this);
            if (!ArrayBuffer.isView(view)) {
                throw invalidArgument('view', 'an instance of Buffer, TypedArray, or DataView', view);
            }
            if (request.controller === undefined) {
                throw invalidState('This BYOB request has been invalidated');
            }
            if (isDetached(view.buffer)) {
                throw invalidState('Viewed ArrayBuffer is detached');
            }
            request.controller.respondWithView(view);
        }
    }

    expose(ReadableByteStreamController);
    expose(ReadableStreamBYOBRequest);
    inspectAs(ReadableByteStreamController, () => ['ReadableByteStreamController', {}]);
    inspectAs(ReadableStreamBYOBRequest, (request) => ['ReadableStreamBYOBRequest', requestFields(request)]);

    return { ReadableByteStreamController, ReadableStreamBYOBRequest };
})
