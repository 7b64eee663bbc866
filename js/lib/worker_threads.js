// SPDX-License-Identifier: MIT
// js/lib/worker_threads.js - node:worker_threads, in part: channels of messages. Other instances are started by weft:parallel.
(function (host, need) {
    'use strict';
    const { MessageChannel, MessagePort, BroadcastChannel, receiveMessageOnPort } = need('message');
    return { MessageChannel, MessagePort, BroadcastChannel, receiveMessageOnPort, isMainThread: true, threadId: 0, parentPort: null };
})
