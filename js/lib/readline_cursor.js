// SPDX-License-Identifier: MIT
// js/lib/readline_cursor.js - moving about on a terminal: what node:readline and node:tty write for it.
// host: nextTick(fn)
(function (host, need) {
    'use strict';
    const { nodeError, invalidArgValue, validateFunction } = need('node_error');

    function send(stream, text, callback) {
        if (callback !== undefined)
            validateFunction(callback, 'callback');
        if (stream === null || stream === undefined || text === '') {
            if (typeof callback === 'function')
                host.nextTick(() => callback(null));
            return true;
        }
        return stream.write(text, callback);
    }

    function cursorTo(stream, x, y, callback) {
        if (typeof y === 'function')
            [y, callback] = [undefined, y];
        for (const [value, name] of [[x, 'x'], [y, 'y']])
            if (Number.isNaN(value))
                throw invalidArgValue(name, value);
        if (typeof x !== 'number' && typeof y !== 'number')
            return send(stream, '', callback);
        if (typeof x !== 'number')
            throw nodeError(TypeError, 'ERR_INVALID_CURSOR_POS', 'Cannot set cursor row without setting its column');
        return send(stream, typeof y === 'number' ? `\x1b[${y + 1};${x + 1}H` : `\x1b[${x + 1}G`, callback);
    }

    function moveCursor(stream, dx, dy, callback) {
        const part = (count, back, forth) => (count < 0 ? `\x1b[${-count}${back}` : count > 0 ? `\x1b[${count}${forth}` : '');
        return send(stream, part(dx, 'D', 'C') + part(dy, 'A', 'B'), callback);
    }

    function clearLine(stream, direction, callback) {
        return send(stream, direction < 0 ? '\x1b[1K' : direction > 0 ? '\x1b[0K' : '\x1b[2K', callback);
    }

    const clearScreenDown = (stream, callback) => send(stream, '\x1b[0J', callback);

    return { cursorTo, moveCursor, clearLine, clearScreenDown };
})
