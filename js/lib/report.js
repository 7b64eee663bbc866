// SPDX-License-Identifier: MIT
// js/lib/report.js - the last words about an error: where it happened, with the line, and what it is.
// host: isTTY(fd), write(fd, text), typeTag(value), plainError(error)
(function (host, need) {
    'use strict';
    const WIDTH = 160; // of a line that is shown; longer ones are cut around the place

    // The first place in a stack that has a text: [name, line, column].
    function placeIn(stack) {
        for (const [, name, line, column] of stack.matchAll(/^ +at (?:.* \()?(.+?):(\d+):(\d+)\)?$/gm))
            if (!name.startsWith('weft:internal/'))
                return [name, Number(line), Number(column)];
        return undefined;
    }

    // The first word in a module that asks for a name which is not there: stacks know the module only.
    function placeOfImport(message, stack) {
        const [, wanted] = message.match(/does not provide an export named '(.*)'$/s) ?? [];
        const [, name] = stack.match(/^ +at (file:.*)$/m) ?? [];
        const lines = wanted && name ? need('module').sourceOf(name)?.split('\n') ?? [] : [];
        const isIn = (line) => line.match(/[\w$]+/g)?.includes(wanted);
        const at = lines.findIndex(isIn);
        return at < 0 ? undefined : [name, at + 1, lines[at].indexOf(wanted) + 1];
    }

    // The engine counts the bytes of UTF-8; we count what is shown.
    function columnOf(line, bytes) {
        let column = 0;
        for (const letter of line) {
            if (bytes <= 1)
                break;
            const code = letter.codePointAt(0);
            bytes -= code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
            column += letter.length;
        }
        return column;
    }

    // "file:line", the line and a mark below the place; empty when there is no text.
    function excerpt(stack, message) {
        const place = typeof stack === 'string' ? placeIn(stack) ?? placeOfImport(message, stack) : undefined;
        const text = place && need('module').sourceOf(place[0])?.split(/\r\n|[\n\r\u2028\u2029]/)[place[1] - 1];
        if (text === undefined)
            return '';
        let line = text;
        let column = columnOf(text, place[2]);
        const before = line.slice(0, column).match(/\bthrow\s+$/);
        if (before)
            column = before.index; // what is thrown is less of interest than who throws
        if (line.length > WIDTH) {
            const from = Math.max(0, Math.min(column - WIDTH / 2, line.length - WIDTH));
            line = line.slice(from, from + WIDTH);
            column -= from;
        }
        return `${place[0]}:${place[1]}\n${line}\n${line.slice(0, column).replace(/[^\t]/g, ' ')}^\n`;
    }

    // What can be said about a value that throws when one looks at it.
    function plain(value, failure) {
        const why = host.plainError(failure)?.split('\n')[0] ?? 'something';
        return host.plainError(value) ?? `[a value that cannot be shown: ${why} is thrown when one looks at it]`;
    }

    // Of an error, or of another value that was thrown; stack: where, if that is known.
    function report(error, stack) {
        const isError = host.typeTag(error) === 'Error';
        let text, where = '';
        try {
            text = need('inspect').inspect(error, { colors: host.isTTY(2) && !process.env.NO_COLOR });
        } catch (failure) {
            text = plain(error, failure);
        }
        try {
            where = isError ? excerpt(error.stack, `${error.message}`) : excerpt(stack, '');
        } catch {
            where = isError ? excerpt(host.plainError(error), '') : '';
        }
        if (isError)
            return where === '' ? text : `${where}\n${text}`;
        return where === '' ? `Uncaught:\n${text}` : `${where}${text}`;
    }

    // A main module that waits for what never comes. Whoever has started an instance is told by its result.
    function unsettled() {
        if (host.lastWords)
            return;
        host.write(2, `Warning: Detected unsettled top-level await at ${host.mainURL}\n`);
    }

    return { report, unsettled };
})
