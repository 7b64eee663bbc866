// SPDX-License-Identifier: MIT
// js/lib/repl_text.js - what somebody has typed becomes a text that the engine runs in its global scope.
// host: replCheck(text, name, isAsync)
//
// Declarations must outlive their line, and may come again: 'const', 'let' and 'class' at the top become 'var'. Imports become
// modules of their own, which hand what they import to the global object: so the engine itself says what is wrong with them. What is
// not understood because it ends too early is not wrong yet.
(function (host, need) {
    'use strict';
    const { tokensOf, endsValue } = need('script_scan');
    let moduleCount = 0;

    const isMark = (token, value) => token?.type === 'mark' && token.value === value;
    const isName = (token, value) => token?.type === 'name' && (value === undefined || token.value === value);
    const isMember = (before) => isMark(before, '.') || isMark(before, '?.');

    // Whether a statement begins with this token, as far as one can see: something has ended before it.
    function beginsStatement(list, i) {
        const before = list[i - 1];
        return before === undefined || isMark(before, ';') || isMark(before, '}') || (list[i].newline && endsValue(before));
    }

    // The place of the bracket that closes the one at i.
    function closing(list, i) {
        for (let k = i + 1; k < list.length; k++)
            if (list[k].depth === list[i].depth && list[k].type === 'mark' && ')]}'.includes(list[k].value))
                return k;
        return list.length - 1;
    }

    // Behind the value that a declaration gives: at a comma, a semicolon, or where the next statement begins.
    function skipValue(list, i) {
        const { depth } = list[i];
        for (i++; i < list.length; i++) {
            if (list[i].depth > depth)
                continue;
            if (isMark(list[i], ',') || isMark(list[i], ';'))
                return i;
            if (list[i].newline && endsValue(list[i - 1]) && (list[i].type === 'name' || list[i].type === 'number')
                && !isName(list[i], 'in') && !isName(list[i], 'instanceof'))
                return i;
        }
        return i;
    }

    // let a, b = 1: those without a value are undefined again.
    function declare(list, i, edits) {
        edits.push({ start: list[i].start, end: list[i].end, put: 'var'.padEnd(list[i].value.length) });
        for (i++; i < list.length; i++) {
            const isPattern = isMark(list[i], '[') || isMark(list[i], '{');
            const last = isPattern ? closing(list, i) : i;
            const after = list[last + 1];
            if (isMark(after, '=')) {
                i = skipValue(list, last + 1);
            } else {
                const { end } = list[last];
                edits.push({ start: end, end, put: ` = undefined${isMark(after, ',') ? '' : ';'}` });
                i = last + 1;
            }
            if (!isMark(list[i], ','))
                return;
        }
    }

    // class A {}: a value, so that the next line is no call of it.
    function declareClass(list, i, edits) {
        const { depth, start } = list[i];
        let body = i + 2;
        while (body < list.length && !(isMark(list[body], '{') && list[body].depth === depth && !isName(list[body - 1], 'extends')))
            body++;
        const last = list[Math.min(closing(list, body < list.length ? body : i), list.length - 1)];
        edits.push({ start, end: start, put: `var ${list[i + 1].value} = ` }, { start: last.end, end: last.end, put: ';' });
    }

    // ---- Imports ----

    // import a, { b as c } from 'x' with { ... }: [the last token of it, the names that it declares]; undefined: it is none.
    function readImport(list, i) {
        const names = [];
        for (let k = i + 1; k < list.length; k++) {
            const token = list[k];
            if (token.type === 'string') {
                if (isName(list[k - 1], 'as') || isName(list[k + 1], 'as'))
                    continue;
                if (isName(list[k + 1], 'with') && isMark(list[k + 2], '{'))
                    k = closing(list, k + 2);
                return [k, names];
            }
            const isBound = isName(token) && !isName(list[k + 1], 'as') && !(isName(token, 'from') && list[k + 1]?.type === 'string');
            if (isBound && token.value !== 'as')
                names.push(token.value);
            else if (!isName(token) && !(token.type === 'mark' && '{},*'.includes(token.value)))
                return undefined;
        }
        return undefined;
    }

    function takeImport(text, list, i, edits) {
        const found = readImport(list, i);
        if (found === undefined)
            return false;
        const [last, names] = found;
        const name = `repl:import-${++moduleCount}`;
        const given = names.map((one) => `globalThis.${one} = ${one};`).join(' ');
        const { start } = list[i], { end } = list[last];
        need('module').giveText(name, `${text.slice(start, end)}; ${given}`);
        const lines = text.slice(start, end).replace(/[^\n]/g, '');
        edits.push({ start, end, put: `void await import('${name}')${isMark(list[last + 1], ';') ? '' : ';'}${lines}` });
        return true;
    }

    // ---- The whole ----

    function apply(text, edits) {
        let result = '', at = 0;
        for (const { start, end, put } of edits.sort((a, b) => a.start - b.start)) {
            result += text.slice(at, start) + put;
            at = end;
        }
        return result + text.slice(at);
    }

    // The text without imports; whether there was one.
    function withoutImports(text) {
        const { list } = tokensOf(text);
        const edits = [];
        let has = false;
        for (let i = 0; i < list.length; i++) {
            if (list[i].depth === 0 && isName(list[i], 'import') && beginsStatement(list, i) && !isMark(list[i + 1], '(')
                && !isMark(list[i + 1], '.'))
                has = takeImport(text, list, i, edits) || has;
        }
        return [apply(text, edits), has];
    }

    function withVariables(text) {
        const { list } = tokensOf(text);
        const edits = [];
        for (let i = 0; i < list.length; i++) {
            const token = list[i], after = list[i + 1];
            if (token.depth > 0 || token.type !== 'name' || isMember(list[i - 1]) || isMark(after, ':'))
                continue;
            if (token.value === 'const' || (token.value === 'let' && (isMark(after, '[') || isMark(after, '{')
                || (isName(after) && !isName(after, 'in') && !isName(after, 'instanceof')))))
                declare(list, i, edits);
            else if (token.value === 'class' && isName(after) && after.value !== 'extends' && beginsStatement(list, i))
                declareClass(list, i, edits);
        }
        return apply(text, edits);
    }

    // Whether the error is that the text ends; it is named by lines and columns of bytes.
    function isTooEarly(error, text, name, open) {
        if (open === 'template' || open === 'comment')
            return true;
        if (open === 'string')
            return /\\\n?$/.test(text);
        if (!(error instanceof SyntaxError))
            return false;
        const [, line, column] = String(error.stack).match(new RegExp(`${name}:(\\d+):(\\d+)`)) ?? [];
        const { list } = tokensOf(text);
        const last = list.at(-1);
        if (line === undefined || last === undefined)
            return false;
        const lines = text.slice(0, last.end).split('\n');
        const end = new TextEncoder().encode(lines.at(-1)).length;
        return Number(line) > lines.length || (Number(line) === lines.length && Number(column) > end);
    }

    // undefined, or what is wrong: an error, or null if something is still to come.
    function failure(text, name, isAsync) {
        try {
            host.replCheck(text, name, isAsync);
            return undefined;
        } catch (error) {
            return isTooEarly(error, text, name, tokensOf(text).open) ? null : error;
        }
    }

    // What it is in the engine's eyes: [failure, isAsync].
    function examine(text, name, mustBeAsync) {
        const mayAwait = mustBeAsync || /\bawait\b/.test(text);
        const found = mayAwait ? failure(text, name, true) : undefined;
        if (mayAwait && (found === undefined || found === null || mustBeAsync))
            return [found, true];
        const plain = failure(text, name, false);
        return plain === undefined || found === undefined ? [plain, false] : [found, true];
    }

    // { code, isAsync }, { error }, or {} when it is not ended.
    function prepare(typed, name) {
        const [text, hasImport] = withoutImports(typed);
        const isObject = /^\s*\{/.test(text) && !/;\s*$/.test(text);
        if (isObject) { // rather a value than a block
            const [found, isAsync] = examine(`(${text}\n)`, name, hasImport);
            if (found === undefined)
                return { code: `(${text}\n)`, isAsync };
        }
        const [found, isAsync] = examine(text, name, hasImport);
        if (found === undefined)
            return { code: withVariables(text), isAsync };
        if (found === null || (isObject && examine(`(${text}`, name, hasImport)[0] === null))
            return {};
        return { error: found };
    }

    return { prepare };
})
