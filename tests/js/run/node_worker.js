// SPDX-License-Identifier: MIT
// Worker of node:worker_threads.
const { Worker, isMainThread, parentPort, workerData, threadId, MessageChannel, SHARE_ENV } = require('node:worker_threads');
const { once } = require('node:events');
const path = require('node:path');
const log = console.log;

if (!isMainThread) {
    const { what } = workerData;
    if (what === 'echo') {
        parentPort.on('message', (value) => {
            if (value === 'end')
                parentPort.close();
            else
                (value.port ?? parentPort).postMessage({ echo: value.port ? 'through the port' : value, threadId });
        });
    } else if (what === 'exit') {
        parentPort.postMessage('before');
        process.exit(workerData.code);
    } else if (what === 'exitCode') {
        process.exitCode = 4;
    } else if (what === 'throw') {
        throw Object.assign(new TypeError('thrown'), { code: 'ECODE' });
    } else if (what === 'reject') {
        Promise.reject(new RangeError('rejected'));
    } else if (what === 'loop') {
        parentPort.postMessage('begins');
        for (;;);
    } else if (what === 'look') {
        parentPort.postMessage([path.basename(process.argv[1]), process.argv.slice(2), process.env.WORKER_TEST ?? null, workerData.list]);
    } else if (what === 'shared') {
        Atomics.store(workerData.numbers, 0, 42);
        Atomics.notify(workerData.numbers, 0);
    }
} else {
    main();
}

function start(data, options = {}) {
    const worker = new Worker(__filename, { workerData: data, ...options });
    const seen = [];
    for (const name of ['online', 'message', 'error', 'exit'])
        worker.on(name, (value) => seen.push(value instanceof Error ? `${name} ${value.name} ${value.message} ${value.code}` : [name, value]));
    return [worker, seen];
}

async function run(name, data, options) {
    const [worker, seen] = start(data, options);
    await new Promise((done) => worker.once('exit', done));
    log(name, JSON.stringify(seen), worker.threadId);
}

async function main() {
    log(isMainThread, parentPort, workerData, threadId);
    const [echo, seen] = start({ what: 'echo' });
    await once(echo, 'online');
    log('thread', echo.threadId);
    for (const value of [1, { a: [new Date(5)] }]) {
        echo.postMessage(value);
        const [answer] = await once(echo, 'message');
        log(answer);
    }
    const { port1, port2 } = new MessageChannel();
    echo.postMessage({ port: port2 }, [port2]);
    log((await once(port1, 'message'))[0]);
    echo.postMessage('end');
    log(await once(echo, 'exit'), seen.length, echo.threadId);
    await run('exit', { what: 'exit', code: 7 });
    await run('exit 0', { what: 'exit', code: 0 });
    await run('exitCode', { what: 'exitCode' });
    await run('nothing', { what: 'nothing' });
    await run('throw', { what: 'throw' });
    await run('reject', { what: 'reject' });
    process.env.WORKER_TEST = 'inherited';
    await run('look', { what: 'look', list: new Map([[1, 2]]).size }, { argv: ['a', 5] });
    await run('environment', { what: 'look' }, { env: { WORKER_TEST: 'given' } });
    await run('shared environment', { what: 'look' }, { env: SHARE_ENV });
    const [loop] = start({ what: 'loop' });
    await once(loop, 'message');
    log('terminated', await loop.terminate(), await loop.terminate());
    const numbers = new Int32Array(new SharedArrayBuffer(8));
    start({ what: 'shared', numbers });
    log('waited', ['ok', 'not-equal'].includes(Atomics.wait(numbers, 0, 0)), numbers[0]);
    const text = new Worker('require("node:worker_threads").parentPort.postMessage(typeof require("fs").readFileSync)', { eval: true });
    log('text', await once(text, 'message'), await once(text, 'exit'));
    const bytes = new ArrayBuffer(8);
    const moved = new Worker('const { parentPort, workerData } = require("node:worker_threads"); parentPort.postMessage(workerData.byteLength)',
        { eval: true, workerData: bytes, transferList: [bytes] });
    log('moved', await once(moved, 'message'), bytes.byteLength);
    for (const name of ['worker.js', 5, undefined]) {
        try {
            new Worker(name);
        } catch (error) {
            log(error.name, error.code);
        }
    }
    try {
        new Worker(__filename, { workerData: () => 1 });
    } catch (error) {
        log(error.name, error.code);
    }
    const missing = new Worker('./no_such_worker.js');
    log('missing', (await once(missing, 'error').catch((error) => [error]))[0].code);
    const idle = start({ what: 'echo' })[0];
    idle.unref();
}
