// SPDX-License-Identifier: MIT
// js/lib/buffer_numbers.js - numbers in a Buffer: its read and write methods.
(function (host, need) {
    'use strict';
    const { nodeError, invalidArgType } = need('node_error');
    const scratch = new DataView(new ArrayBuffer(8));

    // ---- Complaints ----

    function grouped(text) {
        return text.replace(/\B(?=(\d{3})+$)/g, '_');
    }

    function shown(value) {
        if (typeof value === 'bigint')
            return `${value > 2n ** 32n || value < -(2n ** 32n) ? grouped(String(value)) : value}n`;
        if (Number.isInteger(value) && Math.abs(value) > 2 ** 32)
            return grouped(String(value));
        return need('inspect').inspect(value);
    }

    function outOfRange(name, range, value) {
        return nodeError(RangeError, 'ERR_OUT_OF_RANGE',
            `The value of "${name}" is out of range. It must be ${range}. Received ${shown(value)}`);
    }

    function checkPlace(buffer, offset, size) {
        if (typeof offset !== 'number')
            throw invalidArgType('offset', 'number', offset);
        const last = buffer.length - size;
        if (offset >= 0 && offset <= last && Number.isInteger(offset))
            return;
        if (Math.floor(offset) !== offset)
            throw outOfRange('offset', 'an integer', offset);
        if (last < 0)
            throw nodeError(RangeError, 'ERR_BUFFER_OUT_OF_BOUNDS', 'Attempt to access memory outside buffer bounds');
        throw outOfRange('offset', `>= 0 and <= ${last}`, offset);
    }

    function checkSize(size) {
        if (size === undefined || typeof size !== 'number')
            throw invalidArgType('byteLength', 'number', size);
        if (!Number.isInteger(size))
            throw outOfRange('byteLength', 'an integer', size);
        if (size < 1 || size > 6)
            throw outOfRange('byteLength', '>= 1 and <= 6', size);
    }

    function checkValue(value, size, isSigned, mark) {
        const bits = 8 * size;
        const two = mark ? 2n : 2;
        const power = (exponent) => two ** (mark ? BigInt(exponent) : exponent);
        const one = mark ? 1n : 1;
        const least = isSigned ? -power(bits - 1) : one - one;
        const most = power(isSigned ? bits - 1 : bits) - one;
        if (!(value > most || value < least))
            return;
        let range = `>= ${least}${mark} and <= ${most}${mark}`;
        if (size > 4 && isSigned)
            range = `>= -(2${mark} ** ${bits - 1}${mark}) and < 2${mark} ** ${bits - 1}${mark}`;
        else if (size > 4)
            range = `>= 0${mark} and < 2${mark} ** ${bits}${mark}`;
        throw outOfRange('value', range, value);
    }

    // ---- Integers of up to six bytes ----

    function readBytes(buffer, offset, size, isLittle, isSigned) {
        let value = 0;
        for (let i = 0; i < size; i++)
            value = value * 256 + buffer[offset + (isLittle ? size - 1 - i : i)];
        return isSigned && value >= 2 ** (8 * size - 1) ? value - 2 ** (8 * size) : value;
    }

    function writeBytes(buffer, value, offset, size, isLittle) {
        let rest = Math.trunc(value) || 0;
        if (rest < 0)
            rest += 2 ** (8 * size);
        for (let i = 0; i < size; i++) {
            buffer[offset + (isLittle ? i : size - 1 - i)] = rest % 256;
            rest = Math.floor(rest / 256);
        }
        return offset + size;
    }

    function fixed(size, isLittle, isSigned) {
        return {
            read(offset = 0) {
                checkPlace(this, offset, size);
                return readBytes(this, offset, size, isLittle, isSigned);
            },
            write(value, offset = 0) {
                value = +value;
                checkValue(value, size, isSigned, '');
                checkPlace(this, offset, size);
                return writeBytes(this, value, offset, size, isLittle);
            },
        };
    }

    function sized(isLittle, isSigned) {
        return {
            read(offset, byteLength) {
                if (offset === undefined)
                    throw invalidArgType('offset', 'number', offset);
                checkSize(byteLength);
                checkPlace(this, offset, byteLength);
                return readBytes(this, offset, byteLength, isLittle, isSigned);
            },
            write(value, offset, byteLength) {
                checkSize(byteLength);
                value = +value;
                checkValue(value, byteLength, isSigned, '');
                checkPlace(this, offset, byteLength);
                return writeBytes(this, value, offset, byteLength, isLittle);
            },
        };
    }

    // ---- What a DataView does: floating point and integers of eight bytes ----

    function copyOut(buffer, offset, size) {
        for (let i = 0; i < size; i++)
            scratch.setUint8(i, buffer[offset + i]);
    }

    function copyIn(buffer, offset, size) {
        for (let i = 0; i < size; i++)
            buffer[offset + i] = scratch.getUint8(i);
        return offset + size;
    }

    function viewed(kind, size, isLittle, check) {
        return {
            read(offset = 0) {
                checkPlace(this, offset, size);
                copyOut(this, offset, size);
                return scratch[`get${kind}`](0, isLittle);
            },
            write(value, offset = 0) {
                check?.(value);
                checkPlace(this, offset, size);
                scratch[`set${kind}`](0, value, isLittle);
                return copyIn(this, offset, size);
            },
        };
    }

    function checkBig(isSigned) {
        return (value) => checkValue(value, 8, isSigned, 'n');
    }

    // Defines both methods of a kind, under both spellings: readUInt8 and readUint8.
    function define(prototype, name, pair) {
        for (const spelling of new Set([name, name.replace('UInt', 'Uint')])) {
            for (const verb of ['read', 'write']) {
                const fn = pair[verb];
                if (spelling === name)
                    Object.defineProperty(fn, 'name', { value: verb + name, configurable: true });
                prototype[verb + spelling] = fn;
            }
        }
    }

    function addNumbers(prototype) {
        for (const [ending, isLittle] of [['LE', true], ['BE', false]]) {
            for (const size of [2, 4]) {
                define(prototype, `UInt${8 * size}${ending}`, fixed(size, isLittle, false));
                define(prototype, `Int${8 * size}${ending}`, fixed(size, isLittle, true));
            }
            define(prototype, `UInt${ending}`, sized(isLittle, false));
            define(prototype, `Int${ending}`, sized(isLittle, true));
            define(prototype, `Float${ending}`, viewed('Float32', 4, isLittle));
            define(prototype, `Double${ending}`, viewed('Float64', 8, isLittle));
            const names = { BigUInt64: false, BigInt64: true };
            for (const name of Object.keys(names))
                define(prototype, name + ending, viewed(name.replace('UI', 'Ui'), 8, isLittle, checkBig(names[name])));
        }
        define(prototype, 'UInt8', fixed(1, true, false));
        define(prototype, 'Int8', fixed(1, true, true));
    }

    return { addNumbers, outOfRange };
})
