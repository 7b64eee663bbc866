// SPDX-License-Identifier: MIT
// js/lib/strip_types.js - TypeScript without its types: what is left is JavaScript, each letter in its place.
//
// Only what can be taken away is: types, and declarations of nothing else. What means something when the program runs (enum,
// namespaces with values, parameter properties, import x = require()) is an error. The parser reads statements here, expressions in
// strip_expression.js, classes in strip_class.js and types in strip_type.js; mistakes that it does not see are the engine's to tell.
(function (host, need) {
    'use strict';
    const { Reader } = need('strip_reader');
    const { type, typeParameters, skipBrackets } = need('strip_type');
    const { expression, assignment, target, optionalType, parameters, functionRest, decorators } = need('strip_expression');
    const { classRest } = need('strip_class');

    // The text of the file of that name.
    function strip(text, name) {
        const p = new Reader(text, name);
        while (p.token.type !== 'end')
            statement(p);
        return p.result();
    }

    function block(p) {
        p.expect('{');
        while (!p.is('}'))
            p.token.type === 'end' ? p.unexpected() : statement(p);
        p.expect('}');
    }

    // The end of a statement: a semicolon, a line's end, or a bracket.
    function semicolon(p) {
        if (p.eat(';') || p.is('}') || p.token.type === 'end')
            return;
        if (!p.token.newline)
            p.unexpected();
        if (p.token.type === 'template' || p.is('(') || p.is('[') || p.is('*'))
            p.endWithMark();
    }

    const statements = {
        var: variables, let: variables, const: variables, function: functionStatement, class: classStatement, if: condition,
        while: condition, with: condition, for: loop, do: doWhile, switch: choice, try: attempt, return: optionalValue,
        throw: optionalValue, break: jump, continue: jump, debugger: jump, import: imports, export: exports,
    };
    // Words that begin a declaration of TypeScript, if what follows fits.
    const declarations = {
        type: alias, interface: interfaces, declare: ambient, enum: enumeration, namespace: space, module: space,
        abstract: abstracts, using: usings, await: usings,
    };

    // true: nothing of it is left.
    function statement(p) {
        const { type: kind, value } = p.token;
        if (kind === 'name' && Object.hasOwn(declarations, value)) {
            const isErased = declarations[value](p, p.token.start, p.last);
            if (isErased !== undefined)
                return isErased;
        }
        if (kind === 'name' && Object.hasOwn(statements, value)) {
            const isErased = statements[value](p, p.token.start, p.last);
            if (isErased !== undefined)
                return isErased;
        } else if (value === 'async' && kind === 'name' && p.peek().value === 'function' && !p.peek().newline) {
            return functionStatement(p, p.token.start, p.last);
        }
        if (p.is('{'))
            block(p);
        else if (p.is('@')) {
            decorators(p);
            statement(p);
        } else if (!p.eat(';'))
            plain(p);
        return false;
    }

    // An expression, or a label and what it names.
    function plain(p) {
        if (p.isName() && p.peek().value === ':') {
            p.next();
            p.next();
            statement(p);
            return;
        }
        expression(p);
        semicolon(p);
    }

    // ---- JavaScript ----

    function variables(p, start, before) {
        const after = p.peek();
        if (p.isName('const') && after.value === 'enum' && after.type === 'name')
            return enumeration(p, start, before);
        if (p.isName('let') && after.type !== 'name' && after.value !== '[' && after.value !== '{')
            return undefined; // a name
        declarators(p);
        semicolon(p);
        return false;
    }

    // using x = y, await using x = y
    function usings(p) {
        const isIt = p.attempt(() => {
            p.eatName('await');
            if (!p.isName('using') || !isNameInLine(p.peek()) || isInfix(p.peek()))
                return undefined;
            return true;
        });
        if (!isIt)
            return undefined;
        declarators(p);
        semicolon(p);
        return false;
    }

    function declarators(p) {
        p.next();
        do {
            target(p);
            const mark = p.eat('!');
            if (mark)
                p.erase(mark.start, mark.end);
            optionalType(p);
            if (p.eat('='))
                assignment(p);
        } while (p.eat(','));
    }

    // Without a body it is only a form of the next one.
    function functionStatement(p, start, before) {
        p.eatName('async');
        p.next();
        p.eat('*');
        if (p.isName())
            p.next();
        if (functionRest(p))
            return false;
        semicolon(p);
        p.eraseStatement(start, before);
        return true;
    }

    function classStatement(p) {
        p.next();
        classRest(p);
        return false;
    }

    function condition(p) {
        const { value } = p.next();
        p.expect('(');
        expression(p);
        p.expect(')');
        statement(p);
        if (value === 'if' && p.eatName('else'))
            statement(p);
        return false;
    }

    function loop(p) {
        p.next();
        p.eatName('await');
        p.expect('(');
        if (p.isName('var') || p.isName('const') || (p.isName('let') && p.peek().value !== 'of') || p.isName('using'))
            declarators(p);
        else if (!p.is(';'))
            expression(p);
        if (p.eatName('of') ?? p.eatName('in'))
            expression(p);
        while (p.eat(';'))
            if (!p.is(';') && !p.is(')'))
                expression(p);
        p.expect(')');
        statement(p);
        return false;
    }

    function doWhile(p) {
        p.next();
        statement(p);
        p.eatName('while') ?? p.unexpected();
        p.expect('(');
        expression(p);
        p.expect(')');
        p.eat(';');
        return false;
    }

    function choice(p) {
        p.next();
        p.expect('(');
        expression(p);
        p.expect(')');
        p.expect('{');
        while (!p.is('}')) {
            if (p.eatName('case')) {
                expression(p);
                p.expect(':');
            } else if (p.isName('default') && p.peek().value === ':') {
                p.next();
                p.next();
            } else {
                statement(p);
            }
        }
        p.expect('}');
        return false;
    }

    function attempt(p) {
        p.next();
        block(p);
        if (p.eatName('catch')) {
            if (p.is('('))
                parameters(p);
            block(p);
        }
        if (p.eatName('finally'))
            block(p);
        return false;
    }

    function optionalValue(p) {
        p.next();
        if (!p.token.newline && !p.is(';') && !p.is('}') && p.token.type !== 'end')
            expression(p);
        semicolon(p);
        return false;
    }

    function jump(p) {
        p.next();
        if (p.isName() && !p.token.newline)
            p.next();
        semicolon(p);
        return false;
    }

    // ---- Modules ----

    function imports(p, start, before) {
        const after = p.peek();
        if (after.value === '(' || after.value === '.')
            return undefined; // an expression
        p.next();
        if (p.isName('type') && isTypeImport(p)) {
            p.next();
            clause(p);
            if (p.is('='))
                p.unsupported('import with =', start);
            p.eraseStatement(start, before);
            return true;
        }
        if (p.isName() && p.peek().value === '=')
            p.unsupported('import with =', start);
        clause(p);
        return false;
    }

    // Not: import type from 'x', import type, { a } from 'x'.
    function isTypeImport(p) {
        const after = p.peek();
        if (after.value === '{' || after.value === '*')
            return true;
        if (after.type !== 'name' || after.value !== 'from')
            return after.type === 'name';
        return p.attempt(() => {
            p.next();
            p.next();
            return p.isName('from') ? true : undefined;
        }, true) !== undefined;
    }

    // What follows import or export: names, where from, and attributes.
    function clause(p) {
        while (p.isName() && !p.isName('from') || (p.isName('from') && p.peek().type !== 'string')) {
            p.next();
            if (p.is('='))
                return;
            p.eat(',');
        }
        if (p.eat('*')) {
            if (p.eatName('as'))
                p.next();
        } else if (p.is('{')) {
            specifiers(p);
        }
        if (p.eatName('from') || p.token.type === 'string') {
            p.token.type === 'string' ? p.next() : p.unexpected();
            if (p.isName('with') || (p.isName('assert') && !p.token.newline)) {
                p.next();
                skipBrackets(p);
            }
        }
        semicolon(p);
    }

    // { a, type B, c as d, type E as F }
    function specifiers(p) {
        p.expect('{');
        while (!p.is('}')) {
            const first = p.token;
            let count = 0;
            while (p.token.type === 'name' || p.token.type === 'string') {
                p.next();
                count++;
            }
            if (count === 0)
                p.unexpected();
            const isType = first.type === 'name' && first.value === 'type' && count % 2 === 0;
            const hasMore = p.eat(',');
            if (isType)
                p.eraseFrom(first.start);
            if (!hasMore)
                break;
        }
        p.expect('}');
    }

    function exports(p, start, before) {
        p.next();
        if (p.is('='))
            p.unsupported('export with =', start);
        if (p.isName('import'))
            p.unsupported('import with =', start);
        if (p.isName('as') && p.peek().value === 'namespace') {
            p.next();
            p.next();
            p.expectName();
            semicolon(p);
        } else if (p.isName('type') && (p.peek().value === '{' || p.peek().value === '*')) {
            p.next();
            clause(p);
        } else if (p.isName('default')) {
            if (!exportDefault(p))
                return false;
        } else if (p.is('{') || p.is('*')) {
            clause(p);
            return false;
        } else if (!statement(p)) {
            return false;
        }
        p.eraseStatement(start, before);
        return true;
    }

    function exportDefault(p) {
        p.next();
        const { value } = p.token;
        const isStatement = p.isName() && (value === 'function' || value === 'class'
            || (value === 'interface' && p.peek().type === 'name') || (value === 'abstract' && p.peek().value === 'class') || (value === 'async' && p.peek().value === 'function'));
        if (isStatement || p.is('@'))
            return statement(p);
        assignment(p);
        semicolon(p);
        return false;
    }

    // ---- Declarations of TypeScript ----

    const isInfix = ({ value }) => /^(?:in|of|instanceof|as|satisfies)$/.test(value);
    const isNameInLine = ({ type: kind, newline }) => kind === 'name' && !newline;

    function alias(p, start, before) {
        if (!isNameInLine(p.peek()))
            return undefined;
        const isIt = p.attempt(() => {
            p.next();
            p.next();
            return p.is('=') || p.is('<') ? true : undefined;
        });
        if (!isIt)
            return undefined;
        if (p.is('<'))
            typeParameters(p);
        p.expect('=');
        type(p);
        semicolon(p);
        p.eraseStatement(start, before);
        return true;
    }

    function interfaces(p, start, before) {
        if (!isNameInLine(p.peek()))
            return undefined;
        p.next();
        p.next();
        if (p.is('<'))
            typeParameters(p);
        if (p.eatName('extends'))
            do {
                type(p);
            } while (p.eat(','));
        skipBrackets(p);
        p.eraseStatement(start, before);
        return true;
    }

    // declare: whatever follows is somewhere else.
    function ambient(p, start, before) {
        const after = p.peek();
        if (!isNameInLine(after) || isInfix(after))
            return undefined;
        p.next();
        const isBefore = p.isAmbient;
        p.isAmbient = true;
        if (p.isName('global') && p.peek().value === '{') {
            p.next();
            block(p);
        } else {
            statement(p);
        }
        p.isAmbient = isBefore;
        p.eraseStatement(start, before);
        return true;
    }

    function enumeration(p, start) {
        if (p.isName('enum') && !isNameInLine(p.peek()))
            return undefined;
        if (!p.isAmbient)
            p.unsupported('enum', start);
        p.eatName('const');
        p.next();
        p.expectName();
        skipBrackets(p);
        return false;
    }

    // namespace A.B { }, module 'name' { }: erased if there is nothing in it but types.
    function space(p, start, before) {
        const after = p.peek();
        if (after.newline || (after.type !== 'name' && !(p.isName('module') && after.type === 'string')) || isInfix(after))
            return undefined;
        p.next();
        p.next();
        while (p.eat('.'))
            p.expectName();
        if (!p.is('{')) {
            semicolon(p);
            p.eraseStatement(start, before);
            return true;
        }
        p.next();
        let hasValues = false;
        while (!p.is('}'))
            hasValues = (p.token.type === 'end' ? p.unexpected() : !statement(p)) || hasValues;
        p.next();
        if (hasValues && !p.isAmbient)
            p.unsupported('namespace with values', start);
        p.eraseStatement(start, before);
        return true;
    }

    function abstracts(p, start) {
        if (p.peek().value !== 'class' || p.peek().newline)
            return undefined;
        p.next();
        p.eraseFrom(start);
        return classStatement(p);
    }

    return { strip, block, semicolon };
})
