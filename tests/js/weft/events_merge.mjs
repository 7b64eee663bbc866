// Merged events: all, any, settled, quorum; chains of poison; rings; queues of completions.
import { all, allSettled, any, create, EventSystem, queue, quorum } from 'weft:events';
import { go, select, sleep } from 'weft:go';

async function thrown(what) {
    try {
        return `no error, but ${String(await what())}`;
    } catch (error) {
        return `${error.name} ${error.code ?? ''} ${error.message}`;
    }
}
const three = () => [create(), create(), create()];
const statuses = (...events) => events.map((event) => event.status).join(' ');

{
    const [a, b, c] = three();
    const every = all([a, b, c]), one = any([a, b, c]), two = quorum([a, b, c], 2), settled = allSettled([a, b, c]);
    const waits = [every, one, two, settled].map((event) => go(() => event.wait()));
    console.log(statuses(every, one, two, settled));
    a.trigger();
    console.log(statuses(every, one, two, settled));
    b.trigger();
    console.log(statuses(every, one, two, settled));
    c.trigger();
    console.log(statuses(every, one, two, settled), (await Promise.all(waits)).length);
}
{
    const [a, b, c] = three();
    const every = all([a, b, c]), one = any([a, b, c]), two = quorum([a, b, c], 2), settled = allSettled([a, b, c]);
    const reasons = [new Error('first'), new Error('second'), new Error('third')];
    a.poison(reasons[0]);
    console.log(statuses(every, one, two, settled), every.reason === reasons[0]);
    b.poison(reasons[1]);
    console.log(statuses(every, one, two, settled), two.reason === reasons[1]);
    c.poison(reasons[2]);
    console.log(statuses(every, one, two, settled), one.reason === reasons[2]);
    console.log(await thrown(() => every.wait()), '|', await thrown(() => go(() => one.wait())), '|',
        await thrown(() => select([{ event: two }])));
}
// What can be said at once; and twice the same counts twice.
const [a, b] = three();
console.log(all([]).status, allSettled([]).status, quorum([], 0).status, await thrown(() => any([])), await thrown(() => quorum([a], 2)));
console.log(all([a]).handle === a.handle, quorum([a, a], 2).status);
a.trigger();
console.log(all([a, a]).status, any([a, b]).status, all([a, b]).handle === b.handle);
for (const wrong of [() => quorum([b], -1), () => quorum([b], 0.5), () => all([{}]), () => all(5), () => all([new EventSystem().create()])])
    console.log(await thrown(wrong));
// By hand.
const hand = all([create(), create()]);
console.log(hand.trigger(), hand.status);

// A chain of merges, poisoned at its beginning: the reason goes all the way.
const root = create(), why = new Error('at the root');
let last = root;
const extra = create();
for (let i = 0; i < 5000; i++)
    last = all([last, extra]);
const ends = Array.from({ length: 50 }, () => go(() => thrown(() => last.wait())));
root.poison(why);
console.log(last.reason === why, new Set(await Promise.all(ends)).size, extra.status);
let tree = Array.from({ length: 1024 }, () => create());
const leaves = tree;
while (tree.length > 1)
    tree = Array.from({ length: tree.length / 2 }, (_, i) => all([tree[2 * i], tree[2 * i + 1]]));
const whole = go(() => tree[0].wait());
for (const leaf of leaves)
    leaf.trigger();
await whole;
console.log(tree[0].status);

// A ring stays as it is until somebody completes one of it.
const ring = three();
ring.forEach((event, i) => event.after(ring[(i + 1) % 3]));
console.log(statuses(...ring), ring[1].trigger(), statuses(...ring));

// Queues.
const done = queue(), events = Array.from({ length: 6 }, () => create());
events.forEach((event, i) => done.add(event, `event ${i}`));
console.log(done.size, await thrown(() => done.pop({ timeout: 1 })), await thrown(() => go(() => done.pop({ timeout: 0 }))));
events[3].trigger();
events[1].poison(why);
const one = await done.pop(), two = await go(() => done.pop());
console.log(one.tag, one.status, one.event === events[3], one.reason, '|', two.tag, two.status, two.reason === why, done.size);
const waiting = [done.pop(), go(() => done.pop())];
await go(() => {});
events[0].trigger();
events[2].trigger();
console.log((await Promise.all(waiting)).map(({ tag }) => tag).sort().join());
events[4].trigger();
events[5].trigger();
console.log((await done.popMany(10)).map(({ tag }) => tag).join(), done.size);
done.add(events[0], 'complete').add(events[0], 'twice');
const complete = [];
for await (const { tag, status } of done)
    complete.push(tag, status);
console.log(complete.join());
await go(() => {
    const many = Array.from({ length: 100 }, (_, i) => {
        const event = create();
        done.add(event, i);
        go(() => {
            sleep(i % 3);
            event.trigger();
        });
        return event;
    });
    let sum = 0;
    for (const { tag, event } of done)
        sum += tag + (event === many[tag]);
    console.log(sum, done.size);
});
for (const wrong of [() => done.popMany(0), () => done.popMany(1.5), () => done.add({}), () => done.add(new EventSystem().create()),
    () => done.pop({ signal: AbortSignal.abort(new Error('long ago')) }), () => new done.constructor()])
    console.log(await thrown(wrong));
console.log(done.size);
