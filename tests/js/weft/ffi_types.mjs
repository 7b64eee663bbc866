// Scalars: the least and the greatest value of each type, and what is just beyond.
import ffi from 'weft:ffi';
import { file, thrown } from './ffi_library.mjs';

const names = ['bool', 'i8', 'u8', 'i16', 'u16', 'i32', 'u32', 'i64', 'u64', 'float', 'double', 'pointer'];
const lib = ffi.open(file, Object.fromEntries(names.map((name) => [`echo_${name}`, [name, [name]]])));
const echo = (name, ...values) => console.log(name, ...values.map((value) => lib[`echo_${name}`](value)));
const bad = (name, ...values) => {
    for (const value of values)
        console.log(thrown(() => lib[`echo_${name}`](value)));
};

echo('bool', true, false);
bad('bool', 1, 'true', null, undefined);
for (const [name, least, greatest] of [['i8', -128, 127], ['u8', 0, 255], ['i16', -32768, 32767], ['u16', 0, 65535],
    ['i32', -2147483648, 2147483647], ['u32', 0, 4294967295]]) {
    echo(name, least, greatest, 1, 1n, -0, BigInt(greatest));
    bad(name, least - 1, greatest + 1, BigInt(greatest) + 1n, 0.5, NaN, Infinity, '1', true, null, undefined, {}, Symbol('s'));
}
echo('i64', -(2n ** 63n), 2n ** 63n - 1n, 2 ** 53 - 1, 1 - 2 ** 53, 2n ** 53n, -1, 5n);
bad('i64', 2n ** 63n, -(2n ** 63n) - 1n, 2n ** 64n, 2 ** 53, -(2 ** 53), 1e300, 0.1);
echo('u64', 2n ** 64n - 1n, 2n ** 63n, 2n ** 53n - 1n, 2 ** 53 - 1, 0);
bad('u64', 2n ** 64n, -1, -1n, 2n ** 80n, -(2n ** 63n), 2 ** 64);
echo('float', 1.5, -0, Infinity, -Infinity, NaN, 0.1, 1e-50, 3.4028234663852886e38);
bad('float', 1e39, -1e300, '1', 1n);
echo('double', 0.1, -0, Infinity, NaN, Number.MAX_VALUE, Number.MIN_VALUE);
bad('double', '0.1', 1n, null, undefined, []);
console.log(lib.echo_pointer(null), lib.echo_pointer(0n), lib.echo_pointer(255n).address, String(lib.echo_pointer(4096n)));
bad('pointer', 255, 'x', undefined, {}, -1n, 2n ** 64n);

// The names of C.
const sizes = {};
for (const name of ['char', 'schar', 'uchar', 'short', 'ushort', 'int', 'uint', 'enum', 'long', 'ulong', 'longlong', 'ulonglong',
    'size_t', 'ssize_t', 'ptrdiff_t', 'intptr_t', 'uintptr_t', 'off_t', 'int8_t', 'uint8_t', 'int16_t', 'uint16_t', 'int32_t',
    'uint32_t', 'int64_t', 'uint64_t', 'f32', 'f64', 'bool', 'pointer', 'string', 'buffer', 'void'])
    sizes[name] = `${ffi.sizeof(name)}/${ffi.alignof(name)}`;
console.log(sizes);
console.log(thrown(() => ffi.sizeof('integer')), thrown(() => ffi.sizeof(5)), thrown(() => ffi.sizeof(null)));

// More than fit into registers.
const mixed = ffi.open(file, {
    mix: ['double', ['i8', 'double', 'i64', 'float', 'u16', 'double', 'int', 'double', 'u64', 'float', 'short', 'double', 'bool',
        'double', 'long', 'double', 'double', 'double']],
});
console.log(mixed.mix(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, true, 14, 15, 16, 17, 18));

// Wrong numbers of arguments.
console.log(thrown(() => lib.echo_i8()), thrown(() => lib.echo_i8(1, 2)), lib.echo_i8.length, lib.echo_i8.name);
