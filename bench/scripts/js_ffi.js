#!/usr/bin/env node
// SPDX-License-Identifier: MIT
//
// What a foreign call costs a script: at once, from a fiber, as a promise, and back. weft has weft:ffi, Node has koffi, from the
// folder that BENCH_PACKAGES names; both call the library that BENCH_LIBRARY names (bench/foreign/add.c). Each row is printed as
// "NAME VALUE UNIT".
'use strict';

const CALLS = 200000, PASSES = 9, HANDED = 2000, LONG = 30000;
const say = (row, value, unit) => console.log(`js.ffi.${row} ${value.toFixed(1)} ${unit}`);
const now = () => performance.now();

// The best pass, in nanoseconds for each of so many.
function best(count, pass) {
    let least = Infinity;
    for (let round = 0; round < PASSES; round++) {
        const begun = now();
        pass(count);
        least = Math.min(least, (now() - begun) * 1e6 / count);
    }
    return least;
}

function check(sum, count) {
    if (sum !== count * (count + 1) / 2)
        throw new Error(`the results added up to ${sum}`);
}

const addAll = (add) => (count) => {
    let sum = 0;
    for (let i = 0; i < count; i++)
        sum += add(i, 1);
    check(sum, count);
};

const callBack = (repeat) => (count) => repeat((value) => value, count);

// So many at a time, in microseconds each.
async function later(addLater, count, atOnce) {
    let sum = 0;
    const begun = now();
    for (let i = 0; i < count; i += atOnce)
        for (const value of await Promise.all(Array.from({ length: atOnce }, (_, each) => addLater(i + each, 1))))
            sum += value;
    check(sum, count);
    return (now() - begun) * 1e3 / count;
}

// How much longer a call that lasts takes than it says: the turn goes to the loop and comes back.
function handOver(spin, count) {
    let over = 0;
    for (let i = 0; i < count; i++) {
        const begun = now();
        const passed = spin(LONG);
        over += (now() - begun) * 1e3 - passed / 1e3;
    }
    return over / count;
}

async function onWeft() {
    const ffi = require('weft:ffi'), { go } = require('weft:go');
    const lib = ffi.open(process.env.BENCH_LIBRARY, {
        weft_bench_add: ['double', ['double', 'double']],
        fast: { symbol: 'weft_bench_add', returns: 'double', parameters: ['double', 'double'], fast: true },
        weft_bench_spin: ['double', ['double']],
        weft_bench_repeat: ['int', [{ callback: ['int', ['int']] }, 'int']],
    });
    say('call', best(CALLS, addAll(lib.weft_bench_add)), 'ns');
    say('call_fast', best(CALLS, addAll(lib.fast)), 'ns');
    say('callback', best(CALLS, callBack(lib.weft_bench_repeat)), 'ns');
    await go(() => {
        say('call_bound', best(CALLS, addAll(lib.weft_bench_add)), 'ns');
        say('callback_bound', best(CALLS, callBack(lib.weft_bench_repeat)), 'ns');
        handOver(lib.weft_bench_spin, HANDED / 10);
        say('call_handed_over', handOver(lib.weft_bench_spin, HANDED), 'us');
    });
    return lib.weft_bench_add.async;
}

function onNode() {
    const koffi = require('node:module').createRequire(`${process.env.BENCH_PACKAGES}/`)('koffi');
    const lib = koffi.load(process.env.BENCH_LIBRARY);
    const add = lib.func('double weft_bench_add(double a, double b)');
    const repeat = lib.func('weft_bench_repeat', 'int', [koffi.pointer(koffi.proto('int IntFn(int value)')), 'int']);
    const each = best(CALLS, addAll(add));
    say('call', each, 'ns');
    say('call_fast', each, 'ns'); // it has one way only
    say('callback', best(CALLS, callBack(repeat)), 'ns');
    return (a, b) => new Promise((resolve, reject) => {
        add.async(a, b, (error, value) => (error ? reject(error) : resolve(value)));
    });
}

async function main() {
    const addLater = await (process.versions.weft === undefined ? onNode() : onWeft());
    await later(addLater, HANDED, 1);
    say('call_async', await later(addLater, HANDED * 5, 1), 'us');
    say('call_async_100', await later(addLater, HANDED * 5, 100), 'us');
}

main();
