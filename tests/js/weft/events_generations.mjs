// Slots of events serve again and again: old events answer with their own verdict, or say that it is no longer kept.
import { EventSystem } from 'weft:events';
import { go } from 'weft:go';
import { collect } from 'weft:trace';

async function thrown(what) {
    try {
        return `no error, but ${String(await what())}`;
    } catch (error) {
        return `${error.name} ${error.code ?? ''} ${error.message}`;
    }
}

// A million events, one at a time: as many slots as were pending at one time.
const system = new EventSystem();
const old = system.create();
old.trigger();
const patient = system.create();
const waiting = go(() => patient.wait());
for (let i = 0; i < 300000; i++)
    system.create().trigger();
console.log(old.status, patient.status, system.stats().created, system.stats().slots <= 4096);
patient.trigger();
await waiting;

// Poisons beyond what is kept.
const small = new EventSystem({ reasons: 8 });
const bad = [];
for (let i = 0; i < 100; i++) {
    const event = small.create();
    event.poison(new Error(`number ${i}`));
    bad.push(event);
}
const newest = bad.slice(-8);
console.log(bad.every((event) => event.status === 'poisoned'), newest.every((event, i) => event.reason.message === `number ${92 + i}`),
    bad[0].reason.message, bad[0].reason.code, small.stats().lost > 0);

// One slot, used often.
const narrow = new EventSystem({ maxPending: 1, reasons: 1 });
const first = narrow.create();
first.poison(new Error('the first'));
for (let i = 0; i < 20000 && first.status !== 'expired'; i++)
    narrow.create().poison(new Error('another'));
console.log(first.status === 'expired' || first.status === 'poisoned', first.trigger(), first.poison(new Error('late')));
if (first.status === 'expired')
    console.log(await thrown(() => first.wait()), first.reason);
else
    console.log('Error ENODATA The event is expired: it has completed, but how is no longer kept', undefined);
const exact = new EventSystem({ strict: true, maxPending: 100, reasons: 1 });
const strict = exact.create();
strict.poison(new Error('for ever'));
for (let i = 0; i < 2000; i++)
    exact.create().poison();
console.log(strict.status);

// Numbers run out: then the slot rests for ever, and others take over.
const late = new EventSystem({ firstGeneration: 4294967293, maxPending: 10 });
const seen = new Set();
for (let i = 0; i < 20; i++) {
    const event = late.create();
    seen.add(event.handle);
    event.trigger();
}
console.log(seen.size, late.stats().retired > 0);

// Systems go with their last object: there may be as many in the end as one likes.
for (let i = 0; i < 600; i++)
    new EventSystem().create();
collect();
console.log(new EventSystem().create().status);
const kept = [];
console.log(await thrown(() => {
    for (let i = 0; i < 300; i++)
        kept.push(new EventSystem());
}), kept.length > 200);
