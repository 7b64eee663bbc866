// SPDX-License-Identifier: MIT
// js/lib/readline_keys.js - 'keypress' events out of what a terminal sends when it is raw.
(function (host, need) {
    'use strict';
    const { StringDecoder } = need('string_decoder');
    const watched = new WeakSet();
    // By what follows ESC [ or ESC O, without modifiers.
    const codes = {
        A: 'up', B: 'down', C: 'right', D: 'left', E: 'clear', F: 'end', H: 'home', P: 'f1', Q: 'f2', R: 'f3', S: 'f4', Z: 'tab',
        '1~': 'home', '2~': 'insert', '3~': 'delete', '4~': 'end', '5~': 'pageup', '6~': 'pagedown', '7~': 'home', '8~': 'end',
        '11~': 'f1', '12~': 'f2', '13~': 'f3', '14~': 'f4', '15~': 'f5', '17~': 'f6', '18~': 'f7', '19~': 'f8', '20~': 'f9',
        '21~': 'f10', '23~': 'f11', '24~': 'f12', '200~': 'paste-start', '201~': 'paste-end',
    };
    const plain = { '\r': 'return', '\n': 'enter', '\t': 'tab', '\b': 'backspace', '\x7f': 'backspace', '\x1b': 'escape',
        ' ': 'space' };
    // ESC, maybe twice; [ or O; numbers; a letter or ~
    const SEQUENCE = /^\x1b(\x1b?)(?:\[\[?|O)(\d*)(?:;(\d+))?([A-Za-z~^$])/; // eslint-disable-line no-control-regex

    function keyOf(sequence, isMeta) {
        const key = { sequence, name: undefined, ctrl: false, meta: isMeta, shift: false };
        const character = sequence.at(-1);
        if (Object.hasOwn(plain, character)) {
            key.name = plain[character];
        } else if (character < ' ') {
            key.name = String.fromCharCode(character.charCodeAt(0) + 0x60);
            key.ctrl = true;
        } else if (/^[0-9A-Za-z]$/.test(character)) {
            key.name = character.toLowerCase();
            key.shift = /^[A-Z]$/.test(character);
        }
        return key;
    }

    function keyOfSequence([sequence, escape, first, modifier, last]) {
        const isTilde = last === '~' || last === '^' || last === '$';
        const bits = Number(modifier ?? (isTilde ? 1 : first || 1)) - 1;
        const code = isTilde ? `${first}~` : last;
        return {
            sequence, name: codes[code] ?? 'undefined', ctrl: !!(bits & 4) || last === '^', meta: !!(bits & 10) || escape !== '',
            shift: !!(bits & 1) || last === '$' || last === 'Z',
            code: sequence.slice(escape === '' ? 1 : 2).replace(/\d*;\d+/, isTilde ? first : ''),
        };
    }

    // The first key of a text, and what is left.
    function cut(text) {
        const found = SEQUENCE.exec(text);
        if (found)
            return [undefined, keyOfSequence(found), text.slice(found[0].length)];
        if (text[0] === '\x1b' && text.length > 1) {
            const size = text.codePointAt(1) > 0xffff ? 3 : 2;
            return [undefined, keyOf(text.slice(0, size), true), text.slice(size)];
        }
        const size = text.codePointAt(0) > 0xffff ? 2 : 1;
        return [text.slice(0, size), keyOf(text.slice(0, size), false), text.slice(size)];
    }

    function emitKeypressEvents(stream) {
        if (watched.has(stream))
            return;
        watched.add(stream);
        const decoder = new StringDecoder('utf8');
        const onData = (data) => {
            for (let text = decoder.write(data); text !== '';) {
                const [typed, key, rest] = cut(text);
                text = rest;
                stream.emit('keypress', typed, key);
            }
        };
        const begin = () => stream.on('data', onData);
        if (stream.listenerCount('keypress') > 0) {
            begin();
            return;
        }
        const wait = (name) => {
            if (name !== 'keypress')
                return;
            begin();
            stream.removeListener('newListener', wait);
        };
        stream.on('newListener', wait);
    }

    return { emitKeypressEvents, cut };
})
