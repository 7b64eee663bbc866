// SPDX-License-Identifier: MIT
// js/lib/strip_type.js - where a type of TypeScript ends. Nothing is erased here: whoever asks erases the whole.
(function () {
    'use strict';
    const OPERATORS = new Set(['keyof', 'unique', 'readonly', 'infer']);
    const CLOSING = new Set([')', ']', '}']);

    // Whether a type can begin with this token.
    function beginsType({ type, value }) {
        if (type !== 'mark')
            return type !== 'end' && type !== 'private' && type !== 'regex';
        return value === '(' || value === '[' || value === '{' || value === '<' || value === '-' || value === '<<';
    }

    // Past a pair of brackets, whatever is in it.
    function skipBrackets(p) {
        let depth = 0;
        do {
            if (p.token.type === 'template')
                skipTemplate(p);
            else if (p.token.type === 'end')
                p.unexpected();
            else {
                if (p.token.type === 'mark' && '([{'.includes(p.token.value))
                    depth++;
                else if (p.token.type === 'mark' && CLOSING.has(p.token.value))
                    depth--;
                p.next();
            }
        } while (depth > 0);
    }

    function skipTemplate(p) {
        while (p.token.value === '${') {
            p.next();
            enclosed(p);
            if (!p.is('}'))
                p.unexpected();
            p.rescanTemplate();
        }
        p.next();
    }

    // A type between brackets, or a function's result, where conditions are allowed again.
    function enclosed(p, parse = type) {
        const { isConstraint } = p;
        p.isConstraint = false;
        parse(p);
        p.isConstraint = isConstraint;
    }

    function type(p) {
        if (p.isName('abstract') && p.peek().value === 'new')
            p.next();
        if (p.isName('new') || p.is('<')) {
            p.eatName('new');
            if (p.is('<'))
                typeParameters(p);
            skipBrackets(p);
            p.expect('=>');
            enclosed(p, returned);
            return;
        }
        union(p);
        if (p.isName('extends') && !p.token.newline && !p.isConstraint) {
            p.next();
            constraint(p);
            p.expect('?');
            type(p);
            p.expect(':');
            type(p);
        }
    }

    // After extends: a conditional type inside needs brackets.
    function constraint(p) {
        const { isConstraint } = p;
        p.isConstraint = true;
        type(p);
        p.isConstraint = isConstraint;
    }

    function union(p) {
        p.eat('|') ?? p.eat('&');
        do {
            operator(p);
        } while (p.eat('|') ?? p.eat('&'));
    }

    function operator(p) {
        while (p.token.type === 'name' && OPERATORS.has(p.token.value) && beginsType(p.peek())) {
            const isInfer = p.next().value === 'infer';
            if (!isInfer)
                continue;
            p.expectName();
            if (p.isName('extends')) // of the name, unless it turns out to be a condition
                p.attempt(() => {
                    p.next();
                    constraint(p);
                    return p.is('?') && !p.isConstraint ? undefined : true;
                });
            return;
        }
        postfix(p);
    }

    function postfix(p) {
        if (p.isName('new') || p.is('<')) {
            type(p);
            return;
        }
        primary(p);
        while (p.is('[') && !p.token.newline)
            skipBrackets(p);
    }

    function primary(p) {
        const { type: kind, value } = p.token;
        if (kind === 'template')
            skipTemplate(p);
        else if (kind === 'string' || kind === 'number')
            p.next();
        else if (p.eat('-'))
            p.token.type === 'number' ? p.next() : p.unexpected();
        else if (value === '{' || value === '[')
            skipBrackets(p);
        else if (value === '(')
            brackets(p);
        else if (kind === 'name')
            named(p);
        else
            p.unexpected();
    }

    // A type in brackets, or the parameters of a function.
    function brackets(p) {
        const isType = p.attempt(() => {
            p.next();
            enclosed(p);
            p.expect(')');
            return p.is('=>') ? undefined : true;
        });
        if (isType)
            return;
        skipBrackets(p);
        p.expect('=>');
        enclosed(p, returned);
    }

    function named(p) {
        const first = p.next().value;
        const isImport = first === 'import' || (first === 'typeof' && p.eatName('import'));
        if (isImport)
            skipBrackets(p);
        else if (first === 'typeof')
            p.expectName();
        while (p.is('.')) {
            p.next();
            p.token.type === 'private' ? p.next() : p.expectName();
        }
        if ((p.is('<') || p.is('<<')) && !p.token.newline)
            typeArguments(p);
    }

    // asserts x, asserts x is T, x is T, or a type.
    function returned(p) {
        const after = p.isName() ? p.peek() : undefined;
        if (p.isName('asserts') && after.type === 'name' && !after.newline && after.value !== 'is') {
            p.next();
            p.expectName();
            if (!p.isName('is') || p.token.newline)
                return;
            p.next();
        } else if (after?.type === 'name' && after.value === 'is' && !after.newline) {
            p.next();
            p.next();
        }
        type(p);
    }

    function typeArguments(p) {
        if (p.is('<<'))
            p.splitMark();
        p.expect('<');
        do {
            if (p.is('>'))
                break;
            enclosed(p);
        } while (p.eat(','));
        p.expect('>');
    }

    function typeParameters(p) {
        p.expect('<');
        while (!p.is('>')) {
            while (/^(?:const|in|out)$/.test(p.token.value) && p.peek().type === 'name' && p.peek().value !== 'extends')
                p.next();
            p.expectName();
            if (p.eatName('extends'))
                type(p);
            if (p.eat('='))
                type(p);
            if (!p.eat(','))
                break;
        }
        p.expect('>');
    }

    return { type, returned, typeArguments, typeParameters, skipBrackets };
})
