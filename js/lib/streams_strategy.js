// SPDX-License-Identifier: MIT
// js/lib/streams_strategy.js - CountQueuingStrategy and ByteLengthQueuingStrategy.
(function (host, need) {
    'use strict';

    const { coded, invalidThis, invalidArgument, expose, inspectAs } = need('streams_base');

    // One function each for all instances, as the standard says.
    const countSize = { size() { return 1; } }.size;
    const byteLengthSize = { size(chunk) { return chunk.byteLength; } }.size;

    function readMark(init) {
        if (init === null || typeof init !== 'object' && typeof init !== 'function') {
            throw invalidArgument('init', 'of type object', init);
        }
        const mark = init.highWaterMark;
        if (mark === undefined) {
            throw coded(TypeError, 'ERR_MISSING_OPTION', 'init.highWaterMark is required');
        }
        return +mark;
    }

    class CountQueuingStrategy {
        #mark;

        constructor(init) {
            this.#mark = readMark(init);
        }

        get highWaterMark() {
            if (!CountQueuingStrategy.#is(this)) {
                throw invalidThis('CountQueuingStrategy');
            }
            return this.#mark;
        }

        get size() {
            if (!CountQueuingStrategy.#is(this)) {
                throw invalidThis('CountQueuingStrategy');
            }
            return countSize;
        }

        static #is(value) {
            return value !== null && typeof value === 'object' && #mark in value;
        }
    }

    class ByteLengthQueuingStrategy {
        #mark;

        constructor(init) {
            this.#mark = readMark(init);
        }

        get highWaterMark() {
            if (!ByteLengthQueuingStrategy.#is(this)) {
                throw invalidThis('ByteLengthQueuingStrategy');
            }
            return this.#mark;
        }

        get size() {
            if (!ByteLengthQueuingStrategy.#is(this)) {
                throw invalidThis('ByteLengthQueuingStrategy');
            }
            return byteLengthSize;
        }

        static #is(value) {
            return value !== null && typeof value === 'object' && #mark in value;
        }
    }

    expose(CountQueuingStrategy);
    expose(ByteLengthQueuingStrategy);
    for (const Class of [CountQueuingStrategy, ByteLengthQueuingStrategy]) {
        inspectAs(Class, (strategy) => [Class.name, { highWaterMark: strategy.highWaterMark }]);
    }

    return { CountQueuingStrategy, ByteLengthQueuingStrategy };
})
