// SPDX-License-Identifier: MIT
// js/lib/go.js - weft:go: functions on fibers of their own, and what they meet at.
//
// On a fiber, calls that wait return what they waited for; elsewhere they return a promise of it. So `await` is never wrong.
(function (host, need) {
    'use strict';
    const { go, sleep, isFiber, wait } = need('fiber');
    const { Channel } = need('channel');
    const { select } = need('select');
    const { scope } = need('scope');
    const { after, ticker, Ticker } = need('ticker');
    const { Mutex, RWLock, Cond } = need('locks');
    const { Semaphore, WaitGroup, Once, Barrier } = need('counts');
    const chan = (capacity) => new Channel(capacity);

    // Of weft:parallel, which is loaded with the first call.
    const spawn = (...values) => need('spawn').spawn(...values);
    spawn.with = (...values) => need('spawn').spawn.with(...values);
    const parallel = Object.fromEntries(['map', 'run', 'runWith'].map(
        (name) => [name, (...values) => need('parallel_pool').parallel[name](...values)]));

    const exported = {
        go, sleep, wait, select, scope, isFiber, chan, Channel, after, ticker, Ticker,
        Mutex, RWLock, Cond, Semaphore, WaitGroup, Once, Barrier, spawn, parallel,
    };
    return { ...exported, default: exported };
})
