// SPDX-License-Identifier: MIT
// js/lib/strip_class.js - classes of TypeScript: modifiers, members that are only declared, and their types, which are erased.
(function (host, need) {
    'use strict';
    const { type, typeArguments, skipBrackets } = need('strip_type');
    const {
        assignment, optionalType, optionalTypeParameters, functionRest, propertyName, decorators, postfix, isModifier,
    } = need('strip_expression');
    const ERASED = new Set(['public', 'private', 'protected', 'readonly', 'override', 'abstract', 'declare']);
    const KEPT = new Set(['static', 'async', 'get', 'set', 'accessor']);

    // Behind the word class.
    function classRest(p) {
        if (p.isName() && !p.isName('extends') && !(p.isName('implements') && p.peek().value !== '{' && p.peek().value !== '<'))
            p.next();
        optionalTypeParameters(p);
        if (p.eatName('extends')) {
            postfix(p);
            if (p.is('<')) {
                const { start } = p.token;
                typeArguments(p);
                p.eraseFrom(start);
            }
        }
        if (p.isName('implements')) {
            const { start } = p.next();
            do {
                type(p);
            } while (p.eat(','));
            p.eraseFrom(start);
        }
        p.expect('{');
        while (!p.is('}'))
            if (!p.eat(';'))
                member(p);
        p.expect('}');
    }

    function member(p) {
        const before = p.last;
        const { start } = p.token;
        decorators(p);
        if (p.isName('static') && p.peek().value === '{') {
            p.next();
            need('strip_types').block(p);
            return;
        }
        const { isDeclared, erased } = modifiers(p);
        if (p.is('[') && isIndex(p)) {
            skipBrackets(p);
            optionalType(p);
            end(p);
            p.eraseStatement(start, before);
            return;
        }
        for (const [i, word] of erased.entries()) // the next line must not go on with the last
            p.erase(word.start, word.end, i === 0 && word.start === start && (p.is('[') || p.is('*')) ? ';' : '');
        p.eat('*');
        const name = p.token;
        propertyName(p);
        const mark = p.token;
        const isSign = p.eat('?') ?? p.eat('!');
        if (isSign)
            p.erase(mark.start, mark.end);
        const isMethod = p.is('(') || p.is('<');
        const hasBody = isMethod ? functionRest(p) : field(p, name);
        if (!hasBody)
            end(p);
        if (isDeclared || (isMethod && !hasBody))
            p.eraseStatement(start, before);
    }

    // Those that are erased; and whether the member is only declared. What could be a modifier may be the name itself.
    function modifiers(p) {
        const erased = [];
        let isDeclared = false;
        while (p.token.type === 'name' && (ERASED.has(p.token.value) || KEPT.has(p.token.value))) {
            const after = p.peek();
            if (!isModifier(after) || (after.newline && p.token.value !== 'static'))
                break;
            const word = p.next();
            if (!ERASED.has(word.value))
                continue;
            erased.push(word);
            isDeclared ||= word.value === 'abstract' || word.value === 'declare';
        }
        return { isDeclared, erased };
    }

    // [key: string]: T
    function isIndex(p) {
        return p.attempt(() => {
            p.next();
            p.expectName();
            return p.is(':') ? true : undefined;
        }, true) !== undefined;
    }

    // A field that has lost its type must not become a modifier of the next one.
    function field(p, name) {
        if (p.is(':')) {
            const { start } = p.next();
            type(p);
            p.eraseFrom(start, KEPT.has(name.value) && !p.is('=') ? ';' : '');
        }
        if (p.eat('='))
            assignment(p);
        return false;
    }

    function end(p) {
        need('strip_types').semicolon(p);
    }

    return { classRest };
})
