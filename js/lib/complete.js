// SPDX-License-Identifier: MIT
// js/lib/complete.js - what the older engine lacks of the language and this library needs.
(function () {
    'use strict';

    async function fromAsync(items, map, self) {
        const list = [];
        let index = 0;
        for await (const item of items)
            list.push(map ? await map.call(self, item, index++) : item);
        return list;
    }

    if (!Array.fromAsync)
        Object.defineProperty(Array, 'fromAsync', { configurable: true, writable: true, value: fromAsync });
    return {};
})
