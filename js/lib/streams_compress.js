// SPDX-License-Identifier: MIT
// js/lib/streams_compress.js - CompressionStream and DecompressionStream.
// host: zlibNew(kind, level, window bits, memory level, strategy, dictionary), zlibRun(packer, bytes, room, flush, at once)
(function (host, need) {
    'use strict';
    const idl = need('idl');
    const { later } = need('abortable');
    const PIECE = 64 * 1024;
    const Z_NO_FLUSH = 0, Z_FINISH = 4;
    const packing = { deflate: 0, gzip: 2, 'deflate-raw': 4 }, unpacking = { deflate: 1, gzip: 3, 'deflate-raw': 5 };

    function kindOf(kinds, format, name) {
        const text = `${format}`;
        if (!Object.hasOwn(kinds, text))
            throw Object.assign(new TypeError(`The argument 'format' must be one of: 'deflate', 'deflate-raw', 'gzip'. Received '${text}'`),
                { code: 'ERR_INVALID_ARG_VALUE' });
        if (host.zlibNew === undefined)
            throw new TypeError(`${name} needs zlib, which weft was built without`);
        return kinds[text];
    }

    const bytesOf = (chunk) => {
        if (ArrayBuffer.isView(chunk))
            return new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength);
        if (chunk instanceof ArrayBuffer)
            return new Uint8Array(chunk);
        throw new TypeError('A chunk has to be bytes');
    };

    const broken = (text) => Object.assign(new TypeError(text), { code: 'Z_DATA_ERROR' });

    function transformOf(kind, isPacking) {
        const packer = host.zlibNew(kind, -1, 15, 8, 0, undefined);
        let isOver = false;
        async function run(bytes, flush, controller) {
            for (;;) {
                const [output, taken, ended, status, text] = await later(() => host.zlibRun(packer, bytes, PIECE, flush, false));
                if (output.length > 0)
                    controller.enqueue(output);
                if (status !== undefined)
                    throw broken(text ?? 'The data is not what it should be');
                isOver = ended;
                bytes = bytes.subarray(taken);
                if (ended && bytes.length > 0 && !isPacking)
                    throw broken('There is something behind the end');
                if (ended || output.length < PIECE)
                    return;
            }
        }
        return new (need('streams_transform').TransformStream)({
            async transform(chunk, controller) {
                const bytes = bytesOf(chunk);
                if (isOver && bytes.length > 0)
                    throw broken('There is something behind the end');
                if (bytes.length > 0)
                    await run(bytes, Z_NO_FLUSH, controller);
            },
            async flush(controller) {
                if (isPacking)
                    await run(new Uint8Array(0), Z_FINISH, controller);
                else if (!isOver)
                    throw Object.assign(new TypeError('The data ends too early'), { code: 'Z_BUF_ERROR' });
            },
        });
    }

    // Both classes are the same but for what they do.
    function streamClass(name, kinds, isPacking) {
        const Class = {
            [name]: class {
                #transform;

                constructor(format) {
                    idl.needArguments(name, arguments.length, 1);
                    this.#transform = transformOf(kindOf(kinds, format, name), isPacking);
                }

                static #of(value) {
                    if (!idl.isObject(value) || !(#transform in value))
                        throw idl.illegalInvocation();
                    return value.#transform;
                }

                get readable() {
                    return Class.#of(this).readable;
                }

                get writable() {
                    return Class.#of(this).writable;
                }
            },
        }[name];
        return Class;
    }

    const CompressionStream = streamClass('CompressionStream', packing, true);
    const DecompressionStream = streamClass('DecompressionStream', unpacking, false);
    for (const Class of [CompressionStream, DecompressionStream]) {
        idl.define(Class);
        idl.inspectAs(Class, (stream) => [Class.name, { readable: stream.readable, writable: stream.writable }]);
    }

    return { CompressionStream, DecompressionStream };
})
