// weft:trace tells which fibers there are, what they wait for and where they stand.
import { chan, go, select, sleep, wait } from 'weft:go';
import trace, { collect, dump, fibers, memory, span, stats } from 'weft:trace';

const gate = chan();
const show = (list) => {
    for (const { number, name, state, waitsFor, since, stack, places } of list) {
        console.log(number, JSON.stringify(name), state, waitsFor, typeof since, places?.length);
        if (stack)
            console.log(stack.replaceAll(import.meta.url, 'here').replace(/(weft:internal\/\w+):\d+:\d+/g, '$1'));
    }
};

function deep(n) {
    return n === 0 ? gate.recv() : deep(n - 1);
}
go(() => deep(2));
go(function sorted() {
    return [2, 1].sort(() => gate.recv());
});
function* generate() {
    yield select([{ recv: gate }]);
}
go.with({ name: 'given' }, () => [...generate()]);
go(function waiting() {
    wait(new Promise(() => {}));
});
show(fibers().slice(0, 1));
await go(function last() {
    console.log('-- all but the last have begun');
    show(fibers());
    console.log(fibers()[0].places.at(-1).line, fibers()[1].places[2]);
});

console.log('-- the same in the text of all fibers');
const text = dump();
console.log(text.includes(`    at deep (${import.meta.url}:15:`), text.includes('"sorted"'), text.includes('JavaScript is running'));
await go(() => console.log(dump().includes('    at sort (native)')));

console.log('-- figures');
const { runtime, heap, loop, fibers: states } = stats();
console.log(runtime.workers > 0, runtime.fibers >= 5, runtime.fibersStarted >= runtime.fibers, loop);
console.log(heap.used > 100000, heap.limit, heap.objects > 100, heap.functions > 10, states);
console.log(memory() > 100000, collect(), Object.keys(trace).join());

console.log('-- spans');
console.log(span('plain', (a, b) => a + b, 1, 2));
try {
    span('failing', () => {
        throw new Error('failed');
    });
} catch (error) {
    console.log(error.message);
}
console.log(await span('later', () => sleep(1).then(() => 'slept')));
console.log(await go(() => span('on a fiber', () => {
    sleep(1);
    return 'slept';
})));
console.log(performance.getEntriesByType('measure').map(({ name, duration }) => [name, duration >= 0]));
process.exit();
