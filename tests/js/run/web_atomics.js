// SPDX-License-Identifier: MIT
// Atomics.wait, waitAsync and notify where only one thread knows the memory.
const log = console.log;
const name = (what) => {
    try {
        return what();
    } catch (error) {
        return error.name;
    }
};
const numbers = new Int32Array(new SharedArrayBuffer(16)), big = new BigInt64Array(new SharedArrayBuffer(16));

log(Atomics.wait.length, Atomics.waitAsync.length, Atomics.notify.length, Atomics.wait.name, Object.prototype.toString.call(Atomics));
log(Atomics.wait(numbers, 0, 0, 1), Atomics.wait(numbers, 0, 5), Atomics.wait(numbers, 0, 0, -5), Atomics.wait(big, 1, 0n, 1),
    Atomics.wait(big, 1, 7n));
for (const what of [
    () => Atomics.wait(new Int32Array(4), 0, 0, 0), () => Atomics.wait(new Uint8Array(4), 0, 0, 0), () => Atomics.wait(numbers, 99, 0),
    () => Atomics.wait(numbers, -1, 0), () => Atomics.wait(big, 0, 0, 0), () => Atomics.wait({}, 0, 0),
    () => Atomics.waitAsync(new Int32Array(4), 0, 0, 0), () => Atomics.notify(new Int32Array(4), 0),
    () => Atomics.notify(new Float64Array(1), 0), () => Atomics.notify(numbers, 4), () => Atomics.notify(numbers, 0, -1),
    () => Atomics.wait(numbers, { valueOf: () => { throw new RangeError(); } }, 0),
])
    log(name(what));
log(Atomics.waitAsync(numbers, 0, 1), Atomics.waitAsync(numbers, 0, 0, 0));

// First come, first served, and no more than were asked for.
const waits = [1, 2, 3].map((number) => Atomics.waitAsync(numbers, 1, 0).value.then((answer) => log(number, answer)));
log(Atomics.waitAsync(numbers, 2, 0).async, Atomics.notify(numbers, 3), Atomics.notify(numbers, 1, 2), Atomics.notify(numbers, 1),
    Atomics.notify(numbers, 1), Atomics.notify(numbers, 2));
const pending = Atomics.waitAsync(big, 0, 0n);
log(pending.async, pending.value instanceof Promise, Object.keys(pending).join());
log(Atomics.notify(big, 0, 0), Atomics.notify(big, 0, 1));
Promise.all([...waits, pending.value]).then((answers) => log(answers.length, answers[3]));
setTimeout(() => {}, 20); // Node does not stay for them
