// SPDX-License-Identifier: MIT
// js/lib/strip_reader.js - the text of a TypeScript file as its parser sees it: one token at a time, with ways back; and what is
// taken away from it.
//
// What is erased becomes blanks, as many as the bytes that it had in UTF-8: lines and columns of the engine stay those of the file. A
// mark may stand in the first or the last place of what is erased: a semicolon, or a bracket that must not be in another line.
(function (host, need) {
    'use strict';
    const { scanner } = need('script_scan');
    const BACK = Symbol('the attempt has failed');
    const encoder = new TextEncoder();

    class Reader {
        #scan;
        #ahead; // the token after this one, if somebody has looked at it
        #attempts = 0;
        #edits = []; // [start, end, mark in the first place, mark in the last place]

        constructor(text, name) {
            this.text = text;
            this.name = name;
            this.#scan = scanner(text);
            this.last = undefined; // the token before
            this.token = undefined;
            this.isConstraint = false; // of a type: it is what another one extends
            this.isAmbient = false; // what is read is only declared
            this.next();
        }

        // ---- Tokens ----

        next() {
            this.last = this.token;
            if (this.#ahead === undefined) {
                this.token = this.#scan.next(false);
            } else {
                this.token = this.#ahead;
                this.#ahead = undefined;
                this.#scan.seek(this.token.end);
            }
            if (this.token.type === 'open')
                this.unexpected();
            return this.last;
        }

        // The present token, read once more: as a regular expression, as the rest of a template, or as the first letter of it alone.
        rescanRegex() {
            this.#ahead = undefined;
            this.#scan.seek(this.token.start);
            this.token = { ...this.#scan.next(true), newline: this.token.newline };
        }

        rescanTemplate() {
            this.#ahead = undefined;
            this.#scan.seek(this.token.end);
            this.token = this.#scan.template(this.token.start);
            if (this.token.type === 'open')
                this.unexpected();
        }

        splitMark() {
            const { start, newline } = this.token;
            this.#ahead = undefined;
            this.#scan.seek(start + 1);
            this.token = { type: 'mark', value: this.text[start], start, end: start + 1, newline };
        }

        is(value) {
            return this.token.value === value && this.token.type === 'mark';
        }

        isName(value) {
            return this.token.type === 'name' && (value === undefined || this.token.value === value);
        }

        eat(value) {
            return this.is(value) ? this.next() : undefined;
        }

        eatName(value) {
            return this.isName(value) ? this.next() : undefined;
        }

        expect(value) {
            return this.eat(value) ?? this.unexpected();
        }

        expectName() {
            return this.token.type === 'name' ? this.next() : this.unexpected();
        }

        // The token after this one.
        peek() {
            if (this.#ahead === undefined) {
                const place = this.#scan.tell();
                this.#ahead = this.#scan.next(false);
                this.#scan.seek(place);
            }
            return this.#ahead;
        }

        // ---- Attempts ----

        // What it returns; undefined, and everything is as before, when it meets something unexpected or returns nothing. onlyLooks:
        // everything is as before in any case.
        attempt(parse, onlyLooks = false) {
            const before = [this.#scan.tell(), this.token, this.last, this.#edits.length, this.isConstraint];
            this.#attempts++;
            let found;
            try {
                found = parse();
                if (found !== undefined && !onlyLooks)
                    return found;
            } catch (error) {
                if (error !== BACK)
                    throw error;
            } finally {
                this.#attempts--;
            }
            this.#ahead = undefined;
            this.#scan.seek(before[0]);
            [this.token, this.last, this.#edits.length, this.isConstraint] = before.slice(1);
            return found;
        }

        unexpected() {
            if (this.#attempts > 0)
                throw BACK;
            const { type, value, start } = this.token;
            if (type === 'open')
                throw this.error(`Unterminated ${value === 'regex' ? 'regular expression' : value}`, start);
            const text = this.text.slice(start, this.token.end);
            throw this.error(type === 'end' ? 'Unexpected end of input' : `Unexpected token '${text}'`, start);
        }

        // What cannot be erased, since it is more than a type. In an attempt it may be something else.
        unsupported(what, start = this.token.start) {
            if (this.#attempts > 0)
                throw BACK;
            const error = this.error(`TypeScript ${what} is not supported: only types can be taken away`, start);
            throw Object.assign(error, { code: 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX' });
        }

        error(message, start) {
            const lines = this.text.slice(0, start).split(/\r\n|[\n\r\u2028\u2029]/);
            const column = encoder.encode(lines.at(-1)).length + 1;
            const error = new SyntaxError(message);
            Object.defineProperty(error, 'stack', {
                value: `    at ${this.name}:${lines.length}:${column}`, writable: true, configurable: true,
            });
            return error;
        }

        // ---- What is taken away ----

        erase(start, end, first = '', last = '') {
            if (end > start)
                this.#edits.push([start, end, first, last]);
        }

        // From there up to the last token.
        eraseFrom(start, first, last) {
            this.erase(start, this.last.end, first, last);
        }

        // A statement: what comes next must not go on with what was before.
        eraseStatement(start, before) {
            const isAfter = before === undefined || before.value === ';' || before.value === '{';
            this.eraseFrom(start, isAfter ? '' : ';');
        }

        // The type that ends the last expression gets a semicolon, where the next line would otherwise go on with it.
        endWithMark() {
            const edit = this.#edits.at(-1);
            if (edit !== undefined && edit[1] === this.last.end && edit[2] === '')
                edit[2] = ';';
        }

        hasLineEnd(start, end) {
            return /[\n\r\u2028\u2029]/.test(this.text.slice(start, end));
        }

        result() {
            let result = '', at = 0;
            const edits = this.#edits.sort((a, b) => a[0] - b[0] || b[1] - a[1]);
            for (const [start, end, first, last] of edits) {
                if (start < at)
                    continue; // inside of another one
                const erased = this.text.slice(start, end);
                result += this.text.slice(at, start) + first + blank(erased.slice(first.length, erased.length - last.length)) + last;
                at = end;
            }
            return result + this.text.slice(at);
        }
    }

    function blank(text) {
        if (/^[ -~\n]*$/.test(text))
            return text.replace(/[^\n]/g, ' ');
        let result = '';
        for (const letter of text) {
            const code = letter.codePointAt(0);
            result += /[\n\r\u2028\u2029]/.test(letter) ? letter
                : ' '.repeat(code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4);
        }
        return result;
    }

    return { Reader };
})
