// SPDX-License-Identifier: MIT
// js/lib/streams.js - all stream classes in one place, each loaded when it is asked for.
(function (host, need) {
    'use strict';

    const homes = {
        streams_readable: ['ReadableStream', 'ReadableStreamDefaultReader', 'ReadableStreamBYOBReader',
            'ReadableStreamDefaultController'],
        streams_byob: ['ReadableByteStreamController', 'ReadableStreamBYOBRequest'],
        streams_writable: ['WritableStream', 'WritableStreamDefaultWriter', 'WritableStreamDefaultController'],
        streams_transform: ['TransformStream', 'TransformStreamDefaultController'],
        streams_strategy: ['CountQueuingStrategy', 'ByteLengthQueuingStrategy'],
        streams_text: ['TextEncoderStream', 'TextDecoderStream'],
        streams_compress: ['CompressionStream', 'DecompressionStream'],
    };

    const exported = {};
    for (const home in homes) {
        for (const name of homes[home]) {
            Object.defineProperty(exported, name, { get: () => need(home)[name], enumerable: true });
        }
    }
    return exported;
})
