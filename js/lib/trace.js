// SPDX-License-Identifier: MIT
// js/lib/trace.js - weft:trace: looking at the instance from inside.
// host: collect(), memory()
(function (host) {
    'use strict';
    const exported = {
        collect: () => host.collect(), // what nobody can reach is freed now
        memory: () => host.memory(), // bytes of the engine's heap
    };
    return { ...exported, default: exported };
})
