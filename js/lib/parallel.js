// SPDX-License-Identifier: MIT
// js/lib/parallel.js - weft:parallel: several instances of the engine beside each other, and what they talk by.
(function (host, need) {
    'use strict';
    const { spawn, Instance, InstanceError } = need('spawn');
    const { Pool, parallel } = need('parallel_pool');
    const { sharedChannel } = need('channel');
    const channel = (capacity) => sharedChannel(capacity);
    const { transfer } = need('instance');

    const exported = { spawn, Instance, InstanceError, channel, Pool, parallel, transfer };
    return { ...exported, default: exported };
})
