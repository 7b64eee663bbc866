// Events: completion, reasons, waits of all kinds, owners, bad arguments.
import { create, EventSystem, PoisonError, WeftEvent } from 'weft:events';
import { chan, go, select, sleep } from 'weft:go';

async function thrown(what) {
    try {
        return `no error, but ${String(await what())}`;
    } catch (error) {
        return error instanceof Error ? `${error.name} ${error.code ?? ''} ${error.message}` : `thrown ${String(error)}`;
    }
}

// The first completion decides.
const event = create();
console.log(event.status, event.reason, event instanceof WeftEvent, typeof event.handle, event.system.name);
const waiters = [event.wait(), go(() => event.wait()), go(() => event.wait({ timeout: 1e6 })),
    event.wait({ signal: new AbortController().signal }), select([{ recv: chan() }, { event }]), go(() => select([{ event }]).index)];
console.log(event.trigger(), event.trigger(), event.poison(new Error('too late')), event.status, event.reason);
console.log((await Promise.all(waiters)).map((value) => value?.index ?? value).join());
console.log(await event.wait(), await go(() => event.wait()));

// A reason comes out as it went in.
const why = new RangeError('why'), odd = Symbol('odd');
for (const reason of [why, 'a text', odd, null, 0, { code: 1 }]) {
    const poisoned = create();
    const told = [poisoned.wait(), go(() => poisoned.wait()), select([{ event: poisoned }]), go(() => select([{ event: poisoned }]))];
    const caught = Promise.all(told.map((promise) => promise.then(() => false, (error) => error === reason)));
    console.log(poisoned.poison(reason), poisoned.poison(new Error('second')), poisoned.trigger(), poisoned.status,
        poisoned.reason === reason, (await caught).join());
}
const silent = create();
silent.poison();
console.log(silent.reason instanceof PoisonError, silent.reason.message, await thrown(() => silent.wait()));
const untold = create();
untold.poison({ toString() {
    throw new Error('no text');
} });
console.log(typeof untold.reason);

// Waits that give up leave the event as it is.
const slow = create();
const controller = new AbortController();
const aborted = thrown(() => go(() => slow.wait({ signal: controller.signal })));
const cancelled = thrown(() => go.with({ signal: controller.signal }, () => slow.wait()));
await go(() => {});
controller.abort(new Error('enough'));
console.log(await aborted, '|', await cancelled);
console.log(await thrown(() => slow.wait({ timeout: 1 })), '|', await thrown(() => go(() => slow.wait({ timeout: 1 }))));
console.log(await thrown(() => slow.wait({ signal: AbortSignal.abort(new Error('long ago')) })), slow.status);
console.log((await select([{ event: slow }], { timeout: 1 })).index, slow.trigger());

// Owners.
const owned = create(), given = create(), kept = create(), done = create();
const end = go(() => {
    console.log(owned.own(), owned.own(), given.own(), done.own());
    console.log(given.disown(), given.disown());
    done.trigger();
    sleep(1);
});
await end;
console.log(await thrown(() => owned.wait()), given.status, done.status);
console.log(await thrown(() => kept.own()), await go(() => done.own()));
const stolen = create();
await Promise.all([go(() => {
    stolen.own();
    sleep(5);
    stolen.trigger();
}), go(() => thrown(() => stolen.own())).then(console.log)]);
console.log(stolen.status);
const failed = create();
console.log(await thrown(() => go(() => {
    failed.own();
    throw new Error('of the fiber');
})), await thrown(() => failed.wait()));

// One after the other.
const first = create(), second = create(), third = create();
console.log(second.after(first), third.after(second), await thrown(() => first.after(first)));
first.poison(why);
console.log(third.status, third.reason === why, third.after(first), await thrown(() => second.wait()));

// Systems, and handles.
using system = new EventSystem({ name: 'mine', maxPending: 2 });
const [a, b] = [system.create(), system.create()];
console.log(await thrown(() => system.create()), await thrown(() => system.createWaiting({ timeout: 1 })));
const room = [system.createWaiting(), go(() => system.createWaiting())];
await go(() => {});
a.trigger();
b.trigger();
console.log((await Promise.all(room)).map((made) => made.status).join(), await thrown(() => go(() => system.createWaiting({ timeout: 1 }))));
const again = system.event(a.handle);
console.log(again === a, again.status, again.handle === a.handle, again.system === system);
console.log(await thrown(() => system.event(event.handle)), '|', await thrown(() => system.event(a.handle + 1000n)), '|',
    await thrown(() => system.event(5)));
console.log(await thrown(() => a.after(event)), '|', await thrown(() => system.all([event])));
const { created, triggered, poisoned, pending } = system.stats();
console.log(created, triggered, poisoned, pending, system.event(0n).status);
const last = (await room[0]).wait();
console.log(system.shutdown(why), system.shutdown(), await thrown(() => last), (await room[1]).reason === why);
console.log(await thrown(() => system.create()), a.status);
const other = new EventSystem();
const pendingOther = other.create();
other.shutdown();
console.log(await thrown(() => pendingOther.wait()));

for (const wrong of [() => new WeftEvent(), () => new EventSystem({ maxPending: 0 }), () => new EventSystem({ reasons: 1.5 }),
    () => new EventSystem({ name: 'x'.repeat(40) }), () => EventSystem.shared(), () => select([{ event: {} }]), () => event.after({}),
    () => event.wait({ timeout: 'x' }), () => event.wait({ signal: {} })])
    console.log(await thrown(wrong));

// Shared by name.
const shared = EventSystem.shared('common'), same = EventSystem.shared('common', { maxPending: 1 });
const common = shared.create();
console.log(same.event(common.handle).trigger(), common.status, await thrown(() => system.event(common.handle)));
const far = shared.create();
shared.event(far.handle).poison(why);
console.log(far.reason === why, await thrown(() => same.event(far.handle).wait()));
