// SPDX-License-Identifier: MIT
// tests/js/suites/shim.js - as much of mocha as the suites use: groups, tests, hooks, and a runner that counts.
//
// Tests run one after another. A test is over when its function returns, when the promise it returned settles or when
// the callback it asked for is called; it fails when it throws, when an error that nobody catches comes while it runs,
// and when it takes longer than TIME_LIMIT.
'use strict';
const TIME_LIMIT = 10000;

class Group {
    constructor(title, parent) {
        this.title = title;
        this.parent = parent;
        this.entries = []; // tests and groups, in the order they were written
        this.hooks = { before: [], after: [], beforeEach: [], afterEach: [] };
    }

    path() {
        return this.parent ? [...this.parent.path(), this.title] : [];
    }

    // Hooks around each test: from the outside in, and for the end from the inside out.
    around(kind) {
        const outer = this.parent ? this.parent.around(kind) : [];
        return kind === 'beforeEach' ? [...outer, ...this.hooks[kind]] : [...this.hooks[kind], ...outer];
    }
}

const root = new Group('');
let current = root;

function describe(title, body) {
    const group = new Group(title, current);
    current.entries.push(group);
    current = group;
    try {
        body.call({ timeout() {}, slow() {} });
    } finally {
        current = group.parent;
    }
}

function it(title, body) {
    current.entries.push({ title, body, group: current });
}

// One function of a suite, with a callback or without; resolves when it is over and rejects when it failed.
function call(body, context) {
    return new Promise((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error(`not over after ${TIME_LIMIT} ms`)), TIME_LIMIT);
        const onError = (error) => end(error ?? new Error('an error that nobody caught'));
        let isOver = false;
        function end(error) {
            if (isOver)
                return;
            isOver = true;
            clearTimeout(timer);
            process.removeListener('uncaughtException', onError);
            if (error)
                reject(error);
            else
                resolve();
        }
        process.on('uncaughtException', onError);
        try {
            if (body.length > 0) {
                body.call(context, end);
                return;
            }
            const result = body.call(context);
            if (result && typeof result.then === 'function')
                result.then(() => end(), (error) => end(error ?? new Error('rejected')));
            else
                end();
        } catch (error) {
            end(error ?? new Error('threw nothing'));
        }
    });
}

async function runTest(test, counts) {
    if (!test.body) {
        counts.unwritten++;
        return;
    }
    const context = { timeout() {}, slow() {} };
    try {
        for (const hook of test.group.around('beforeEach'))
            await call(hook, context);
        await call(test.body, context);
        for (const hook of test.group.around('afterEach'))
            await call(hook, context);
        counts.passed++;
    } catch (error) {
        counts.failed++;
        console.log(`FAILED: ${[...test.group.path(), test.title].join(' / ')}\n    ${error?.stack ?? error}`);
    }
    // The next test begins in a turn of its own.
    await new Promise((resolve) => setImmediate(resolve));
}

async function runGroup(group, counts) {
    for (const hook of group.hooks.before)
        await call(hook, {});
    for (const entry of group.entries) {
        if (entry instanceof Group)
            await runGroup(entry, counts);
        else
            await runTest(entry, counts);
    }
    for (const hook of group.hooks.after)
        await call(hook, {});
}

// Runs what was described, prints one line and sets the exit code; expected is how many tests the suite has.
async function run(name, expected) {
    const counts = { passed: 0, failed: 0, unwritten: 0 };
    // The suites reject promises that nobody looks at.
    process.on('unhandledRejection', () => {});
    process.exitCode = 1;
    await runGroup(root, counts);
    console.log(`${name}: ${counts.passed} passed, ${counts.failed} failed, of ${expected}`
        + (counts.unwritten ? `; ${counts.unwritten} have a title only` : ''));
    process.exitCode = counts.failed === 0 && counts.passed === expected ? 0 : 1;
}

globalThis.describe = globalThis.context = describe;
globalThis.it = globalThis.specify = it;
for (const kind of Object.keys(root.hooks))
    globalThis[kind] = (body) => current.hooks[kind].push(body);

function deferred() {
    let resolve, reject;
    const promise = new Promise((yes, no) => {
        resolve = yes;
        reject = no;
    });
    return { promise, resolve, reject };
}

module.exports = { run, deferred };
