// SPDX-License-Identifier: MIT
// js/lib/signal_watch.js - signals that call a function, and keep nothing alive; those of the process object.
// host: signalsOpen(numbers, interrupts), signalsWait(set, milliseconds), signalsClose(set)
(function (host, need) {
    'use strict';
    const { whenDone } = need('abortable');
    const { errnoException } = need('system_error');
    const { toNumber, nameOf, signals } = need('signal_names');

    // fn(name, number) for each of these signals, until what is returned is called. interrupts: also whatever runs then.
    function watch(names, fn, syscall = 'signal', interrupts = false) {
        const set = host.signalsOpen(names.map(toNumber), interrupts);
        if (typeof set === 'number')
            throw errnoException(set, syscall);
        const next = () => whenDone(() => host.signalsWait(set, -1), (error, told) => {
            if (error || told === null)
                return;
            next();
            const [number, count] = told;
            for (let i = 0; i < count; i++)
                fn(nameOf(number), number);
        }, true);
        next();
        return () => host.signalsClose(set);
    }

    // ---- process.on('SIGTERM', ...): caught while somebody listens ----

    const stops = new Map();

    function begin(process, name) {
        if (!Object.hasOwn(signals, name) || stops.has(name))
            return;
        stops.set(name, watch([name], (_, number) => process.emit(name, name, number), 'uv_signal_start'));
    }

    function end(process, name) {
        if (!stops.has(name) || process.listenerCount(name) > 0)
            return;
        stops.get(name)();
        stops.delete(name);
    }

    return { watch, begin, end };
})
