// SPDX-License-Identifier: MIT
// A build: steps that come after others, at most two at a time, the longest way first, tried again when they fail, and stopped when
// one of them cannot be done. Run it with `weft run examples/js/build.mjs`; with an argument, that step fails for good.
import { sleep } from 'weft:go';
import { current, Pool, WorkError } from 'weft:pool';

// What each step needs, how long it takes, and how often it fails at first.
const steps = {
    parse: { time: 20 },
    generate: { after: ['parse'], time: 30, flaky: 1 },
    compile: { after: ['generate'], time: 50 },
    assets: { time: 40, flaky: 2 },
    test: { after: ['compile'], time: 30 },
    link: { after: ['compile', 'assets'], time: 20 },
    package: { after: ['test', 'link'], time: 10 },
};

// How far a step is from the end: what many wait for comes first.
const distance = (name) => 1 + Math.max(0, ...Object.keys(steps).filter((other) => steps[other].after?.includes(name)).map(distance));

function run(name) {
    const { time, flaky = 0 } = steps[name];
    sleep(time); // as if it were done by somebody else
    if (process.argv[2] === name)
        throw new Error(`${name} cannot be done`);
    if (current.attempt <= flaky)
        throw new Error(`${name} failed, try ${current.attempt}`);
    console.log(`${name}${current.attempt > 1 ? `, after ${current.attempt} tries` : ''}`);
}

await using pool = new Pool({ concurrency: 2, name: 'build' });
const works = Object.keys(steps).map((name) =>
    pool.submitWith({ id: name, after: steps[name].after, priority: distance(name), retry: 'requeue', maxRetries: 3 }, run, name));
for (const work of works)
    try {
        await work.wait();
    } catch (error) {
        const why = error instanceof WorkError ? error.cause ?? error : error;
        console.log(`${work.id} is not done: ${why.message}`);
        process.exitCode = 1;
    }
const { succeeded, failed, retried } = pool.stats();
console.log(`${succeeded} steps done, ${failed} not, ${retried} tried again`);
