// SPDX-License-Identifier: MIT
// js/lib/path_glob.js - path.matchesGlob: whether a path fits a pattern with *, **, ?, [...] and {a,b}.
// host: nothing.
(function () {
    'use strict';

    // All the patterns that a pattern with braces stands for.
    function expandBraces(pattern) {
        let depth = 0;
        let open = -1;
        const commas = [];
        for (let i = 0; i < pattern.length; i++) {
            const char = pattern[i];
            if (char === '{') {
                if (depth++ === 0) open = i;
            } else if (char === ',' && depth === 1) {
                commas.push(i);
            } else if (char === '}' && depth > 0 && --depth === 0) {
                if (commas.length === 0) continue;
                const edges = [open, ...commas, i];
                const rest = expandBraces(pattern.slice(i + 1));
                const middle = edges.slice(1).flatMap((edge, k) => expandBraces(pattern.slice(edges[k] + 1, edge)));
                return middle.flatMap((part) => rest.map((tail) => pattern.slice(0, open) + part + tail));
            }
        }
        return [pattern];
    }

    function escape(char) {
        return char.replace(/[\\^$.*+?()[\]{}|/-]/, '\\$&');
    }

    // A set like [a-z] or [!x]; undefined if the bracket is not closed.
    function bracket(part, at) {
        let end = at + 1;
        if (part[end] === '!' || part[end] === '^') end++;
        if (part[end] === ']') end++;
        end = part.indexOf(']', end);
        if (end < 0) return undefined;
        const isNot = part[at + 1] === '!' || part[at + 1] === '^';
        const body = part.slice(at + (isNot ? 2 : 1), end).replace(/[\\\]^[]/g, '\\$&');
        return ['[' + (isNot ? '^' : '') + body + ']', end];
    }

    function partPattern(part) {
        let source = '';
        for (let i = 0; i < part.length; i++) {
            const char = part[i];
            const set = char === '[' ? bracket(part, i) : undefined;
            if (char === '*') source += '[^/]*';
            else if (char === '?') source += '[^/]';
            else if (set !== undefined) [source, i] = [source + set[0], set[1]];
            else source += escape(char);
        }
        // Wildcards in front do not take a name that begins with a dot.
        const isWild = /^[*?[]/.test(part);
        return new RegExp('^' + (isWild ? '(?!\\.)' : '') + (part === '*' ? '[^/]+' : source) + '$', 'u');
    }

    function matchParts(parts, patterns) {
        if (patterns.length === 0) return parts.length === 0;
        if (patterns[0] === '**') {
            // At the end it stands for at least one part.
            for (let i = patterns.length === 1 ? 1 : 0; i <= parts.length; i++) {
                if (matchParts(parts.slice(i), patterns.slice(1))) return true;
                if (i < parts.length && parts[i].startsWith('.')) break;
            }
            return false;
        }
        return parts.length > 0 && partPattern(patterns[0]).test(parts[0]) && matchParts(parts.slice(1), patterns.slice(1));
    }

    function matches(path, pattern) {
        // As in Node, a backslash separates parts; it escapes nothing.
        const parts = path.split('/');
        return expandBraces(pattern.replace(/[\\/]+/g, '/')).some((one) => matchParts(parts, one.split('/')));
    }

    return { matches };
})
