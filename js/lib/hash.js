// SPDX-License-Identifier: MIT
// js/lib/hash.js - MD5, SHA-1 and SHA-2, in JavaScript: for names and checks, not for much data.
(function () {
    'use strict';
    const rotate = (word, count) => word << count | word >>> 32 - count;
    let tables; // of constants, made when the first hash is

    // Not asUintN, which is wrong for some numbers in the older engine.
    const lowest = (value, bits) => value & (1n << BigInt(bits)) - 1n;

    // The first bits of the fraction of a root: what SHA-2 takes its constants from.
    function rootBits(number, degree, bits) {
        const wanted = BigInt(number) << BigInt(bits * degree);
        const power = BigInt(degree);
        let low = 0n, high = 1n << BigInt(bits + 8);
        while (high - low > 1n) {
            const middle = low + high >> 1n;
            if (middle ** power <= wanted)
                low = middle;
            else
                high = middle;
        }
        return lowest(low, bits);
    }

    function makeTables() {
        const primes = [];
        for (let n = 2; primes.length < 80; n++)
            if (primes.every((prime) => n % prime))
                primes.push(n);
        return {
            md5: Int32Array.from({ length: 64 }, (_, i) => Math.floor(Math.abs(Math.sin(i + 1)) * 2 ** 32)),
            sha256: Int32Array.from(primes.slice(0, 64), (prime) => Number(rootBits(prime, 3, 32))),
            sha512: primes.map((prime) => rootBits(prime, 3, 64)),
            begin256: Int32Array.from(primes.slice(0, 8), (prime) => Number(rootBits(prime, 2, 32))),
            begin224: Int32Array.from(primes.slice(8, 16), (prime) => Number(lowest(rootBits(prime, 2, 64), 32))),
            begin512: primes.slice(0, 8).map((prime) => rootBits(prime, 2, 64)),
            begin384: primes.slice(8, 16).map((prime) => rootBits(prime, 2, 64)),
        };
    }

    // ---- One block each ----

    const md5Turns = [[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21]];

    function md5Block(state, view) {
        let [a, b, c, d] = state;
        for (let i = 0; i < 64; i++) {
            const round = i >> 4;
            let mixed, word;
            if (round === 0) {
                mixed = b & c | ~b & d;
                word = i;
            } else if (round === 1) {
                mixed = d & b | ~d & c;
                word = 5 * i + 1;
            } else if (round === 2) {
                mixed = b ^ c ^ d;
                word = 3 * i + 5;
            } else {
                mixed = c ^ (b | ~d);
                word = 7 * i;
            }
            const sum = a + mixed + tables.md5[i] + view.getInt32((word & 15) << 2, true) | 0;
            a = d;
            d = c;
            c = b;
            b = b + rotate(sum, md5Turns[round][i & 3]) | 0;
        }
        state[0] += a;
        state[1] += b;
        state[2] += c;
        state[3] += d;
    }

    const words = new Int32Array(80);

    function sha1Block(state, view) {
        for (let i = 0; i < 16; i++)
            words[i] = view.getInt32(4 * i);
        for (let i = 16; i < 80; i++)
            words[i] = rotate(words[i - 3] ^ words[i - 8] ^ words[i - 14] ^ words[i - 16], 1);
        let [a, b, c, d, e] = state;
        for (let i = 0; i < 80; i++) {
            let mixed;
            if (i < 20)
                mixed = (b & c | ~b & d) + 0x5a827999;
            else if (i < 40)
                mixed = (b ^ c ^ d) + 0x6ed9eba1;
            else if (i < 60)
                mixed = (b & c | b & d | c & d) + 0x8f1bbcdc;
            else
                mixed = (b ^ c ^ d) + 0xca62c1d6;
            const sum = rotate(a, 5) + mixed + e + words[i] | 0;
            e = d;
            d = c;
            c = rotate(b, 30);
            b = a;
            a = sum;
        }
        [a, b, c, d, e].forEach((word, i) => {
            state[i] += word;
        });
    }

    function sha256Block(state, view) {
        for (let i = 0; i < 64; i++) {
            if (i < 16) {
                words[i] = view.getInt32(4 * i);
                continue;
            }
            const x = words[i - 15], y = words[i - 2];
            words[i] = words[i - 16] + words[i - 7] + (rotate(x, 25) ^ rotate(x, 14) ^ x >>> 3)
                + (rotate(y, 15) ^ rotate(y, 13) ^ y >>> 10);
        }
        let [a, b, c, d, e, f, g, h] = state;
        for (let i = 0; i < 64; i++) {
            const one = h + (rotate(e, 26) ^ rotate(e, 21) ^ rotate(e, 7)) + (e & f ^ ~e & g)
                + tables.sha256[i] + words[i] | 0;
            const two = (rotate(a, 30) ^ rotate(a, 19) ^ rotate(a, 10)) + (a & b ^ a & c ^ b & c);
            h = g;
            g = f;
            f = e;
            e = d + one | 0;
            d = c;
            c = b;
            b = a;
            a = one + two | 0;
        }
        [a, b, c, d, e, f, g, h].forEach((word, i) => {
            state[i] += word;
        });
    }

    const allOnes = 2n ** 64n - 1n;
    const cut = (value) => value & allOnes;
    const rotateLong = (word, count) => word >> count | cut(word << 64n - count);

    function sha512Block(state, view) {
        const long = [];
        for (let i = 0; i < 80; i++) {
            if (i < 16) {
                long.push(view.getBigUint64(8 * i));
                continue;
            }
            const x = long[i - 15], y = long[i - 2];
            long.push(cut(long[i - 16] + long[i - 7] + (rotateLong(x, 1n) ^ rotateLong(x, 8n) ^ x >> 7n)
                + (rotateLong(y, 19n) ^ rotateLong(y, 61n) ^ y >> 6n)));
        }
        let [a, b, c, d, e, f, g, h] = state;
        for (let i = 0; i < 80; i++) {
            const one = h + (rotateLong(e, 14n) ^ rotateLong(e, 18n) ^ rotateLong(e, 41n)) + (e & f ^ (e ^ allOnes) & g)
                + tables.sha512[i] + long[i];
            const two = (rotateLong(a, 28n) ^ rotateLong(a, 34n) ^ rotateLong(a, 39n)) + (a & b ^ a & c ^ b & c);
            h = g;
            g = f;
            f = e;
            e = cut(d + one);
            d = c;
            c = b;
            b = a;
            a = cut(one + two);
        }
        [a, b, c, d, e, f, g, h].forEach((word, i) => {
            state[i] = cut(state[i] + word);
        });
    }

    // ---- The algorithms ----

    const begin = [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0];
    const kinds = {
        __proto__: null,
        md5: { size: 16, block: 64, step: md5Block, isLittle: true, begin: () => Int32Array.from(begin.slice(0, 4)) },
        sha1: { size: 20, block: 64, step: sha1Block, begin: () => Int32Array.from(begin) },
        sha224: { size: 28, block: 64, step: sha256Block, begin: () => tables.begin224.slice() },
        sha256: { size: 32, block: 64, step: sha256Block, begin: () => tables.begin256.slice() },
        sha384: { size: 48, block: 128, step: sha512Block, begin: () => tables.begin384.slice() },
        sha512: { size: 64, block: 128, step: sha512Block, begin: () => tables.begin512.slice() },
    };

    // update() takes bytes, digest() gives them; after that it is used up.
    class Hasher {
        constructor(name) {
            tables ??= makeTables();
            this.kind = kinds[name];
            this.state = this.kind.begin();
            this.block = new Uint8Array(this.kind.block);
            this.view = new DataView(this.block.buffer);
            this.used = 0; // bytes in the block
            this.total = 0;
        }

        update(bytes) {
            this.total += bytes.length;
            for (let at = 0; at < bytes.length;) {
                const size = Math.min(bytes.length - at, this.block.length - this.used);
                this.block.set(bytes.subarray(at, at + size), this.used);
                this.used += size;
                at += size;
                if (this.used === this.block.length) {
                    this.kind.step(this.state, this.view);
                    this.used = 0;
                }
            }
        }

        digest() {
            const { block, kind, view } = this;
            block[this.used++] = 0x80;
            block.fill(0, this.used);
            if (this.used > block.length - block.length / 8) {
                kind.step(this.state, view);
                block.fill(0);
            }
            view.setBigUint64(block.length - 8, BigInt(this.total) * 8n, kind.isLittle);
            kind.step(this.state, view);
            const result = new DataView(new ArrayBuffer(64));
            this.state.forEach((word, i) => {
                if (typeof word === 'bigint')
                    result.setBigUint64(8 * i, word);
                else
                    result.setInt32(4 * i, word, kind.isLittle);
            });
            return new Uint8Array(result.buffer).slice(0, kind.size);
        }

        copy() {
            const other = Object.assign(Object.create(Hasher.prototype), this);
            other.state = this.state.slice();
            other.block = this.block.slice();
            other.view = new DataView(other.block.buffer);
            return other;
        }
    }

    return { Hasher, kinds };
})
