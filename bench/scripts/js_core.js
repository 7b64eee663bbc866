#!/usr/bin/env node
// SPDX-License-Identifier: MIT
//
// What JavaScript costs by itself, the same text for Node and for weft where both can do it: each row is printed as
// "NAME VALUE UNIT".
'use strict';

const say = (row, value, unit) => console.log(`${row} ${value} ${unit}`);
const now = () => performance.now();

async function perRound(row, rounds, body) {
    await body(rounds / 10);
    const begun = now();
    await body(rounds);
    say(row, (now() - begun) * 1e6 / rounds, 'ns');
}

function residentBytes() {
    const text = require('node:fs').readFileSync('/proc/self/statm', 'utf8');
    return Number(text.split(' ')[1]) * 4096;
}

// So many at a time that sleep 100 ms and then answer.
async function sleepers(start) {
    const count = 100000;
    const before = residentBytes();
    const begun = now();
    let most = 0;
    const all = Array.from({ length: count }, (_, i) => start(i, (value) => {
        if (value === count / 2)
            most = residentBytes();
        return value;
    }));
    const sum = (await Promise.all(all)).reduce((a, b) => a + b, 0);
    if (sum !== count * (count - 1) / 2)
        throw new Error('somebody has not answered');
    say('js.sleepers.time', now() - begun, 'ms');
    say('js.sleepers.memory', (most - before) / count, 'B');
}

const rows = {
    start: () => console.log('hello'),
    await: () => perRound('js.await', 1e6, async (rounds) => {
        for (let i = 0; i < rounds; i++)
            await null;
    }),
    timers: () => perRound('js.timer', 1e5, (rounds) => new Promise((done) => {
        let left = rounds;
        for (let i = 0; i < rounds; i++)
            setTimeout(() => --left || done(), 0);
    })),
    async sleepers() {
        if (typeof process.versions.weft === 'undefined') {
            const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
            return sleepers(async (i, answer) => (await sleep(100), answer(i)));
        }
        const { go, sleep } = await import('weft:go');
        return sleepers((i, answer) => go(() => (sleep(100), answer(i))));
    },
    async channel() {
        const { go, chan } = await import('weft:go');
        await perRound('js.channel', 1e5, (rounds) => {
            const there = chan(), back = chan();
            go(() => {
                for (const value of there)
                    back.send(value);
            });
            return go(() => {
                for (let i = 0; i < rounds; i++) {
                    there.send(i);
                    back.recv();
                }
                there.close();
            });
        });
    },
};

const run = rows[process.argv[2]];
if (!run) {
    console.error(`usage: js_core.js ${Object.keys(rows).join('|')}`);
    process.exit(2);
}
run();
