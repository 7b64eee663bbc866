// SPDX-License-Identifier: MIT
// js/lib/stream_consumers.js - node:stream/consumers: all that a stream gives, in one piece.
(function (host, need) {
    'use strict';

    async function blob(stream) {
        const chunks = [];
        for await (const chunk of stream)
            chunks.push(chunk);
        return new (need('blob').Blob)(chunks);
    }

    async function arrayBuffer(stream) {
        return (await blob(stream)).arrayBuffer();
    }

    async function buffer(stream) {
        return need('buffer').Buffer.from(await arrayBuffer(stream));
    }

    async function text(stream) {
        const decoder = new (need('encoding').TextDecoder)();
        let made = '';
        for await (const chunk of stream)
            made += typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true });
        return made + decoder.decode();
    }

    async function json(stream) {
        return JSON.parse(await text(stream));
    }

    return { arrayBuffer, blob, buffer, json, text };
})
