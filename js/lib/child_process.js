// SPDX-License-Identifier: MIT
// js/lib/child_process.js - node:child_process is not there: programs that only load it run, those that use it are told.
(function (host, need) {
    'use strict';
    const { nodeError } = need('node_error');
    const exported = {};
    for (const name of ['exec', 'execFile', 'execFileSync', 'execSync', 'fork', 'spawn', 'spawnSync']) {
        exported[name] = () => {
            throw nodeError(Error, 'ERR_FEATURE_UNAVAILABLE_ON_PLATFORM', `weft has no child_process.${name}`);
        };
    }
    return exported;
})
