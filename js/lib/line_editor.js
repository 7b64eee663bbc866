// SPDX-License-Identifier: MIT
// js/lib/line_editor.js - editing a line on a terminal: keys, history, search and completion.
// host: write(fd, text), setTerminal(fd, how), windowSize(fd)
//
// The terminal is ours, raw but for the keys that mean signals, from the call of read until it is released. What is typed while nobody
// reads waits for the next line. The line is drawn anew with each change, from the prompt on, over as many rows as it
// needs; what others print meanwhile comes above it.
(function (host, need) {
    'use strict';
    const { cut } = need('readline_keys');
    const { width } = need('inspect_text');
    const { StringDecoder } = need('string_decoder');
    const { write } = host; // others may put something before it
    const HISTORY_MOST = 1000;
    const LISTED_MOST = 200; // candidates that are shown
    const ESCAPE_WAIT = 50; // milliseconds until an ESC is a key of its own, and not the first letter of one
    const PARTIAL = /^\x1b\x1b?(?:(?:\[\[?|O)[\d;]*)?$/; // eslint-disable-line no-control-regex
    const PLAIN = /^[^\p{Cc}]+/u;
    const MARKS = /^\p{M}|^[\u200d\ufe0f]/u;

    const shown = (text) => text.replace(/[\x00-\x1f\x7f]/g, // eslint-disable-line no-control-regex
        (letter) => (letter === '\t' ? ' ' : `^${String.fromCharCode(letter.charCodeAt(0) ^ 64)}`));
    const withoutColors = (text) => text.replace(/\x1b\[[\d;]*m/g, ''); // eslint-disable-line no-control-regex

    // Where the cursor is after a text: [row, column].
    function placeAfter(text, columns) {
        if (!/[^ -~]/.test(text))
            return [Math.floor(text.length / columns), text.length % columns];
        let row = 0, column = 0;
        for (const letter of text) {
            const wide = width(letter);
            if (column + wide > columns)
                [row, column] = [row + 1, 0];
            column += wide;
        }
        return column >= columns ? [row + 1, 0] : [row, column];
    }

    const actions = Object.create(null); // by the names of keys; called with the editor as this

    class LineEditor {
        #fd;
        #out;
        #complete;
        #usual; // the terminal, as it was; undefined: it is so now
        #onLine; // undefined: nobody reads
        #waiting = ''; // keys for the next line
        #timer;
        #decoder = new StringDecoder('utf8');
        #prompt = '';
        #line = '';
        #cursor = 0;
        #row = 0; // of the cursor, below the first one
        #isHidden = false; // something else is printed
        #isPasted = false;
        #cutText = ''; // what ctrl-k and others have taken
        #place = 0; // in the history; its length: the line that is being typed
        #typed = ''; // that line, while one looks at others
        #search; // { text, found }
        #hasListed = false; // the last key was a tab that found several

        // history: texts, the oldest first. complete(text before the cursor) -> [candidates, how much of it they replace].
        constructor({ input = 0, output = 1, history = [], complete }) {
            [this.#fd, this.#out, this.history, this.#complete] = [input, output, history, complete];
        }

        get isReading() {
            return this.#onLine !== undefined;
        }

        get isEmpty() {
            return this.#line === '';
        }

        // onLine(line), or onLine(undefined) when ctrl-d was pressed on an empty line.
        read(prompt, onLine) {
            this.#onLine = onLine;
            this.#prompt = prompt;
            [this.#line, this.#cursor, this.#row, this.#place, this.#typed] = ['', 0, 0, this.history.length, ''];
            this.#take();
            this.#draw();
            if (this.#waiting !== '')
                this.#press('');
        }

        // The terminal as it was, whatever happens; also when the program ends.
        release() {
            if (this.#usual === undefined)
                return;
            const usual = this.#usual;
            this.#usual = undefined;
            this.#print('\x1b[?2004l');
            try {
                host.setTerminal(this.#fd, usual);
            } catch {
                // it is gone
            }
        }

        // After the program was stopped, or the window has changed.
        resume() {
            if (!this.isReading)
                return;
            this.#usual === undefined || host.setTerminal(this.#fd, null);
            this.#draw();
        }

        // Drops the line: what is typed next is a new one, which the same reader gets.
        clear(note = '') {
            const end = placeAfter(withoutColors(this.#prompt) + shown(this.#line), this.#columns())[0];
            this.#print(`${'\n'.repeat(end - this.#row + 1)}${note}`);
            [this.#line, this.#cursor, this.#row, this.#search, this.#waiting] = ['', 0, 0, undefined, ''];
            this.#place = this.history.length;
        }

        setPrompt(prompt) {
            this.#prompt = prompt;
            if (this.isReading && !this.#isHidden)
                this.#draw();
        }

        // Room for what somebody else prints; show() draws the line again below it.
        hide() {
            if (!this.isReading || this.#isHidden)
                return false;
            this.#print(`${this.#row > 0 ? `\x1b[${this.#row}A` : ''}\r\x1b[J`);
            this.#isHidden = true;
            return true;
        }

        show() {
            if (!this.#isHidden)
                return;
            this.#isHidden = false;
            this.#row = 0;
            if (this.isReading)
                this.#draw();
        }

        feed(bytes) {
            this.#press(this.#decoder.write(bytes));
        }

        #print(text) {
            write(this.#out, text);
        }

        #columns() {
            return Math.max(host.windowSize(this.#out)?.[0] || 80, 2);
        }

        #take() {
            if (this.#usual !== undefined)
                return;
            this.#usual = host.setTerminal(this.#fd, null);
            this.#print('\x1b[?2004h');
        }

        // ---- What is seen ----

        #draw() {
            if (this.#isHidden)
                return;
            const columns = this.#columns();
            const prompt = this.#search ? `(search) '${this.#search.text}': ` : this.#prompt;
            const before = withoutColors(prompt) + shown(this.#line.slice(0, this.#cursor));
            const whole = withoutColors(prompt) + shown(this.#line);
            const [row, column] = placeAfter(before, columns);
            const [lastRow, lastColumn] = placeAfter(whole, columns);
            let text = `${this.#row > 0 ? `\x1b[${this.#row}A` : ''}\r\x1b[J${prompt}${shown(this.#line)}`;
            if (lastColumn === 0 && lastRow > 0)
                text += '\n'; // the terminal is still in the row above
            text += `${lastRow > row ? `\x1b[${lastRow - row}A` : ''}\r${column > 0 ? `\x1b[${column}C` : ''}`;
            this.#row = row;
            this.#print(text);
        }

        // ---- Keys ----

        #press(text) {
            clearTimeout(this.#timer);
            let rest = this.#waiting + text;
            this.#waiting = '';
            while (rest !== '' && this.isReading) {
                const run = rest.match(PLAIN)?.[0];
                if (run !== undefined && this.#search === undefined) {
                    this.#insert(run);
                    rest = rest.slice(run.length);
                    continue;
                }
                if (PARTIAL.test(rest) && text !== '\x1b') {
                    this.#timer = need('timers').setTimeout(() => this.#pressEscape(), ESCAPE_WAIT).unref();
                    break;
                }
                const [, key, after] = cut(rest);
                rest = after;
                this.#key(key, key.sequence);
            }
            this.#waiting = rest + this.#waiting;
            if (this.isReading)
                this.#draw();
        }

        // An ESC that nothing has followed: it ends a search, and means nothing else.
        #pressEscape() {
            this.#waiting = this.#waiting.slice(1);
            this.#search = undefined;
            this.#press('');
        }

        #key(key, sequence) {
            const hasListed = this.#hasListed;
            this.#hasListed = false;
            if (key.name === 'paste-start' || key.name === 'paste-end') {
                this.#isPasted = key.name === 'paste-start';
                return;
            }
            if (this.#search && this.#searchKey(key, sequence))
                return;
            const name = `${key.ctrl ? 'ctrl-' : ''}${key.meta ? 'meta-' : ''}${key.name}`;
            if (name === 'tab' && !key.shift)
                this.#isPasted || this.#complete === undefined ? this.#insert('\t') : this.#tab(hasListed);
            else if (name in actions)
                actions[name].call(this);
        }

        #insert(text) {
            this.#line = this.#line.slice(0, this.#cursor) + text + this.#line.slice(this.#cursor);
            this.#cursor += text.length;
            this.#hasListed = false;
        }

        // One letter, with what is combined with it.
        #left(at = this.#cursor) {
            do {
                at -= at > 1 && this.#line.codePointAt(at - 2) > 0xffff ? 2 : 1;
            } while (at > 0 && MARKS.test(this.#line.slice(at)));
            return Math.max(at, 0);
        }

        #right(at = this.#cursor) {
            if (at >= this.#line.length)
                return at;
            do {
                at += this.#line.codePointAt(at) > 0xffff ? 2 : 1;
            } while (at < this.#line.length && MARKS.test(this.#line.slice(at)));
            return at;
        }

        #wordLeft() {
            return this.#line.slice(0, this.#cursor).replace(/[\p{L}\p{N}_$]+[^\p{L}\p{N}_$]*$|[^\p{L}\p{N}_$]+$/u, '').length;
        }

        #wordRight() {
            return this.#cursor + this.#line.slice(this.#cursor).match(/^[^\p{L}\p{N}_$]*[\p{L}\p{N}_$]*/u)[0].length;
        }

        #erase(from, to, keeps) {
            if (keeps)
                this.#cutText = this.#line.slice(from, to);
            this.#line = this.#line.slice(0, from) + this.#line.slice(to);
            this.#cursor = from;
        }

        #go(place) {
            if (place < 0 || place > this.history.length)
                return;
            if (this.#place === this.history.length)
                this.#typed = this.#line;
            this.#place = place;
            this.#line = place === this.history.length ? this.#typed : this.history[place];
            this.#cursor = this.#line.length;
        }

        #enter() {
            const line = this.#line;
            this.#cursor = line.length;
            this.#search = undefined;
            this.#draw();
            this.#end(line);
        }

        #end(line) {
            const onLine = this.#onLine;
            this.#print('\n');
            this.#onLine = undefined;
            onLine(line);
        }

        // A line that is worth looking at again. Whether it is new.
        remember(line) {
            if (line.trim() === '' || line === this.history.at(-1))
                return false;
            this.history.push(line);
            if (this.history.length > HISTORY_MOST)
                this.history.shift();
            return true;
        }

        // ---- Search: ctrl-r, and what one types ----

        #searchKey(key, sequence) {
            if (key.ctrl && key.name === 'r') {
                this.#find(this.#search.found - 1);
            } else if (key.name === 'backspace' && !key.meta) {
                this.#search.text = this.#search.text.slice(0, -1);
                this.#find(this.history.length - 1);
            } else if (key.ctrl && key.name === 'g') {
                this.#search = undefined;
                this.#go(this.history.length);
            } else if (PLAIN.test(sequence) && !key.ctrl && !key.meta) {
                this.#search.text += sequence;
                this.#find(this.#search.found);
            } else {
                this.#search = undefined;
                return key.name === 'escape';
            }
            return true;
        }

        #find(from) {
            const { text } = this.#search;
            const found = text === '' ? -1 : this.history.findLastIndex((line, i) => i <= from && line.includes(text));
            if (found < 0)
                return;
            this.#search.found = found;
            this.#go(found);
            this.#cursor = this.#line.indexOf(this.#search.text);
        }

        // ---- Completion ----

        #tab(hasListed) {
            const [candidates, length] = this.#complete(this.#line.slice(0, this.#cursor));
            if (candidates.length === 0)
                return;
            let common = candidates[0];
            for (const candidate of candidates)
                while (!candidate.startsWith(common))
                    common = common.slice(0, -1);
            if (common.length > length)
                this.#insert(common.slice(length));
            else if (candidates.length > 1 && hasListed)
                this.#list(candidates);
            this.#hasListed = candidates.length > 1;
        }

        #list(candidates) {
            const texts = candidates.slice(0, LISTED_MOST);
            const wide = Math.max(...texts.map(width)) + 2;
            const inRow = Math.max(Math.floor(this.#columns() / wide), 1);
            let text = '';
            for (let i = 0; i < texts.length; i += inRow)
                text += `${texts.slice(i, i + inRow).map((one) => one + ' '.repeat(wide - width(one))).join('').trimEnd()}\n`;
            if (candidates.length > texts.length)
                text += `... and ${candidates.length - texts.length} more\n`;
            this.hide();
            this.#print(text);
            this.show();
        }

        static {
            const on = (names, action) => names.forEach((name) => { actions[name] = action; });
            on(['return', 'enter'], function () { this.#enter(); });
            on(['home', 'ctrl-a'], function () { this.#cursor = 0; });
            on(['end', 'ctrl-e'], function () { this.#cursor = this.#line.length; });
            on(['left', 'ctrl-b'], function () { this.#cursor = this.#left(); });
            on(['right', 'ctrl-f'], function () { this.#cursor = this.#right(); });
            on(['ctrl-left', 'meta-b', 'meta-left'], function () { this.#cursor = this.#wordLeft(); });
            on(['ctrl-right', 'meta-f', 'meta-right'], function () { this.#cursor = this.#wordRight(); });
            on(['up', 'ctrl-p'], function () { this.#go(this.#place - 1); });
            on(['down', 'ctrl-n'], function () { this.#go(this.#place + 1); });
            on(['backspace', 'ctrl-h'], function () { this.#erase(this.#left(), this.#cursor); });
            on(['delete'], function () { this.#erase(this.#cursor, this.#right()); });
            on(['ctrl-k'], function () { this.#erase(this.#cursor, this.#line.length, true); });
            on(['ctrl-u'], function () { this.#erase(0, this.#cursor, true); });
            on(['ctrl-w', 'meta-backspace'], function () { this.#erase(this.#wordLeft(), this.#cursor, true); });
            on(['meta-d'], function () { this.#erase(this.#cursor, this.#wordRight(), true); });
            on(['ctrl-y'], function () { this.#insert(this.#cutText); });
            on(['ctrl-l'], function () {
                this.#print('\x1b[H\x1b[2J');
                this.#row = 0;
            });
            on(['ctrl-r'], function () { this.#search = { text: '', found: this.history.length - 1 }; });
            on(['ctrl-d'], function () {
                if (this.#line === '')
                    this.#end(undefined);
                else
                    this.#erase(this.#cursor, this.#right());
            });
            on(['ctrl-t'], function () {
                const from = this.#left(this.#cursor === this.#line.length ? this.#left() : this.#cursor);
                const middle = this.#right(from), end = this.#right(middle);
                this.#line = this.#line.slice(0, from) + this.#line.slice(middle, end) + this.#line.slice(from, middle)
                    + this.#line.slice(end);
                this.#cursor = end;
            });
        }
    }

    return { LineEditor, HISTORY_MOST };
})
