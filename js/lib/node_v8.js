// SPDX-License-Identifier: MIT
// js/lib/node_v8.js - node:v8, as far as it says something of another engine: sizes of the heap, and values as bytes.
// host: memory()
(function (host, need) {
    'use strict';
    const { nodeError } = need('node_error');

    function getHeapStatistics() {
        const used = host.memory();
        return {
            total_heap_size: used, total_heap_size_executable: 0, total_physical_size: used, total_available_size: 0,
            used_heap_size: used, heap_size_limit: 0, malloced_memory: used, peak_malloced_memory: used, does_zap_garbage: 0,
            number_of_native_contexts: 1, number_of_detached_contexts: 0, total_global_handles_size: 0,
            used_global_handles_size: 0, external_memory: 0,
        };
    }

    const absent = (name) => () => {
        throw nodeError(Error, 'ERR_FEATURE_UNAVAILABLE_ON_PLATFORM', `weft's engine is not V8: v8.${name} is not there`);
    };
    return {
        getHeapStatistics, getHeapSpaceStatistics: () => [], cachedDataVersionTag: () => 0, setFlagsFromString() {},
        startupSnapshot: { isBuildingSnapshot: () => false },
        ...Object.fromEntries(['serialize', 'deserialize', 'getHeapSnapshot', 'writeHeapSnapshot', 'takeCoverage', 'stopCoverage']
            .map((name) => [name, absent(name)])),
    };
})
