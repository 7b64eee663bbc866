// Instances beside each other: what they are given, what they come to, and what is theirs alone.
import { go, wait } from 'weft:go';
import * as fromGo from 'weft:go';
import parallel, { spawn, Instance, InstanceError } from 'weft:parallel';

async function thrown(what) {
    try {
        return ['no error, but', await what()];
    } catch (error) {
        return [error.constructor.name, error.name, error.code ?? '', error.message, error.exitCode ?? ''];
    }
}
const show = (name, ...values) => console.log(name, ...values);

// Functions of every kind; values go there and back as clones.
show('function', await spawn((a, b) => a + b, 1, 2), await spawn(function () { return arguments.length; }, 1, 2, 3));
show('async', await spawn(async (x) => (await null, [x]), { deep: new Map([[1, new Set([2])]]) }));
show('method', await spawn({ method(x) { return x; } }.method, 'of a method'), await spawn({ async later() { return 1; } }.later));
show('recursive', await spawn(function factorial(n) { return n < 2 ? 1 : n * factorial(n - 1); }, 10));
show('nothing', await spawn(() => {}), await spawn(() => null));
show('strict', await spawn(() => (function () { return this === undefined; })()), (await thrown(() => spawn(() => this)))[3]);
const cycle = { name: 'cycle' };
cycle.self = cycle;
const copy = await spawn((value) => ({ same: value.self === value, value }), cycle);
show('graph', copy.same, copy.value.self === copy.value, copy.value === cycle);
show('bytes', await spawn((bytes) => bytes.map((byte) => byte + 1), new Uint8Array([1, 2, 3])));
const given = new Uint8Array([1, 2, 3]).buffer;
show('transfer', await spawn.with({ transfer: [given] }, (buffer) => buffer.byteLength, given), given.byteLength);
show('transfer back', await spawn(async () => {
    const { transfer } = await import('weft:parallel');
    const { buffer } = new Uint8Array([4, 5]);
    return transfer({ buffer }, [buffer]);
}));

// It runs on a fiber, and may wait for what it likes; what it leaves behind belongs to it.
show('fiber', await spawn(() => {
    const numbers = [];
    return import('weft:go').then(({ go, chan, isFiber, sleep }) => go(() => {
        const channel = chan();
        go(() => [1, 2, 3].forEach((n) => (sleep(1), channel.send(n))) ?? channel.close());
        for (const n of channel)
            numbers.push(n);
        return [isFiber(), ...numbers];
    }));
}));
const seen = [];
await spawn(() => { setTimeout(() => {}, 5); }).then(() => seen.push('after its timer'));
show('over', ...seen);
show('on a fiber of ours', await go(() => wait(spawn((x) => x * 2, 21))));
show('nested', await spawn(async (n) => {
    const { spawn: inner } = await import('weft:parallel');
    return inner((m) => `${m} inside`, n);
}, 'deep'));

// Modules: the default export, or main; relative to the current folder.
show('module', await spawn('./parts/worker.mjs', 1, 'two'));
show('URL', (await spawn(new URL('./parts/worker.mjs', import.meta.url))).url, await spawn(import.meta.resolve('./parts/worker_main.mjs'), 4));
show('CommonJS', await spawn('./parts/worker.cjs', 'a module'));
show('only effects', await spawn('./parts/nothing.mjs'));
show('import inside', await spawn(async () => (await import('./parts/twice.mjs')).twice(8)));

// What goes wrong.
show('throws', ...await thrown(() => spawn(() => { throw Object.assign(new TypeError('wrong'), { code: 'ECODE', detail: 7 }); })));
show('details', await spawn(() => { throw Object.assign(new Error('x', { cause: new RangeError('why') }), { detail: 7 }); }).catch((error) =>
    [error.detail, error.cause.message, error.cause instanceof RangeError, error.stack.includes('parallel_spawn.mjs:')]));
show('throws a value', await spawn(() => { throw { plain: 1 }; }).catch((error) => error));
show('throws what cannot be cloned', ...await thrown(() => spawn(() => { throw () => 1; })));
show('returns what cannot be cloned', ...await thrown(() => spawn(() => () => 1)));
show('rejects', ...await thrown(() => spawn(() => Promise.reject(new DOMException('no', 'AbortError')))));
show('later', ...await thrown(() => spawn(() => { setTimeout(() => { throw new URIError('in a timer'); }, 1); return 'too early'; })));
show('unhandled', ...await thrown(() => spawn(() => { Promise.reject(new EvalError('nobody cares')); return new Promise(() => setTimeout(() => {}, 5)); })));
show('exit', ...await thrown(() => spawn(() => process.exit(7))), ...await thrown(() => spawn(() => process.exit())));
show('exit of a fiber', ...await thrown(() => spawn(async () => (await import('weft:go')).go(() => process.exit(8)))));
show('unsettled', ...await thrown(() => spawn(() => new Promise(() => {}))));
show('module throws', ...await thrown(() => spawn('./parts/throws.mjs')));
show('no module', (await thrown(() => spawn('./parts/none.mjs')))[2], (await thrown(() => spawn('weft:none')))[2]);
const outer = 1;
show('closes over', ...await thrown(() => spawn(() => outer)));
show('closes deeper', ...await thrown(() => spawn(() => () => [outer, seen])));
show('no text', ...await thrown(() => spawn(Math.max)), ...await thrown(() => spawn((() => 1).bind(null))));
show('no function', ...await thrown(() => spawn()), ...await thrown(() => spawn(5)));
show('bad arguments', ...await thrown(() => spawn((x) => x, () => 1)));
show('bad text', (await thrown(() => spawn({ get x() { return 1; } }.__lookupGetter__?.('x') ?? Object.getOwnPropertyDescriptor({ get x() { return 1; } }, 'x').get)))[0]);
for (const [name, options] of Object.entries({ memory: { memory: -1 }, stack: { stack: 'big' }, limit: { timeLimit: 0 }, signal: { signal: 1 },
    transfer: { transfer: [1] }, options: null }))
    show(`bad ${name}`, ...(await thrown(() => spawn.with(options, () => 1))).slice(0, 4));

// Its own: arguments, environment, globals, modules, the exit code. Not its own: the current folder.
process.env.PARALLEL_TEST = 'of the parent';
globalThis.mine = 1;
show('own', await spawn.with({ name: 'an instance' }, () => {
    const before = [typeof mine, process.env.PARALLEL_TEST, process.argv[1]];
    process.env.PARALLEL_TEST = 'of the child';
    process.exitCode = 0;
    globalThis.theirs = 1;
    return [...before, process.env.PARALLEL_TEST];
}), process.env.PARALLEL_TEST, typeof theirs);
show('chdir', ...await thrown(() => spawn(() => process.chdir('/'))));
process.exitCode = 3;
show('exit code', await spawn(() => process.exitCode), process.exitCode);
process.exitCode = undefined;
show('listeners', await spawn(() => new Promise((done) => {
    process.on('uncaughtException', (error) => done(`caught ${error.message}`));
    setTimeout(() => { throw new Error('inside'); });
})));

// The handle.
const instance = spawn.with({ name: 'named' }, (x) => x, 5);
show('handle', instance instanceof Instance, instance.name, instance.result instanceof Promise, await instance.finally(() => show('finally')),
    instance.ref() === instance, instance.unref() === instance, spawn(function hello() {}).name);
show('exports', Object.keys(parallel).join(), parallel.spawn === spawn, InstanceError.prototype instanceof Error,
    await fromGo.spawn((x) => x, 'from weft:go'), await fromGo.spawn.with({}, (x) => x, 'with options'));
