// Structs: by value and by pointer, nested, with arrays, laid out as the compiler does.
import ffi from 'weft:ffi';
import { go } from 'weft:go';
import { file, thrown } from './ffi_library.mjs';

const One = ffi.struct({ a: 'i8' }, 'One');
const Three = ffi.struct({ a: 'u8', b: 'u8', c: 'u8' }, 'Three');
const Point = ffi.struct({ x: 'int', y: 'double' }, 'Point');
const Floats = ffi.struct({ a: 'float', b: 'float' }, 'Floats');
const Four = ffi.struct({ a: 'double', b: 'double', c: 'double', d: 'double' }, 'Four');
const Mixed = ffi.struct({ a: 'i8', b: 'i64', c: 'float', d: 'bool' }, 'Mixed');
const Large = ffi.struct({ id: 'i32', values: ffi.array('double', 8), name: ffi.text(12) }, 'Large');
const Line = ffi.struct({ from: Point, to: Point, width: 'u16' }, 'Line');
const Holder = ffi.struct({ pointer: 'pointer', text: 'string', inner: ffi.array(Three, 2), last: 'i16' }, 'Holder');

const lib = ffi.open(file, {
    turn_one: [One, [One]], turn_three: [Three, [Three]], turn_point: [Point, [Point]], turn_floats: [Floats, [Floats]],
    turn_four: [Four, [Four]], turn_mixed: [Mixed, [Mixed]], turn_large: [Large, [Large]], turn_line: [Line, [Line]],
    turn_holder: [Holder, [Holder]], weigh: ['double', ['int', Point, 'double', Large, Floats, 'int']],
    move_point: ['void', ['pointer', 'int', 'double']], new_line: ['pointer', []], layout_of: ['int', ['int', 'buffer']],
});

[One, Three, Point, Floats, Mixed, Large, Line, Holder].forEach((type, index) => {
    const out = new Uint32Array(8);
    lib.layout_of(index, out);
    const mine = [type.size, type.alignment, ...Object.values(type.offsets)];
    console.log(type.name, mine.join(), mine.every((value, place) => value === out[place]) ? 'as in C' : out);
});

const large = { id: 7, values: [1, 2, 3, 4, 5, 6, 7, 8], name: 'stressed' };
console.log(lib.turn_one({ a: 5 }), lib.turn_three({ a: 1, b: 2, c: 3 }), lib.turn_point({ x: 3, y: 9.75 }));
console.log(lib.turn_floats({ a: 0.5, b: 1.5 }), lib.turn_four({ a: 1, b: 2, c: 3, d: 4 }));
console.log(lib.turn_mixed({ a: -1, b: 2n ** 62n, c: 7, d: false }));
console.log(lib.turn_large(large), lib.turn_line({ from: { x: 1, y: 2 }, to: { x: 3, y: 4 }, width: 65535 }));
const text = ffi.string('kept');
const held = lib.turn_holder({ pointer: null, text, inner: [{ a: 1, b: 2, c: 3 }, { a: 4, b: 5, c: 6 }], last: 9 });
console.log(held);
console.log(lib.weigh(1, { x: 2, y: 3 }, 4, large, { a: 5, b: 6 }, 7));
await go(() => console.log(lib.turn_large(large).name, lib.turn_point({ x: 1, y: 1 })));
console.log(await lib.turn_line.async({ from: { x: 1, y: 2 }, to: { x: 3, y: 4 }, width: 0 }));

// What does not fit says where it stands.
for (const [name, value] of [['turn_point', { x: 1 }], ['turn_point', { x: 1.5, y: 0 }], ['turn_point', null], ['turn_point', 5],
    ['turn_line', { from: { x: 0, y: 0 }, to: { x: 'a', y: 0 }, width: 1 }], ['turn_large', { ...large, values: [1, 2] }],
    ['turn_large', { ...large, values: [1, 2, 3, 4, 5, 6, 7, 'x'] }], ['turn_large', { ...large, name: 'twelve bytes' }],
    ['turn_large', { ...large, name: 'a\0b' }], ['turn_holder', { ...held, text: 'a text' }], ['turn_point', Line.new()],
    ['turn_holder', { ...held, inner: [{ a: 1, b: 2, c: 3 }, { a: 256, b: 0, c: 0 }] }], ['turn_point', ffi.alloc(16)]])
    console.log(thrown(() => lib[name](value)));
console.log(thrown(() => lib.turn_point({ get x() { throw new Error('from a getter'); } })));

// Views: memory of their own, or of the library.
const point = Point.new({ x: 10 });
lib.move_point(point, 5, 2.5);
console.log(point.x, point.y, point, lib.turn_point(point));
const line = Line.at(lib.new_line());
console.log(line.from.x, line.to.y, line.width, Line.read(lib.new_line()));
line.from.x = 100;
line.to = { x: -1, y: -2 };
lib.move_point(line.from, 1, 1);
console.log(Line.read(lib.new_line()), Object.prototype.toString.call(line));
console.log(thrown(() => { line.width = 65536; }), thrown(() => { line.from = { x: 1 }; }), line.width);
const many = Large.new({ values: [1, 1, 1, 1, 1, 1, 1, 1], name: 'many' });
many.values.set(7, 3.5);
console.log(many.values.at(7), many.values.length, [...many.values].length, many.name, many.values.toArray().join());
console.log(thrown(() => many.values.at(8)), thrown(() => many.values.set(-1, 0)), thrown(() => many.values.at(0.5)));
console.log(thrown(() => Point.new({ z: 1 })), thrown(() => Point.at(ffi.alloc(15))), thrown(() => Point.at(null)));
const rows = ffi.array(Point, 3).new([{ x: 1, y: 1 }, { x: 2, y: 2 }, { x: 3, y: 3 }]);
rows.at(1).x = 20;
rows.set(2, { x: 30, y: 30 });
const pairs = ffi.array(ffi.array('u8', 2), 2).new([[1, 2], [3, 4]]);
console.log(rows.toArray(), ffi.pointer(rows).read('int', 16), pairs.at(1).at(0));

// What is no struct.
for (const fn of [() => ffi.struct({}), () => ffi.struct(null), () => ffi.struct({ a: 'void' }),
    () => ffi.struct({ a: 'buffer' }),
    () => ffi.struct({ a: { callback: ['void', []] } }), () => ffi.array('int', 0), () => ffi.array('int', 2 ** 40),
    () => ffi.text(-1), () => ffi.struct({ a: ffi.array('double', 2 ** 28) }), () => {
        let type = One;
        for (let depth = 0; depth < 20; depth++)
            type = ffi.struct({ type });
    }, () => ffi.open(file, { turn_one: ['void', [ffi.struct({ a: ffi.array('u8', 5000) })]] }),
    () => ffi.open(file, { turn_one: ['void', [ffi.array('int', 2)]] })])
    console.log(thrown(fn));
