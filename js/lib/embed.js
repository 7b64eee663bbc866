// SPDX-License-Identifier: MIT
// js/lib/embed.js - what C programs have done in JavaScript: modules of theirs, functions by their names, promises.
(function (host, need) {
    'use strict';
    const { withCode } = need('errors');
    const { apply } = Reflect;
    const { then } = Promise.prototype;
    const taken = new Set();

    const importModule = (name) => import(name);

    // The text as a module of that name, or, when there is one, of a name that is like it.
    function evaluateModule(name, text) {
        let free = name;
        for (let number = 2; taken.has(free); number++)
            free = `${name}?${number}`;
        taken.add(free);
        need('module').giveText(free, text);
        return import(free);
    }

    function checkName(name) {
        if (!/^[A-Za-z][A-Za-z0-9+.-]*:./s.test(name) || /^(?:node|weft|file|data):/i.test(name))
            throw withCode(new TypeError(`'${name}' cannot be the name of a module: it needs a scheme of its own, as 'app:name'`),
                'EINVAL');
        if (taken.has(name))
            throw withCode(new TypeError(`There is a module '${name}' already`), 'EEXIST');
        taken.add(name);
    }

    function addModule(name, exports) {
        checkName(name);
        need('module').giveModule(name, exports);
    }

    function addModuleText(name, text) {
        checkName(name);
        need('module').giveText(name, text);
    }

    // "path.to.function" in the global object, or "module#path.to.function".
    async function find(name) {
        const [, module, path] = /^(?:(.*)#)?([^#]*)$/s.exec(name);
        let self, value = module === undefined ? globalThis : await import(module);
        for (const part of path.split('.'))
            [self, value] = [value, value?.[part]];
        if (typeof value !== 'function')
            throw withCode(new TypeError(`There is no function '${name}'`), 'ERR_WEFT_NO_FUNCTION');
        return [value, self];
    }

    async function callNamed(name, text) {
        const values = JSON.parse(text);
        if (!Array.isArray(values))
            throw new TypeError('Arguments of a call are a JSON array');
        const [fn, self] = await find(name);
        return JSON.stringify(await apply(fn, self, values));
    }

    function watch(promise, onValue, onError) {
        apply(then, Promise.resolve(promise), [onValue, onError]);
    }

    return { importModule, evaluateModule, addModule, addModuleText, callNamed, watch };
})
