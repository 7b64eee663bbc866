// SPDX-License-Identifier: MIT
// js/lib/worker_threads.js - node:worker_threads: workers, and channels of messages.
(function (host, need) {
    'use strict';
    const { MessageChannel, MessagePort, BroadcastChannel, receiveMessageOnPort } = need('message');
    const own = host.isLoaded('worker_side') ? need('worker_side').own() : undefined;

    const exported = {
        MessageChannel, MessagePort, BroadcastChannel, receiveMessageOnPort, isMainThread: host.lastWords === undefined,
        parentPort: own?.port ?? null, workerData: own?.workerData ?? null, threadId: own?.threadId ?? 0,
        SHARE_ENV: Symbol.for('nodejs.worker_threads.SHARE_ENV'), resourceLimits: {},
    };
    Object.defineProperty(exported, 'Worker', { get: () => need('worker').Worker, enumerable: true, configurable: true });
    return exported;
})
