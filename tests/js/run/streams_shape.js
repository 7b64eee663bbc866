// The shape of the stream classes: lengths, names, descriptors, tags.
const names = ['ReadableStream', 'ReadableStreamDefaultReader', 'ReadableStreamBYOBReader',
    'ReadableStreamDefaultController',
    'ReadableByteStreamController', 'ReadableStreamBYOBRequest', 'WritableStream', 'WritableStreamDefaultWriter',
    'WritableStreamDefaultController', 'TransformStream', 'TransformStreamDefaultController', 'CountQueuingStrategy',
    'ByteLengthQueuingStrategy', 'TextEncoderStream', 'TextDecoderStream'];

function show(owner, key) {
    const d = Object.getOwnPropertyDescriptor(owner, key);
    const flags = (d.writable ? 'w' : '') + (d.enumerable ? 'e' : '') + (d.configurable ? 'c' : '');
    if (d.get || d.set) {
        return `${String(key)} get ${d.get.name} ${d.get.length} set ${typeof d.set} ${flags}`;
    }
    const what = typeof d.value === 'function' ? `function ${d.value.name} ${d.value.length}` : typeof d.value;
    return `${String(key)} ${what} ${flags}`;
}

for (const name of names) {
    const Class = globalThis[name];
    console.log(`${name} ${Class.name} ${Class.length} ${typeof Class}`);
    const keys = Reflect.ownKeys(Class.prototype).filter((k) => typeof k === 'string').sort();
    for (const key of keys) {
        if (key !== 'constructor') {
            console.log('  ' + show(Class.prototype, key));
        }
    }
    for (const key of Object.keys(Class)) {
        console.log('  static ' + show(Class, key));
    }
    if (!name.startsWith('Text')) {
        console.log('  ' + show(Class.prototype, Symbol.toStringTag));
        console.log('  ' + Object.prototype.toString.call(Class.prototype));
    }
    try {
        Class();
    } catch (error) {
        console.log('  call: ' + error.name);
    }
}
console.log(show(ReadableStream.prototype, Symbol.asyncIterator));
console.log(ReadableStream.prototype[Symbol.asyncIterator] === ReadableStream.prototype.values);
class Derived extends ReadableStream { extra() { return 'extra'; } }
const derived = new Derived();
console.log(derived.extra() + ' ' + derived.locked + ' ' + (derived instanceof ReadableStream));
const a = new CountQueuingStrategy({ highWaterMark: '7' });
const b = new CountQueuingStrategy({ highWaterMark: 8 });
console.log(`${a.highWaterMark} ${a.size === b.size} ${a.size.name} ${a.size.length} ${a.size('x')}`);
const c = new ByteLengthQueuingStrategy({ highWaterMark: -1 });
console.log(`${c.highWaterMark} ${c.size.name} ${c.size.length} ${c.size({ byteLength: 9 })}`);
