// SPDX-License-Identifier: MIT
// js/lib/assert_error.js - AssertionError, and the texts that say how two values differ.
// host: nothing.
(function (host, need) {
    'use strict';

    const { inspect } = need('inspect');
    const { IS_NODE_ERROR } = need('inspect_error');
    const SHORT = 12;

    const HEADS = {
        deepStrictEqual: 'Expected values to be strictly deep-equal:',
        strictEqual: 'Expected values to be strictly equal:',
        strictEqualObject: 'Expected "actual" to be reference-equal to "expected":',
        deepEqual: 'Expected values to be loosely deep-equal:',
        notDeepStrictEqual: 'Expected "actual" not to be strictly deep-equal to:',
        notStrictEqual: 'Expected "actual" to be strictly unequal to:',
        notStrictEqualObject: 'Expected "actual" not to be reference-equal to "expected":',
        notDeepEqual: 'Expected "actual" not to be loosely deep-equal to:',
        notIdentical: 'Values have same structure but are not reference-equal:',
    };

    // One line for each property, in order, so that lines can be compared.
    function shown(value) {
        return inspect(value, { compact: false, customInspect: false, depth: 1000, maxArrayLength: Infinity, showHidden:
            false,
            showProxy: false, breakLength: Infinity, sorted: true, getters: true });
    }

    function sameLine(a, b) {
        return a === b || a + ',' === b || a === b + ',';
    }

    // Steps from the one list of lines to the other: '=' in both, '+' only in the first, '-' only in the second.
    function steps(left, right) {
        const columns = right.length + 1;
        const table = new Uint32Array((left.length + 1) * columns);
        for (let i = left.length - 1; i >= 0; i--) {
            for (let j = right.length - 1; j >= 0; j--) {
                table[i * columns + j] = sameLine(left[i], right[j]) ? table[(i + 1) * columns + j + 1] + 1 :
                    Math.max(table[(i + 1) * columns + j], table[i * columns + j + 1]);
            }
        }
        const out = [];
        let i = 0;
        let j = 0;
        while (i < left.length || j < right.length) {
            if (i < left.length && j < right.length && sameLine(left[i], right[j])) {
                out.push(['=', left[i++]]);
                j++;
            } else if (j >= right.length || (i < left.length && table[(i + 1) * columns + j] >= table[i * columns + j +
                1])) {
                out.push(['+', left[i++]]);
            } else {
                out.push(['-', right[j++]]);
            }
        }
        return out;
    }

    // Lines that are the same are shown next to a change only.
    function shorten(lines, isFirst, isLast) {
        const head = isFirst ? 2 : 1;
        const tail = isLast ? 3 : 2;
        if (lines.length <= (isFirst ? 5 : head + tail)) return lines;
        return [...lines.slice(0, head), '...', ...lines.slice(-tail)];
    }

    // Within a change, what is there stands before what was expected.
    function drawSteps(list) {
        const out = [];
        let skipped = false;
        for (let i = 0; i < list.length;) {
            let end = i;
            const isSame = list[i][0] === '=';
            while (end < list.length && (list[end][0] === '=') === isSame) end++;
            const run = list.slice(i, end);
            if (isSame) {
                const lines = shorten(run.map(([, line]) => '  ' + line), i === 0, end === list.length);
                if (lines.length < run.length || lines.includes('...')) skipped = true;
                out.push(...lines);
            } else {
                for (const sign of ['+', '-']) {
                    for (const [kind, line] of run) if (kind === sign) out.push(`${sign} ${line}`);
                }
            }
            i = end;
        }
        return [out.join('\n'), skipped];
    }

    // An arrow below the first character that differs.
    function pointer(left, right) {
        let i = 0;
        while (i < left.length && left[i] === right[i]) i++;
        return i > 2 && left.length < 80 && right.length < 80 ? `\n  ${' '.repeat(i)}^` : '';
    }

    function isObject(value) {
        return value !== null && (typeof value === 'object' || typeof value === 'function');
    }

    function difference(actual, expected, operator, custom) {
        const left = shown(actual);
        const right = shown(expected);
        let head = HEADS[operator];
        if (operator === 'strictEqual' && isObject(actual) && isObject(expected)) {
            head = left === right ? HEADS.notIdentical : HEADS.strictEqualObject;
        }
        if (custom !== undefined) head = custom;
        if (left === right) return `${head}\n\n${left}\n`;
        const isOneLine = !left.includes('\n') && !right.includes('\n');
        const isShort = isOneLine && !isObject(actual) && !isObject(expected) && left.length + right.length <= SHORT;
        if (isShort && (actual !== 0 || expected !== 0)) return `${head}\n\n${left} !== ${right}\n`;
        const leftLines = left.split('\n');
        const rightLines = right.split('\n');
        const isLarge = leftLines.length * rightLines.length > 4e6;
        const list = isLarge ? [...leftLines.map((line) => ['+', line]), ...rightLines.map((line) => ['-', line])] :
            steps(leftLines, rightLines);
        const [text, skipped] = drawSteps(list);
        const legend = `+ actual - expected${skipped ? ' ... Lines skipped' : ''}`;
        return `${head}\n${legend}\n\n${text}${isOneLine ? pointer(left, right) : ''}`;
    }

    function unequalText(actual, operator) {
        const text = shown(actual);
        const head = operator === 'notStrictEqual' && isObject(actual) ? HEADS.notStrictEqualObject : HEADS[operator];
        if (!text.includes('\n')) return `${head}${text.length > 5 ? '\n\n' : ' '}${text}`;
        return `${head}\n\n${text}\n`;
    }

    function looseText(actual, expected, operator) {
        const left = shown(actual);
        const right = shown(expected);
        if (operator === 'deepEqual') return `${HEADS.deepEqual}\n\n${left}\n\nshould loosely deep-equal\n\n${right}`;
        if (operator === 'notDeepEqual') {
            const other = left === right ? '' : `\n\nshould not loosely deep-equal\n\n${right}`;
            return `${HEADS.notDeepEqual}\n\n${left}${other}`;
        }
        return `${left} ${operator} ${right}`;
    }

    function generate(actual, expected, operator) {
        if (operator === 'deepStrictEqual' || operator === 'strictEqual') return difference(actual, expected, operator);
        if (operator === 'notDeepStrictEqual' || operator === 'notStrictEqual') return unequalText(actual, operator);
        return looseText(actual, expected, operator);
    }

    class AssertionError extends Error {
        constructor(options) {
            need('node_error').validateObject(options, 'options');
            const { message, operator, actual, expected } = options;
            const isDifference = operator === 'deepStrictEqual' || operator === 'strictEqual';
            if (message === undefined || message === null) super(generate(actual, expected, operator));
            else super(isDifference ? difference(actual, expected, operator, String(message)) : String(message));
            this.generatedMessage = message === undefined || message === null;
            Object.defineProperty(this, 'name', { value: 'AssertionError', enumerable: false, writable: true,
                configurable: true });
            this.code = 'ERR_ASSERTION';
            this.actual = actual;
            this.expected = expected;
            this.operator = operator;
        }

        toString() {
            return `${this.name} [${this.code}]: ${this.message}`;
        }
    }
    Object.defineProperty(AssertionError.prototype, IS_NODE_ERROR, { value: true, configurable: true });

    return { AssertionError, shown, difference };
})
