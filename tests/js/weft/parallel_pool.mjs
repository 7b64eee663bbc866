// Pools of instances, parallel.map and parallel.run.
import { go } from 'weft:go';
import { Pool, parallel, channel } from 'weft:parallel';

async function thrown(what) {
    try {
        return ['no error, but', await what()];
    } catch (error) {
        return [error.name, error.code ?? '', error.message];
    }
}
const show = (name, ...values) => console.log(name, ...values);
const numbers = Array.from({ length: 100 }, (_, index) => index);

// map: in the order of the items, whatever takes how long.
show('map', (await parallel.map((x) => x * x, numbers)).reduce((sum, x) => sum + x));
show('order', (await parallel.map(async (x, index) => {
    await new Promise((done) => setTimeout(done, (7 * x) % 5));
    return x - index;
}, numbers, { workers: 4, chunk: 3 })).every((difference) => difference === 0));
show('fibers', await parallel.map((x) => import('weft:go').then(({ go, sleep }) => go(() => (sleep(1), x + 1))), [1, 2, 3]));
show('iterables', await parallel.map(([key, value]) => key + value, new Map([['a', 1], ['b', 2]])), await parallel.map((x) => x, []),
    await parallel.map((letter) => letter.toUpperCase(), 'text'));
show('on a fiber', await go(() => parallel.map((x) => -x, [1, 2]).length + parallel.run(() => 40)));
show('module', await parallel.run('./parts/worker_main.mjs', 6), await parallel.map('./parts/worker.cjs', ['x']));

// The first error is the map's; nobody goes on.
show('error', ...await thrown(() => parallel.map((x) => {
    if (x === 3)
        throw Object.assign(new RangeError('three'), { code: 'E3' });
    for (;;);
}, [1, 2, 3, 4, 5, 6], { workers: 3, chunk: 1 })));
show('afterwards', await parallel.map((x) => x + 1, [1, 2, 3]));
show('exit', ...await thrown(() => parallel.map((x) => process.exit(x), [5])), await parallel.run(() => 'goes on'));
show('not cloneable', ...await thrown(() => parallel.map(() => () => 1, [1])), ...await thrown(() => parallel.map((x) => x, [() => 1])));
show('throws what cannot be cloned', ...await thrown(() => parallel.run(() => { throw () => 1; })));
const controller = new AbortController(), begun = channel(1);
const aborted = thrown(() => parallel.map(([number, to]) => {
    if (number === 1)
        to.send(1);
    for (;;);
}, [[1, begun], [2, begun]], { workers: 2, chunk: 1, signal: controller.signal }));
await begun.recv();
controller.abort(new Error('of the signal'));
show('signal', ...await aborted, ...await thrown(() => parallel.map((x) => x, [1], { signal: controller.signal })));
show('timeout', ...await thrown(() => parallel.runWith({ timeout: 5 }, () => { for (;;); })), await parallel.runWith({ timeout: 1e6 }, () => 1));
for (const options of [{ workers: 0 }, { chunk: -1 }, { chunk: 1.5 }])
    show('bad options', ...await thrown(() => parallel.map((x) => x, [1], options)));
const outer = 1;
show('bad functions', ...await thrown(() => parallel.map(() => outer, [1])), ...await thrown(() => parallel.map(5, [1])),
    ...await thrown(() => parallel.map((x) => x, 5)));

// A pool of one's own: its instances keep what they have.
const pool = new Pool({ workers: 1, name: 'own', memory: 64e6 });
show('pool', pool.workers, pool.size, await pool.run((x) => { globalThis.count = x; return process.argv[1]; }, 1), pool.size);
show('state', await Promise.all([1, 2, 3].map(() => pool.run(() => ++count))));
show('moved', await pool.runWith({ transfer: [new ArrayBuffer(8)] }, (buffer) => buffer?.byteLength));
const buffer = new ArrayBuffer(16);
show('transfer', await pool.runWith({ transfer: [buffer] }, (given) => given.byteLength, buffer), buffer.byteLength);
show('queue', (await Promise.all(numbers.map((x) => pool.run((y) => 2 * y, x)))).reduce((sum, x) => sum + x), pool.size);
const waits = new AbortController();
const first = pool.run(() => new Promise((done) => setTimeout(done, 5, 'first')));
const second = thrown(() => pool.runWith({ signal: waits.signal }, () => 'never runs'));
waits.abort(new Error('left the queue'));
show('left', ...await second, await first);
show('memory', ...await thrown(() => pool.run(() => { for (const list = []; ;) list.push(new Array(1000).fill(1)); })), await pool.run(() => typeof count));
const [a, b] = [pool.run(() => 'a'), pool.run(() => 'b')];
await pool.close();
show('closed', await a, await b, pool.size, ...await thrown(() => pool.run(() => 1)), await pool.close());
const ended = new Pool({ workers: 1 });
const [running, queued] = [thrown(() => ended.run(() => { for (;;); })), thrown(() => ended.run(() => 1))];
await ended.run(() => 1, ended.terminate(new Error('enough'))).catch(() => {});
show('terminated', ...await running, ...await queued, ended.size);
for (const options of [{ workers: 0 }, { workers: 'many' }])
    show('bad pool', ...await thrown(() => new Pool(options)));
