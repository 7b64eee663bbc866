// SPDX-License-Identifier: MIT
// immer: drafts made of proxies.
import { produce, produceWithPatches, applyPatches, enablePatches, enableMapSet, current, original, isDraft, nothing, immerable }
    from 'immer';

enablePatches();
enableMapSet();
const base = { todos: [{ text: 'a', done: false }, { text: 'b', done: false }], tags: new Set(['x']), by: new Map([['k', { n: 1 }]]) };
const next = produce(base, (draft) => {
    draft.todos[1].done = true;
    draft.todos.push({ text: 'c', done: false });
    draft.tags.add('y');
    draft.by.get('k').n++;
    console.log(isDraft(draft.todos), original(draft).todos.length, current(draft.todos).length);
});
console.log(JSON.stringify(next.todos), [...next.tags].join(), next.by.get('k').n, base.by.get('k').n);
console.log(next.todos[0] === base.todos[0], next.todos === base.todos, Object.isFrozen(next), Object.isFrozen(next.todos[1]));
console.log(produce(base, () => {}) === base, produce({ a: 1 }, () => nothing));
const [after, patches, inverse] = produceWithPatches({ a: { b: [1, 2, 3] }, c: 1 }, (draft) => {
    draft.a.b.splice(1, 1);
    delete draft.c;
});
console.log(JSON.stringify(after), JSON.stringify(patches), JSON.stringify(applyPatches(after, inverse)));
class Clock {
    [immerable] = true;
    hours = 1;
    get double() { return this.hours * 2; }
}
const clock = produce(new Clock(), (draft) => {
    draft.hours = draft.double + 5;
});
console.log(clock instanceof Clock, clock.hours, clock.double);
try {
    next.todos.push(1);
} catch (error) {
    console.log(error instanceof TypeError);
}
const toggle = produce((draft, index) => {
    draft[index] = !draft[index];
});
console.log(toggle([true, false], 1).join());
