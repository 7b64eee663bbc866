// SPDX-License-Identifier: MIT
// js/lib/strip_expression.js - expressions of TypeScript, and the types in them, which are erased.
//
// It reads more than there is: precedence does not matter, and what is no JavaScript the engine will say. Where the same letters may
// be a type or not (arrow functions, arguments in angle brackets) one is tried and the other taken if it fails.
(function (host, need) {
    'use strict';
    const { type, returned, typeArguments, typeParameters } = need('strip_type');
    const PREFIXES = new Set(['+', '-', '!', '~', '++', '--']);
    const WORDS = new Set(['typeof', 'void', 'delete', 'await', 'yield', 'new']);
    const BINARY = new Set(['=', '==', '===', '!=', '!==', '<', '<=', '>', '<<', '+', '-', '*', '**', '/', '%', '&', '|', '^', '&&', '||',
        '??', '+=', '-=', '*=', '**=', '/=', '%=', '&=', '|=', '^=', '&&=', '||=', '??=', '<<=']);
    const PARAMETER_PROPERTIES = new Set(['public', 'private', 'protected', 'readonly', 'override']);

    // Whether an expression can begin with this token.
    function beginsExpression({ type: kind, value }) {
        if (kind === 'name')
            return value !== 'in' && value !== 'of' && value !== 'instanceof' && value !== 'as' && value !== 'satisfies';
        if (kind !== 'mark')
            return kind !== 'end';
        return '([{</'.includes(value) || PREFIXES.has(value) || value === '@' || value === '/=' || value === '<<';
    }

    const isBinary = ({ type: kind, value }) => (kind === 'mark' ? BINARY.has(value) || value === '?'
        : kind === 'name' && (value === 'in' || value === 'instanceof' || value === 'as' || value === 'satisfies'));

    function expression(p) {
        do {
            assignment(p);
        } while (p.eat(','));
    }

    // isBranch: between ? and :, where "(a): b => c" is no arrow function unless another colon follows.
    function assignment(p, isBranch = false) {
        for (;;) {
            if (arrow(p, isBranch))
                return;
            unary(p);
            while ((p.isName('as') || p.isName('satisfies')) && !p.token.newline)
                assertion(p);
            if (p.is('?')) {
                p.next();
                assignment(p, true);
                p.expect(':');
            } else if (p.isName('in') || p.isName('instanceof')) {
                p.next();
            } else if (p.token.type === 'mark' && BINARY.has(p.token.value)) {
                operator(p);
            } else {
                return;
            }
        }
    }

    // The letters of >>= and the like come one by one.
    function operator(p) {
        const isGreater = p.next().value === '>';
        while (isGreater && p.token.start === p.last.end && (p.is('>') || p.is('=')))
            p.next();
    }

    function assertion(p) {
        const { start } = p.next();
        if (p.isName('const') && p.last.value === 'as')
            p.next();
        else
            type(p);
        p.eraseFrom(start);
    }

    // ---- Arrow functions ----

    function arrow(p, isBranch) {
        const { token } = p;
        const mayBe = token.type === 'name' || token.value === '(' || token.value === '<';
        if (!mayBe || (token.type === 'name' && token.value !== 'async' && p.peek().value !== '=>') || p.notArrows?.has(token.start))
            return false;
        const hasBody = p.attempt(() => {
            const hasType = arrowHead(p);
            if (hasType && isBranch) { // the body decides
                arrowBody(p);
                return p.is(':') ? 'done' : undefined;
            }
            return 'head';
        });
        if (hasBody === undefined)
            (p.notArrows ??= new Set()).add(token.start);
        else if (hasBody === 'head')
            arrowBody(p);
        return hasBody !== undefined;
    }

    // Up to the arrow. Whether it has the type of a result.
    function arrowHead(p) {
        const next = p.isName('async') ? p.peek() : undefined;
        if (next && !next.newline && (next.type === 'name' || next.value === '(' || next.value === '<'))
            p.next();
        if (p.isName()) {
            p.next();
            if (!p.is('=>') || p.token.newline)
                p.unexpected();
            p.next();
            return false;
        }
        if (p.is('<'))
            parametersOfArrow(p);
        const open = p.token;
        parameters(p);
        const close = p.last;
        const hasType = p.is(':');
        if (hasType) {
            p.next();
            returned(p);
        }
        if (!p.is('=>') || p.token.newline)
            p.unexpected();
        // The arrow must be in the line of the bracket before it.
        if (hasType && p.hasLineEnd(close.end, p.last.end))
            p.eraseFrom(close.start, '', ')');
        else if (hasType)
            p.eraseFrom(close.end);
        p.next();
        return hasType && open !== undefined;
    }

    // <T>( : and the bracket in the line of what is before it.
    function parametersOfArrow(p) {
        const { start } = p.token;
        typeParameters(p);
        const isMoved = p.hasLineEnd(start, p.token.start) && p.is('(');
        p.erase(start, isMoved ? p.token.end : p.last.end, isMoved ? '(' : '');
    }

    function arrowBody(p) {
        if (p.is('{'))
            need('strip_types').block(p);
        else
            assignment(p);
    }

    // ---- Functions ----

    function optionalTypeParameters(p) {
        if (!p.is('<'))
            return;
        const { start } = p.token;
        typeParameters(p);
        p.eraseFrom(start);
    }

    function optionalType(p) {
        if (!p.is(':'))
            return;
        const { start } = p.next();
        type(p);
        p.eraseFrom(start);
    }

    function parameters(p) {
        p.expect('(');
        while (!p.is(')')) {
            parameter(p);
            if (!p.eat(','))
                break;
        }
        p.expect(')');
    }

    function parameter(p) {
        decorators(p);
        if (p.isName('this')) {
            const { start } = p.next();
            if (p.eat(':'))
                type(p);
            p.eat(',');
            p.eraseFrom(start);
            if (!p.is(')'))
                parameter(p);
            return;
        }
        const after = PARAMETER_PROPERTIES.has(p.token.value) ? p.peek() : undefined;
        if (after && (after.type === 'name' || after.value === '{' || after.value === '['))
            p.unsupported('parameter property');
        p.eat('...');
        target(p);
        if (p.is('?')) {
            const { start } = p.next();
            p.eraseFrom(start);
        }
        optionalType(p);
        if (p.eat('='))
            assignment(p);
    }

    // A name that is declared, or a pattern of them.
    function target(p) {
        if (p.is('['))
            array(p, target);
        else if (p.is('{'))
            pattern(p);
        else
            p.expectName();
    }

    // [a, b = 1, ...c], with targets or values.
    function array(p, element) {
        p.expect('[');
        while (!p.is(']')) {
            if (p.eat(','))
                continue;
            p.eat('...');
            element(p);
            if (p.eat('='))
                assignment(p);
            if (!p.is(']'))
                p.expect(',');
        }
        p.expect(']');
    }

    function pattern(p) {
        p.expect('{');
        while (!p.is('}')) {
            if (p.eat('...')) {
                target(p);
            } else {
                propertyName(p);
                if (p.eat(':'))
                    target(p);
            }
            if (p.eat('='))
                assignment(p);
            if (!p.eat(','))
                break;
        }
        p.expect('}');
    }

    function propertyName(p) {
        if (p.eat('[')) {
            assignment(p);
            p.expect(']');
        } else if (p.token.type === 'mark' || p.token.type === 'end') {
            p.unexpected();
        } else {
            p.next();
        }
    }

    // From its type parameters on. Whether it has a body.
    function functionRest(p) {
        optionalTypeParameters(p);
        parameters(p);
        if (p.is(':')) {
            const { start } = p.next();
            returned(p);
            p.eraseFrom(start);
        }
        if (!p.is('{'))
            return false;
        need('strip_types').block(p);
        return true;
    }

    function decorators(p) {
        while (p.is('@')) {
            p.next();
            postfix(p);
        }
    }

    // ---- Operands ----

    function unary(p) {
        for (;;) {
            if (p.token.type === 'mark' && PREFIXES.has(p.token.value)) {
                p.next();
            } else if (p.token.type === 'name' && WORDS.has(p.token.value) && isOperator(p)) {
                const { value } = p.next();
                if (value === 'yield') {
                    p.eat('*');
                    if (p.token.newline || !beginsExpression(p.token))
                        return;
                    assignment(p);
                    return;
                }
            } else if (p.is('<')) {
                const { start } = p.token;
                typeArguments(p);
                p.eraseFrom(start);
            } else {
                break;
            }
        }
        postfix(p);
    }

    // Some of the words are names in some places.
    function isOperator(p) {
        const after = p.peek();
        if (p.token.value === 'new')
            return after.value !== '.';
        if (p.token.value === 'yield')
            return after.value !== '=>';
        return p.token.value === 'await' ? beginsExpression(after) && after.value !== '=>' : true;
    }

    function postfix(p) {
        primary(p);
        for (;;) {
            const { type: kind, value, newline } = p.token;
            if (kind === 'template') {
                template(p);
            } else if (kind !== 'mark') {
                return;
            } else if (value === '.' || value === '?.') {
                p.next();
                if (p.token.type === 'name' || p.token.type === 'private')
                    p.next();
            } else if (value === '[') {
                p.next();
                expression(p);
                p.expect(']');
            } else if (value === '(') {
                callArguments(p);
            } else if (value === '!' && !newline) {
                const { start } = p.next();
                p.eraseFrom(start);
            } else if ((value === '++' || value === '--') && !newline) {
                p.next();
            } else if ((value !== '<' && value !== '<<') || !argumentsInAngles(p)) {
                return;
            }
        }
    }

    // f<T>(x), new Map<K, V>, f<T>`x`: types only if what follows says so.
    function argumentsInAngles(p) {
        const { start } = p.token;
        return p.attempt(() => {
            typeArguments(p);
            const { token } = p;
            const isCall = token.value === '(' || token.type === 'template';
            const isNone = token.type === 'mark' && '<>+-'.includes(token.value);
            if (!isCall && (isNone || !(token.newline || isBinary(token) || !beginsExpression(token))))
                return undefined;
            p.eraseFrom(start);
            return true;
        }) ?? false;
    }

    function callArguments(p) {
        p.expect('(');
        while (!p.is(')')) {
            p.eat('...');
            assignment(p);
            if (!p.eat(','))
                break;
        }
        p.expect(')');
    }

    function template(p) {
        while (p.token.value === '${') {
            p.next();
            expression(p);
            if (!p.is('}'))
                p.unexpected();
            p.rescanTemplate();
        }
        p.next();
    }

    function primary(p) {
        const { type: kind, value } = p.token;
        if (kind === 'template')
            template(p);
        else if (kind === 'name')
            named(p);
        else if (kind !== 'mark')
            kind === 'end' ? p.unexpected() : p.next();
        else if (value === '(') {
            p.next();
            expression(p);
            p.expect(')');
        } else if (value === '[')
            array(p, assignment);
        else if (value === '{')
            object(p);
        else if (value === '/' || value === '/=') {
            p.rescanRegex();
            p.token.type === 'regex' ? p.next() : p.unexpected();
        } else if (value === '@') {
            decorators(p);
            named(p);
        } else
            p.unexpected();
    }

    function named(p) {
        const { value } = p.next();
        const isAsync = value === 'async' && p.isName('function') && !p.token.newline;
        if (isAsync)
            p.next();
        if (value === 'function' || isAsync) {
            p.eat('*');
            if (p.isName())
                p.next();
            functionRest(p) || p.unexpected();
        } else if (value === 'class') {
            need('strip_class').classRest(p);
        }
    }

    function object(p) {
        p.expect('{');
        while (!p.is('}')) {
            property(p);
            if (!p.eat(','))
                break;
        }
        p.expect('}');
    }

    // One of an object: a value, a method, an accessor, a name alone, or all of another one.
    function property(p) {
        if (p.eat('...')) {
            assignment(p);
            return;
        }
        while (p.is('*') || ((p.isName('get') || p.isName('set') || p.isName('async')) && isModifier(p.peek())))
            p.next();
        propertyName(p);
        if (p.is('(') || p.is('<'))
            functionRest(p) || p.unexpected();
        else if (p.eat(':') ?? p.eat('='))
            assignment(p);
    }

    // Whether a word before it is a modifier, and no name itself.
    const isModifier = ({ type: kind, value }) => (kind === 'mark' ? value === '[' || value === '*' : kind !== 'end');

    return { expression, assignment, target, optionalType, optionalTypeParameters, parameters, functionRest, propertyName, decorators,
        postfix, isModifier };
})
