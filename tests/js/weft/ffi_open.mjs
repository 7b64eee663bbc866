// Libraries: names, ends, and what is wrong with a description.
import ffi, { open, close } from 'weft:ffi';
import { go } from 'weft:go';
import { file, thrown, until } from './ffi_library.mjs';

console.log(thrown(() => open('libnone.so.5')), thrown(() => open('')), thrown(() => open(5)),
    thrown(() => open('./ffi_open.mjs')));
console.log(thrown(() => open(file, { nothing_there: ['int', []] })));
try {
    open('libnone.so.5');
} catch (error) {
    console.log(error.code, error instanceof Error);
}
console.log(open('libm.so.6', { pow: ['double', ['double', 'double']] }).pow(2, 10));
console.log(open(new URL(`file://${file}`), { next_counter: { returns: 'int' } }).next_counter());
console.log(open(file, { next: ['int', [], { symbol: 'next_counter', fast: true }] }).next());
console.log(open(null, { strlen: ['size_t', ['string']] }).strlen('program'), Object.keys(open(file)), open.name);

for (const description of [undefined, null, 5, 'int', [], ['int', 'int'], ['int', ['integer']], ['none', []],
    ['buffer', []], { returns: 5 },
    { parameters: 5 }, ['int', ['void']], ['int', ['...']], ['int', ['int', '...', '...']], ['int', Array(65).fill('int')],
    { variable: 'none' }, { variable: 'void' }, { result: 'int' }, ['int', [], { quick: true }], ['int', [], 5]])
    console.log(thrown(() => typeof open(file, { next_counter: description }).next_counter));

// After its end nothing of it can be used; a call that is inside gets to its end.
const lib = open(file, {
    gate_wait: ['int', ['int']], gate_count: ['int', []], gate_open: ['void', ['int']], counter: { variable: 'int' },
    next_counter: { returns: 'int' }, add_all: ['long', ['int', '...']],
});
const other = open(file, { gate_open: ['void', ['int']], gate_count: ['int', []] });
const inside = go(() => lib.gate_wait(5));
const promise = lib.gate_wait.async(6);
await until(() => lib.gate_count() === 2);
lib.close();
lib.close();
for (const fn of [() => lib.next_counter(), () => lib.counter, () => { lib.counter = 1; }, () => lib.add_all(0),
    () => lib.add_all(1, 'int', 1)])
    console.log(thrown(fn));
console.log(await lib.gate_wait.async(1).catch((error) => error.message));
other.gate_open(2);
console.log(await inside, await promise);
const named = open(null, { close: ['int', ['int']] });
console.log(named.close(-1), ffi.errno());
close(named);
console.log(thrown(() => named.close(-1)), thrown(() => close({})), thrown(() => close(null)));
{
    const again = open(file, { next_counter: { returns: 'int' } });
    again[Symbol.dispose ?? 'close'](); // not all engines have it
    console.log(thrown(() => again.next_counter()));
}
other.close();

// Opened and closed many times.
for (let round = 0; round < 100; round++) {
    const each = open(file, { echo_i8: ['i8', ['i8']] });
    if (each.echo_i8(round) !== round)
        throw new Error('wrong');
    each.close();
}
