// SPDX-License-Identifier: MIT
// js/lib/repl_complete.js - what a word that is being typed may become: commands, modules, names and properties.
//
// Nothing of the user's runs for it: values behind getters are looked at only where the getters are ours.
(function (host, need) {
    'use strict';
    const WORDS = ['async', 'await', 'break', 'case', 'catch', 'class', 'const', 'continue', 'debugger', 'default', 'delete', 'do', 'else',
        'export', 'extends', 'false', 'finally', 'for', 'function', 'if', 'import', 'in', 'instanceof', 'let', 'new', 'null', 'return',
        'static', 'super', 'switch', 'this', 'throw', 'true', 'try', 'typeof', 'var', 'void', 'while', 'with', 'yield'];
    const MODULE = /(?:\brequire\s*\(\s*|\bimport\s*\(?\s*|\bfrom\s*)['"]([^'"]*)$/;
    const CHAIN = /(?:^|[^\w$.)\]'"`])((?:[\p{ID_Start}$_][\p{ID_Continue}$]*\s*\??\.\s*)*)([\p{ID_Start}$_][\p{ID_Continue}$]*)?$/u;
    const isIdentifier = (name) => typeof name === 'string' && /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(name);

    function holderOf(object, name) {
        for (; object !== null && object !== undefined; object = Object.getPrototypeOf(object))
            if (Object.hasOwn(object, name))
                return object;
        return undefined;
    }

    // The value of a property, if it can be had without calling anybody.
    function look(value, name) {
        const object = value === null || value === undefined || host.isProxy(value) !== undefined ? undefined : Object(value);
        const holder = holderOf(object, name);
        const found = holder && Object.getOwnPropertyDescriptor(holder, name);
        if (found === undefined)
            return undefined;
        const isOurs = object === globalThis || object === globalThis.process;
        return found.get && !isOurs ? undefined : found.get ? object[name] : found.value;
    }

    function namesOf(value) {
        const names = new Set();
        let object = value === null || value === undefined || host.isProxy(value) !== undefined ? null : Object(value);
        for (; object !== null && !host.isProxy(object); object = Object.getPrototypeOf(object))
            for (const name of Object.getOwnPropertyNames(object))
                if (isIdentifier(name))
                    names.add(name);
        return names;
    }

    function modulesFor(typed) {
        const names = need('module').builtinNames();
        const short = names.filter((name) => name.startsWith('node:')).map((name) => name.slice('node:'.length));
        return [...names, ...short].filter((name) => name.startsWith(typed));
    }

    function candidates(text, commands) {
        if (/^\s*\.\w*$/.test(text)) {
            const typed = text.trimStart();
            return [commands.filter((name) => name.startsWith(typed)), typed.length];
        }
        const module = text.match(MODULE);
        if (module)
            return [modulesFor(module[1]), module[1].length];
        const found = text.match(CHAIN);
        if (!found)
            return [[], 0];
        const typed = found[2] ?? '';
        const path = found[1].split(/\s*\??\.\s*/).slice(0, -1).map((name) => name.trim());
        if (path.length === 0 && typed === '')
            return [[], 0];
        const value = path.reduce(look, globalThis);
        const names = path.length === 0 ? [...namesOf(globalThis), ...WORDS] : [...namesOf(value)];
        return [names.filter((name) => name.startsWith(typed)), typed.length];
    }

    // [what it may become, how much of the text that replaces]
    function complete(text, commands) {
        try {
            const [names, length] = candidates(text, commands);
            return [[...new Set(names)].sort(), length];
        } catch {
            return [[], 0];
        }
    }

    return { complete };
})
