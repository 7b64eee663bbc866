// Whatever an instance is in the middle of, it can be ended: by hand, by a signal, by its time.
import { go, wait } from 'weft:go';
import { spawn, channel } from 'weft:parallel';

async function thrown(what) {
    try {
        return ['no error, but', await what()];
    } catch (error) {
        return [error.name, error.message];
    }
}
const show = (name, ...values) => console.log(name, ...values);

// Each says when it is there, or nobody knows.
const states = {
    'a loop': (here) => { here.send(1); for (;;); },
    'a loop on a fiber': async (here) => { const { go } = await import('weft:go'); await go(() => { here.send(1); for (;;); }); },
    'a loop of jobs': async (here) => { here.send(1); for (;;) await null; },
    'a loop that catches everything': (here) => { here.send(1); for (;;) try { for (;;); } catch { /* goes on */ } finally { /* and on */ } },
    'a regular expression': (here) => { here.send(1); return /^(a+)+$/.test('a'.repeat(60) + 'b'); },
    'timers': (here) => { here.send(1); setInterval(() => {}, 1); return new Promise(() => {}); },
    'a long sleep': async (here) => { here.send(1); (await import('weft:go')).sleep(1e9); await new Promise(() => {}); },
    'a receive': (here, never) => { here.send(1); never.recv(); },
    'a receive, elsewhere': async (here, never) => { await here.send(1); await never.recv(); },
    'a send': (here, never) => { here.send(1); never.send(1); },
    'select': async (here, never) => { const { select } = await import('weft:go'); here.send(1); await select([{ recv: never }]); },
    'Atomics.wait of the loop': async (here) => {
        await here.send(1);
        await new Promise(setImmediate);
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
    },
    'Atomics.wait of a fiber': (here) => { here.send(1); Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0); },
    'Atomics.waitAsync': (here) => { here.send(1); return Atomics.waitAsync(new Int32Array(new SharedArrayBuffer(4)), 0, 0).value; },
    'a server': async (here) => {
        const server = (await import('node:http')).createServer(() => {}).listen(0, '127.0.0.1', () => here.send(1));
        await new Promise((done) => server.on('close', done));
    },
    'a port': (here) => {
        globalThis.kept = new MessageChannel();
        kept.port1.onmessage = () => {};
        here.send(1);
        return new Promise(() => {});
    },
    'instances of its own': async (here) => {
        const { spawn: inner } = await import('weft:parallel');
        await inner((deeper) => { deeper.send(1); for (;;); }, here);
    },
    'a pool of its own': async (here) => {
        const { parallel } = await import('weft:parallel');
        await parallel.map((item, index) => { if (index === 1) for (;;); }, [1, 2], { chunk: 1, workers: 2 }).finally(here.send(1));
    },
    'an exit listener': (here) => { process.on('exit', () => { for (;;); }); here.send(1); process.exit(); },
};
for (const [name, state] of Object.entries(states)) {
    const here = channel(1), never = channel();
    const instance = spawn(state, here, never);
    const end = thrown(() => instance);
    await here.recv();
    show(name, await instance.terminate(new Error('enough')), ...await end);
}

// At once, twice, too late, with the usual reason.
const early = spawn(() => { for (;;); });
early.terminate();
early.terminate(new Error('the first one counts'));
show('early', ...await thrown(() => early));
const late = spawn(() => 'done');
show('late', await late, await late.terminate(), await late);

// By a signal.
const controller = new AbortController(), here = channel(1);
const aborted = spawn.with({ signal: controller.signal }, (to) => { to.send(1); for (;;); }, here);
const end = thrown(() => aborted);
await here.recv();
controller.abort(new Error('of the signal'));
show('signal', ...await end, ...await thrown(() => spawn.with({ signal: controller.signal }, () => 1)));
show('no signal', await spawn.with({ signal: new AbortController().signal }, () => 'in time'));
show('on a fiber', ...await go(() => {
    const instance = spawn(() => { for (;;); });
    instance.terminate(new Error('from a fiber'));
    try {
        return wait(instance);
    } catch (error) {
        return [error.message];
    }
}));

// By its time.
show('time, in a loop', ...await thrown(() => spawn.with({ timeLimit: 10 }, () => { for (;;); })));
show('time, waiting', ...await thrown(() => spawn.with({ timeLimit: 10 }, () => new Promise((done) => setTimeout(done, 1e6)))));
show('time, on a fiber', ...await thrown(() => spawn.with({ timeLimit: 10 }, (never) => never.recv(), channel())));
show('time, standing still', ...await thrown(() => spawn.with({ timeLimit: 10 }, async () => {
    await new Promise(setImmediate);
    for (;;) try { Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0); } catch { /* goes on */ }
})));
show('in time', await spawn.with({ timeLimit: 1e6 }, () => 'done'));

// What is left of them at the end keeps nobody.
spawn(() => { for (;;); }).unref();
spawn(() => new Promise((done) => setTimeout(done, 1e6))).unref();
