// SPDX-License-Identifier: MIT
// js/lib/select.js - select: whichever of several things comes first.
// host: select([kind, handle, value, ...], milliseconds) -> [index, value, is closed]
(function (host, need) {
    'use strict';
    const { abortable, timeLimit } = need('abortable');
    const { asCase, kinds } = need('select_case');
    const { settlement, settled } = need('channel');
    const things = { recv: 'a channel', send: 'a channel', exit: 'a child', signal: 'signals', event: 'an event', work: 'a work' }; // what each key wants

    // [kind, handle, what makes a value of what comes]
    function caseOf(one) {
        for (const key in things) {
            const thing = one[key];
            if (thing === undefined)
                continue;
            const made = thing?.[asCase]?.(key);
            if (made === undefined)
                throw new TypeError(`A case of select with ${key} needs ${things[key]}`);
            return made;
        }
        if (one.after !== undefined)
            return [kinds.time, Math.max(0, Number(one.after) || 0)];
        if (one.promise !== undefined)
            return [...settlement(one.promise)[asCase]('recv'), settled];
        throw new TypeError(`A case of select has ${Object.keys(things).join(', ')}, after or promise`);
    }

    // Whichever comes first, and only that: {recv: channel}, {send: channel, value}, {after: milliseconds}, {promise}. The result
    // has the case's index, its value, and whether the channel was closed; with a limit of time, index -1 when nothing came.
    function select(cases, options) {
        const flat = [], makers = [];
        for (const one of cases) {
            const [kind, handle, maker, value = one.value] = caseOf(one);
            flat.push(kind, handle, value);
            makers.push(maker);
        }
        const limit = timeLimit(options);
        const answer = ([index, value, closed]) => ({ index, value: makers[index] ? makers[index](value) : value, closed });
        const result = abortable(options?.signal, () => host.select(flat, limit));
        return result instanceof Promise ? result.then(answer) : answer(result);
    }

    return { select };
})
