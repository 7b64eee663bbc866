// SPDX-License-Identifier: MIT
// async: callbacks in order, queues, limits.
'use strict';
const async = require('async');

const later = (value, time = 1) => (done) => setTimeout(() => done(null, value), time);
async.series([later(1), later(2)], (error, list) => {
    console.log('series', error, list.join());
    async.parallel({ a: later('x', 3), b: later('y', 1) }, (error, object) => {
        console.log('parallel', error, JSON.stringify(object));
        async.waterfall([(next) => next(null, 2), (n, next) => setImmediate(next, null, n * 3)], (error, n) => {
            console.log('waterfall', error, n);
            queue();
        });
    });
});

function queue() {
    let running = 0, most = 0;
    const jobs = async.queue((job, done) => {
        most = Math.max(most, ++running);
        setTimeout(() => {
            running--;
            done(job === 3 ? new Error('three') : null);
        }, 1);
    }, 2);
    jobs.error((error, job) => console.log('failed', error.message, job));
    jobs.drain(() => {
        console.log('drained', most);
        rest();
    });
    jobs.push([1, 2, 3, 4, 5]);
}

async function rest() {
    console.log(await async.mapLimit([1, 2, 3], 2, async (n) => n * n));
    const order = await async.auto({
        one: async () => 1, two: async () => 2, sum: ['one', 'two', async ({ one, two }) => one + two],
    });
    console.log(JSON.stringify(order));
    let count = 0;
    console.log(await async.retry({ times: 3, interval: 1 }, async () => {
        if (++count < 3)
            throw new Error('again');
        return count;
    }));
    await async.eachSeries(['a', 'b'], async (text) => console.log(text)).catch(console.log);
    const timed = async.timeout((done) => setTimeout(done, 1000).unref(), 2);
    timed((error) => console.log(error.code, error.message));
}
