#!/usr/bin/env node
// SPDX-License-Identifier: MIT
//
// The event loop's rows by Node: microtasks, ticks, immediates, timers, a chain of promises. Same work as
// bench/weft/loop.c; the sizes are those of bench/shared/loop_work.h.
//
// Called as "loop.js NAME [SUFFIX]", prints lines "row value unit". There are no rows of submission: Node's loop takes
// nothing from a thread outside but messages, which it copies.
"use strict";

const PASSES = 5;
const BURST = 1000;
const BURSTS = 1000;
const TIMERS = 10000;
const FIRE_ROUNDS = 20;
const CANCEL_ROUNDS = 50;
const FIRE_MS = 1;
const CANCEL_MS = 1000;
const CHAIN = 100000;

function wallNs() {
    return Number(process.hrtime.bigint());
}

// Of all threads, the collector's and the compiler's included.
function cpuNs() {
    const use = process.cpuUsage();
    return (use.user + use.system) * 1000;
}

// pass(done) calls done when it has run n callbacks. The row is the best pass, after one that warms up.
function reportBest(row, n, clock, pass) {
    let best = Infinity;
    let number = 0;
    function next() {
        const start = clock();
        pass(() => {
            const took = clock() - start;
            if (number++ > 0 && took < best)
                best = took;
            if (number <= PASSES)
                setImmediate(next);
            else
                console.log(`${row} ${(best / n).toFixed(3)} ns`);
        });
    }
    next();
}

function reportBursts(row, queue) {
    reportBest(row, BURST * BURSTS, wallNs, (done) => {
        let ran = 0;
        function count() {
            if (++ran % BURST === 0) {
                if (ran === BURST * BURSTS)
                    done();
                else
                    setImmediate(burst);
            }
        }
        function burst() {
            for (let i = 0; i < BURST; i++)
                queue(count);
        }
        setImmediate(burst);
    });
}

function microtaskNested() {
    reportBest("loop.microtask_nested", BURST * BURSTS, wallNs, (done) => {
        let ran = 0;
        function link() {
            if (++ran === BURST * BURSTS)
                done();
            else
                queueMicrotask(link);
        }
        queueMicrotask(link);
    });
}

// Numbers from 0 to limit, the same in every run.
function makeRandom() {
    let state = 1;
    return (limit) => {
        state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
        return Math.floor(state * (limit + 1) / 2 ** 32);
    };
}

function timerFire() {
    const random = makeRandom();
    const delays = Array.from({length: TIMERS}, () => random(FIRE_MS * 1e6) / 1e6);
    const timers = new Array(TIMERS);
    reportBest("loop.timer_fire", TIMERS * FIRE_ROUNDS, cpuNs, (done) => {
        let ran = 0;
        function fired() {
            if (++ran % TIMERS === 0) {
                if (ran === TIMERS * FIRE_ROUNDS)
                    done();
                else
                    setImmediate(round);
            }
        }
        function round() {
            for (let i = 0; i < TIMERS; i++)
                timers[i] = setTimeout(fired, delays[i]);
        }
        setImmediate(round);
    });
}

function timerCancel() {
    const random = makeRandom();
    const delays = Array.from({length: TIMERS}, () => 1000 + random(CANCEL_MS));
    const order = shuffled(TIMERS);
    const timers = new Array(TIMERS);
    function fired() {
        throw new Error("a timer has fired that was to be cancelled");
    }
    reportBest("loop.timer_cancel", TIMERS * CANCEL_ROUNDS, wallNs, (done) => {
        let rounds = 0;
        function set() {
            for (let i = 0; i < TIMERS; i++)
                timers[i] = setTimeout(fired, delays[i]);
            setImmediate(cancel);
        }
        function cancel() {
            for (let i = 0; i < TIMERS; i++)
                clearTimeout(timers[order[i]]);
            if (++rounds === CANCEL_ROUNDS)
                done();
            else
                setImmediate(set);
        }
        setImmediate(set);
    });
}

// The numbers 0 to n - 1 in no order.
function shuffled(n) {
    const random = makeRandom();
    const order = [];
    for (let i = 0; i < n; i++) {
        const j = random(i);
        order[i] = order[j];
        order[j] = i;
    }
    return order;
}

function thenChain() {
    reportBest("loop.then_chain", CHAIN, wallNs, (done) => {
        let resolveFirst;
        let ran = 0;
        let last = new Promise((resolve) => {
            resolveFirst = resolve;
        });
        function link(value) {
            ran++;
            return value;
        }
        for (let i = 0; i < CHAIN; i++)
            last = last.then(link);
        last.then((value) => {
            if (ran !== CHAIN || value !== 1)
                throw new Error("links are missing");
            done();
        });
        resolveFirst(1);
    });
}

const rows = {
    microtask: () => reportBursts("loop.microtask", queueMicrotask),
    microtask_nested: microtaskNested,
    next_tick: () => reportBursts("loop.next_tick", process.nextTick),
    immediate: () => reportBursts("loop.immediate", setImmediate),
    timer_fire: timerFire,
    timer_cancel: timerCancel,
    then_chain: thenChain,
};

const chosen = rows[process.argv[2]];
if (chosen) {
    chosen();
} else {
    console.error("usage: loop.js NAME, NAME one of: " + Object.keys(rows).join(" "));
    process.exitCode = 2;
}
