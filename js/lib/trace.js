// SPDX-License-Identifier: MIT
// js/lib/trace.js - weft:trace: looking at the runtime, and at this instance, from inside.
// host: collect(), memory(), fibers() -> [[number, name, state, since, what, [function, file, line, column, ...]], ...],
//       stats(), dump(), started
(function (host) {
    'use strict';

    function placesOf(flat) {
        const places = [];
        for (let i = 0; i < flat.length; i += 4) {
            const [name, file, line, column] = flat.slice(i, i + 4);
            places.push(file === '' ? { function: name, native: true } : { function: name, file, line, column });
        }
        return places;
    }

    const textOf = (place) => `    at ${place.function || '<anonymous>'} (${place.native ? 'native'
        : `${place.file}:${place.line}:${place.column}`})`;

    // The fibers that go has started here, oldest first, and where those stand that wait.
    function fibers() {
        return host.fibers().map(([number, name, state, since, what, flat]) => {
            const places = placesOf(flat);
            const fiber = { number, name, state };
            if (state === 'waiting')
                Object.assign(fiber, { waitsFor: places[0]?.function ?? what, since: since - host.started });
            if (places.length > 0)
                Object.assign(fiber, { stack: places.map(textOf).join('\n'), places });
            return fiber;
        });
    }

    function stats() {
        const { runtime, loop, heap } = host.stats();
        const states = { new: 0, running: 0, waiting: 0, ready: 0 };
        for (const [, , state] of host.fibers())
            states[state]++;
        return { runtime, loop, heap, fibers: states };
    }

    // Calls fn, and adds how long it took to the performance timeline: up to its return, or until its promise is settled.
    function span(name, fn, ...values) {
        const start = performance.now();
        const end = () => void performance.measure(name, { start, end: performance.now() });
        let result;
        try {
            result = fn(...values);
        } catch (error) {
            end();
            throw error;
        }
        if (result instanceof Promise)
            return result.finally(end);
        end();
        return result;
    }

    const exported = {
        collect: () => host.collect(), // what nobody can reach is freed now
        memory: () => host.memory(), // bytes of the engine's heap
        dump: () => host.dump(), // every fiber of the runtime, whatever it runs, as a text
        fibers, stats, span,
    };
    return { ...exported, default: exported };
})
