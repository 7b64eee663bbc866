// Foreign calls on go fibers: each has a thread, and nobody waits for another.
import ffi from 'weft:ffi';
import { go, chan, scope, sleep } from 'weft:go';
import { file, until } from './ffi_library.mjs';

const lib = ffi.open(file, {
    visits: ['int', []], visits_fast: { symbol: 'visits', returns: 'int', fast: true }, gate_wait: ['int', ['int']],
    gate_count: ['int', []], gate_open: ['void', ['int']], pause_for: ['void', ['int']], echo_i32: ['int', ['int']],
});

// What a library keeps for its thread stays with the fiber, whatever that waits for in between.
const counts = await Promise.all([1, 2, 3].map((each) => go(() => {
    const list = [lib.visits()];
    for (let round = 0; round < 3; round++) {
        sleep(each);
        list.push(lib.visits() - list[0]);
    }
    return list.slice(1).join();
})));
console.log(counts);

// Fibers in calls, and the loop, and other fibers go on.
const results = chan(10);
const blocked = [1, 2, 3, 4, 5].map((value) => go(() => lib.gate_wait(value)));
await until(() => lib.gate_count() === 5);
await go(() => results.send('another fiber'));
setTimeout(() => results.send('a timer'), 1);
console.log(await results.recv(), await results.recv(), lib.gate_count());
lib.gate_open(5);
console.log(await Promise.all(blocked));

// A short function that is called again and again lets others have their turn, too.
let ticks = 0;
const interval = setInterval(() => ticks++, 1);
const turns = await go(() => {
    let calls = 0;
    while (ticks < 5)
        calls += lib.echo_i32(1);
    return calls > 0; // and it has come to an end
});
clearInterval(interval);
console.log(turns);

// It is found out when a function that used to be short is not any more.
console.log(await go(() => {
    for (let round = 0; round < 50; round++)
        lib.pause_for(0);
    let other = 0;
    const timer = setInterval(() => other++, 1);
    for (let round = 0; round < 3; round++)
        lib.pause_for(20);
    clearInterval(timer);
    return other > 0;
}));

// A thousand at once, all of them in their calls: timers go on.
const thousand = Array.from({ length: 1000 }, (_, index) => go(() => lib.gate_wait(index)));
await until(() => lib.gate_count() === 1000);
const before = ticks;
const still = setInterval(() => ticks++, 1);
await until(() => ticks > before + 5);
clearInterval(still);
console.log(lib.gate_count());
lib.gate_open(1000);
console.log((await Promise.all(thousand)).length);

// And calls that end by themselves: ticks come between the first beginning and the last end.
let begun = 0, ended = 0, between = 0;
const watch = setInterval(() => {
    if (begun > ended)
        between++;
}, 1);
await Promise.all(Array.from({ length: 1000 }, () => go(() => {
    begun++;
    lib.pause_for(100);
    ended++;
})));
clearInterval(watch);
console.log(begun, ended, between > 0);

// More than can be bound, and more promises than there are threads for them.
const many = Array.from({ length: 1300 }, (_, index) => go(() => lib.gate_wait(index)));
await until(() => lib.gate_count() >= 1200);
lib.gate_open(1300);
console.log((await Promise.all(many)).length);
const promises = Array.from({ length: 1500 }, (_, index) => lib.gate_wait.async(index));
await until(() => lib.gate_count() >= 1000);
console.log(lib.gate_count());
lib.gate_open(1500);
console.log((await Promise.all(promises)).length);

// A cancelled fiber hears of it after its call, at its next wait.
const controller = new AbortController();
const cancelled = go.with({ signal: controller.signal }, () => {
    const value = lib.gate_wait(42);
    try {
        sleep(1000);
    } catch (error) {
        console.log(value, error.code);
    }
    throw new Error('cancelled');
});
await until(() => lib.gate_count() === 1);
controller.abort();
lib.gate_open(1);
console.log(await cancelled.catch((error) => error.message));
console.log(await scope(async (children) => {
    children.go(() => lib.gate_wait(1));
    const other = children.go(() => sleep(1));
    await until(() => lib.gate_count() === 1);
    await other;
    lib.gate_open(1);
    return 'a scope waits for calls';
}));
console.log(await go(() => lib.visits_fast() > 0));
