// SPDX-License-Identifier: MIT
// TextEncoder and TextDecoder.
const attempt = (f) => {
    try {
        return String(f());
    } catch (error) {
        return `throws ${error.name}`;
    }
};
const log = (...parts) => console.log(parts.join(' '));
const text = (value) => JSON.stringify(value).replace(/[^ -~]/g,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
const bytes = (...list) => new Uint8Array(list);

// Encoding.
const encoder = new TextEncoder();
log(encoder.encoding, Object.prototype.toString.call(encoder), TextEncoder.length);
for (const value of ['', 'abc', '\0', '\x7f\x80', '\u07ff\u0800', '\uffff', '\u{10000}', '\u{10ffff}', 'é€😀',
    '\ud800', '\udc00',
    '\ud800\ud800\udc00', 'a\udc00b', '\ud83d', 'x\ud83d\ude00\ud83d', undefined, null, 12, true,
        { toString: () => 'obj' }]) {
    const result = encoder.encode(value);
    log(typeof value === 'string' ? text(value) : String(value), result.join(), result instanceof Uint8Array,
        result.byteLength === result.length);
}
log(encoder.encode().length, attempt(() => encoder.encode(Symbol('x'))));
log(encoder.encode('é'.repeat(5000)).length);

// encodeInto.
for (const [value, room] of [['', 5], ['abc', 5], ['abc', 2], ['é', 1], ['é', 2], ['aé', 2], ['€x', 3], ['€x', 2], ['😀', 3],
    ['😀', 4], ['a😀b', 5], ['\ud800', 3], ['\ud800', 2], ['abc', 0]]) {
    const into = new Uint8Array(room).fill(9);
    const { read, written } = encoder.encodeInto(value, into);
    log(text(value), room, read, written, into.join());
}
const whole = new Uint8Array(8);
log(JSON.stringify(encoder.encodeInto('hello', whole.subarray(2, 5))), whole.join());
log(attempt(() => encoder.encodeInto('a')), attempt(() => encoder.encodeInto('a', new Uint16Array(1))),
    attempt(() => encoder.encodeInto('a', new ArrayBuffer(1))), attempt(() => encoder.encodeInto('a', [])),
    attempt(() => encoder.encodeInto('a', null)));
log(attempt(() => TextEncoder.prototype.encode.call({}, 'a')), attempt(() => TextEncoder.prototype.encodeInto.call({},
    'a', bytes(1))));
log(attempt(() => TextEncoder()), attempt(() => TextDecoder()));

// Labels.
for (const label of ['utf-8', 'UTF-8', 'utf8', ' \t\n\f\rUtf8 ', 'unicode-1-1-utf-8', 'utf-16', 'utf-16le',
    'UTF-16LE', 'utf-16be', 'ucs-2',
    'unicode', 'csunicode', 'iso-10646-ucs-2', 'unicodefffe', 'unicodefeff', 'latin1', 'ascii', 'us-ascii',
    'windows-1252', 'iso-8859-1', 'l1', 'cp1252', 'x-cp1252', undefined]) {
    log(JSON.stringify(label), new TextDecoder(label).encoding);
}
for (const label of ['nope', '', 'utf-32', 'utf 8', 'utf-8\0', '\u00a0utf-8', 'utf-8,', null]) {
    log(JSON.stringify(label), attempt(() => new TextDecoder(label).encoding));
}
const decoder = new TextDecoder();
log(decoder.encoding, decoder.fatal, decoder.ignoreBOM, Object.prototype.toString.call(decoder), TextDecoder.length);
const strict = new TextDecoder('utf-8', { fatal: 1, ignoreBOM: 'yes' });
log(strict.fatal, strict.ignoreBOM, attempt(() => new TextDecoder('utf-8', 5)), attempt(() => new TextDecoder('utf-8',
    null).fatal));
for (const name of ['encoding', 'fatal', 'ignoreBOM']) {
    const d = Object.getOwnPropertyDescriptor(TextDecoder.prototype, name);
    log(name, typeof d.get, typeof d.set, d.enumerable, d.configurable, attempt(() => d.get.call({})));
}

// UTF-8, right and wrong.
for (const list of [[], [97, 98], [0xc3, 0xa9], [0xe2, 0x82, 0xac], [0xf0, 0x9f, 0x98, 0x80], [0xff], [0x80], [0xc0,
    0x80], [0xc1, 0xbf],
    [0xc3], [0xc3, 97], [0xe2, 0x82], [0xe2, 0x82, 97], [0xe0, 0x80, 0x80], [0xe0, 0x9f, 0xbf], [0xed, 0xa0, 0x80],
        [0xed, 0x9f, 0xbf],
    [0xf0, 0x80, 0x80, 0x80], [0xf0, 0x8f, 0xbf, 0xbf], [0xf0, 0x90, 0x80, 0x80], [0xf4, 0x8f, 0xbf, 0xbf], [0xf4,
        0x90, 0x80, 0x80],
    [0xf5, 0x80, 0x80, 0x80], [0xf0, 0x9f, 0x98], [0xf0, 0x9f, 0x98, 97], [0xf0, 0x9f, 97], [0xf0, 97], [0xfe], [0xef,
        0xbb, 0xbf],
    [0xef, 0xbb, 0xbf, 97], [0xef, 0xbb], [0xef, 0xbb, 0xbf, 0xef, 0xbb, 0xbf], [97, 0xef, 0xbb, 0xbf], [0], [0xc3,
        0xc3, 0xa9],
    [0xe2, 0xe2, 0x82, 0xac], [0xf0, 0x90, 0xf0, 0x90, 0x80, 0x80], [0xef, 0xbf, 0xbf], [0xef, 0xbf, 0xbd]]) {
    const data = bytes(...list);
    log(list.map((n) => n.toString(16)).join(' '), text(new TextDecoder().decode(data)),
        attempt(() => text(new TextDecoder('utf-8', { fatal: true }).decode(data))),
        text(new TextDecoder('utf-8', { ignoreBOM: true }).decode(data)));
}
try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes(255));
} catch (error) {
    log(error.name, error.message, error.code);
}

// Kinds of input.
const buffer = bytes(97, 98, 99, 100).buffer;
log(decoder.decode(buffer), decoder.decode(new DataView(buffer, 1, 2)), decoder.decode(new Uint16Array(buffer)),
    decoder.decode(new Uint8Array(buffer, 2)), decoder.decode().length, decoder.decode(undefined).length);
log(attempt(() => decoder.decode(null)), attempt(() => decoder.decode('abc')), attempt(() => decoder.decode({})),
    attempt(() => decoder.decode([97])), attempt(() => TextDecoder.prototype.decode.call({}, buffer)));

// Streams.
const pieces = (options, label, ...parts) => {
    const d = new TextDecoder(label, options);
    const out = parts.map((part) => text(d.decode(bytes(...part), { stream: true })));
    out.push(attempt(() => text(d.decode())));
    return out.join(' ');
};
log(pieces({}, 'utf-8', [0xe2], [0x82], [0xac, 97]));
log(pieces({}, 'utf-8', [0xf0, 0x9f], [0x98, 0x80]));
log(pieces({}, 'utf-8', [0xf0, 0x9f], [97]));
log(pieces({}, 'utf-8', [0xf0, 0x9f]));
log(pieces({}, 'utf-8', [0xef], [0xbb], [0xbf], [0xef, 0xbb, 0xbf]));
log(pieces({ ignoreBOM: true }, 'utf-8', [0xef], [0xbb, 0xbf], [97]));
log(pieces({ fatal: true }, 'utf-8', [0xe2, 0x82]));
const twice = new TextDecoder();
log(text(twice.decode(bytes(0xef, 0xbb, 0xbf, 97))), text(twice.decode(bytes(0xef, 0xbb, 0xbf, 98))));

// UTF-16.
for (const list of [[], [97, 0], [97, 0, 98, 0], [0x3d, 0xd8, 0x00, 0xde], [0xff, 0xfe, 97, 0], [97], [97, 0, 98],
    [0x3d, 0xd8],
    [0x00, 0xde], [0x3d, 0xd8, 97, 0], [0x00, 0xde, 97, 0]]) {
    const swapped = [];
    for (let i = 0; i < list.length; i += 2) {
        swapped.push(...(i + 1 < list.length ? [list[i + 1], list[i]] : [list[i]]));
    }
    log(list.join(), text(new TextDecoder('utf-16le').decode(bytes(...list))),
        text(new TextDecoder('utf-16be').decode(bytes(...swapped))));
}
log(pieces({}, 'utf-16le', [97], [0, 98], [0]));
log(pieces({}, 'utf-16le', [0x3d, 0xd8], [0x00], [0xde]));

// One byte for each letter.
const high = [];
for (let i = 0xa0; i < 256; i++) {
    high.push(i);
}
log(text(new TextDecoder('latin1').decode(bytes(65, 0x7f, ...high))));
const long = 'aé€😀'.repeat(3000);
log(new TextDecoder().decode(new TextEncoder().encode(long)) === long);
