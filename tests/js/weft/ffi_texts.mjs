// Texts, variable arguments, errno.
import ffi from 'weft:ffi';
import { go } from 'weft:go';
import { file, thrown } from './ffi_library.mjs';

const lib = ffi.open(file, {
    text_length: ['size_t', ['string']],
    optional_length: { symbol: 'text_length', returns: 'i64', parameters: ['string?'] },
    text_of: ['string', ['int']],
    upper: ['string', ['string']],
    add_all: { returns: 'long', parameters: ['int'], variadic: true },
    add_two: { symbol: 'add_all', returns: 'long', parameters: ['int', '...', 'int', 'int'] },
    fail_with: ['int', ['int']],
    tell_failure: { symbol: 'fail_with', returns: 'int', parameters: ['int'], errno: true },
});

console.log(lib.text_length('plain'), lib.text_length(''), lib.text_length('é€😀'), lib.text_length('x'.repeat(5000)));
console.log(lib.text_length('\ud800'), lib.text_length('a\udfffb'), lib.optional_length(null), lib.optional_length('four'));
for (const value of [null, undefined, 5, {}, 'a\0b'])
    console.log(thrown(() => lib.text_length(value)));
console.log([0, 1, 2, 3, 4].map((which) => lib.text_of(which)));
const word = 'keep';
console.log(lib.upper(word), word, lib.upper('\ud800'));

console.log(lib.add_all(0), lib.add_all(2, 'int', 40, 'int', 2), lib.add_all(3, 'i32', 1, 'i32', 2, 'i32', 3),
    lib.add_two(2, 3, 4));
console.log(await lib.add_all.async(1, 'int', 9));
for (const rest of [['int'], ['float', 1], ['char', 1], ['nothing', 1], ['int', 'x']])
    console.log(thrown(() => lib.add_all(1, ...rest)));
console.log(lib.add_all.name, thrown(() => lib.add_all()));

// errno: of the last call on this fiber, or with the result.
console.log(lib.fail_with(2), ffi.errno());
lib.text_length('');
console.log(ffi.errno(), lib.tell_failure(13), await lib.tell_failure.async(11), ffi.errno());
await go(() => {
    lib.fail_with(5);
    lib.fail_with(22);
    console.log(ffi.errno());
});
console.log(ffi.errno());
