// Whichever comes first, on a fiber and beside them; waits that a signal ends.
import { go, chan, select, sleep, Mutex } from 'weft:go';

async function thrown(what) {
    try {
        const value = await what();
        return `no error, but ${JSON.stringify(value)}`;
    } catch (error) {
        return `${error.name}: ${error.message}`;
    }
}
const show = (name, value) => console.log(name, JSON.stringify(value));

const a = chan(), b = chan(1), full = chan(1);
await full.send('full');
show('buffered', await select([{ recv: a }, { recv: full }]));
await full.send('again');
show('send has room', await select([{ send: full, value: 1 }, { send: b, value: 2 }]));
show('what was not sent is not there', [await full.recv(), full.length, await b.recv(), b.length]);
show('time', await select([{ recv: a }, { after: 1 }]));
show('limit', await select([{ recv: a }], { timeout: 1 }));
show('poll', await select([], { timeout: 0 }));
show('promise', await select([{ recv: a }, { promise: Promise.resolve('kept') }]));
show('promise that fails', await thrown(() => select([{ promise: Promise.reject(new Error('broken')) }])));
a.close();
show('closed', await select([{ recv: a }]));
show('send on closed', await thrown(() => select([{ send: a, value: 0 }])));
show('nothing', await thrown(() => select([])));
show('no case', await thrown(() => select([{}])));
show('no channel', await thrown(() => select([{ recv: {} }])));

// On a fiber it returns at once what it waited for.
await go(() => {
    const numbers = chan(), done = chan();
    go(() => {
        for (let i = 0; i < 3; i++)
            numbers.send(i);
        done.close();
    });
    for (;;) {
        const { index, value } = select([{ recv: numbers }, { recv: done }]);
        if (index === 1)
            break;
        show('number', value);
    }
});

// Two fibers meet in two selects, each of which sends and receives.
const left = chan(), right = chan();
const both = await Promise.all([
    go(() => select([{ send: left, value: 'to the left' }, { recv: right }]).index),
    go(() => select([{ recv: left }, { send: right, value: 'to the right' }]).index),
]);
show('they met', both[0] === both[1]);

// A signal ends every wait, with its reason.
const locked = new Mutex();
await locked.lock();
for (const [name, wait] of Object.entries({
    sleep: (options) => sleep(1e6, options),
    recv: (options) => chan().recv(options),
    send: (options) => chan().send(1, options),
    select: (options) => select([{ recv: chan() }], options),
    lock: (options) => locked.lock(options),
})) {
    for (const place of ['promise', 'fiber']) {
        const controller = new AbortController();
        const waiting = place === 'fiber' ? go(wait, { signal: controller.signal }) : wait({ signal: controller.signal });
        setImmediate(() => controller.abort(new Error(`enough of ${name}`)));
        show(place, await thrown(() => waiting));
    }
    show('before', await thrown(() => wait({ signal: AbortSignal.abort(new Error('long ago')) })));
    show('fiber before', await thrown(() => go(wait, { signal: AbortSignal.abort(new Error('long ago')) })));
}
show('no signal', await thrown(() => sleep(1, { signal: 1 })));

// What was aborted has taken nothing.
const later = chan();
const controller = new AbortController();
const gone = later.recv({ signal: controller.signal });
controller.abort(new Error('gone'));
show('gone', await thrown(() => gone));
const kept = later.recv();
await later.send('for the one that waits');
show('kept', await kept);

// The end comes while many wait.
for (let i = 0; i < 10; i++) {
    go(() => select([{ recv: chan() }, { send: chan(), value: i }]));
    select([{ recv: chan() }, { after: 1e7 }]);
}
setImmediate(() => process.exit(3));
