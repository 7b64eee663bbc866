// SPDX-License-Identifier: MIT
// crypto.getRandomValues and crypto.randomUUID.
const attempt = (f) => {
    try {
        return String(f());
    } catch (error) {
        return `throws ${error.name}`;
    }
};
const log = (...parts) => console.log(parts.join(' '));

log(Object.prototype.toString.call(crypto), attempt(() => new Crypto()), crypto instanceof Crypto);
for (const View of [Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array,
    BigInt64Array, BigUint64Array]) {
    const array = new View(64);
    log(View.name, crypto.getRandomValues(array) === array, array.some((value) => value != 0), new Set(array).size > 20);
}
const whole = new Uint8Array(64);
crypto.getRandomValues(whole.subarray(16, 48));
log(whole.subarray(0, 16).every((n) => n === 0), whole.subarray(48).every((n) => n === 0), whole.subarray(16,
    48).some((n) => n !== 0));
log(crypto.getRandomValues(new Uint8Array(0)).length, crypto.getRandomValues(new Uint8Array(65536)).length);
log(attempt(() => crypto.getRandomValues(new Uint8Array(65537))),
    attempt(() => crypto.getRandomValues(new Uint16Array(32769))));
for (const wrong of [new Float32Array(1), new Float64Array(1), new DataView(new ArrayBuffer(1))]) {
    log(wrong.constructor.name, attempt(() => crypto.getRandomValues(wrong)));
}
log(attempt(() => crypto.getRandomValues()), attempt(() => crypto.getRandomValues.call({}, new Uint8Array(1))),
    attempt(() => crypto.randomUUID.call({})));
try {
    crypto.getRandomValues(new Uint8Array(65537));
} catch (error) {
    log(error.name, error.message, error.code, error instanceof DOMException);
}
const seen = new Set();
let right = true;
for (let i = 0; i < 200; i++) {
    const id = crypto.randomUUID();
    right &&= /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(id);
    seen.add(id);
}
log(right, seen.size);
for (const name of ['getRandomValues', 'randomUUID']) {
    const d = Object.getOwnPropertyDescriptor(Crypto.prototype, name);
    log(name, d.enumerable, d.writable, d.configurable);
}
