// SPDX-License-Identifier: MIT
// js/lib/main.js - the first script of an instance.
// host: isPromise(value), readText(path), compile(text, name, line), checkModule(text, name), cwd()
(function (host, need) {
    'use strict';
    const modules = need('module');
    const options = need('options');

    // What a main module throws is an uncaught error at once, and no unhandled rejection.
    function watch(url) {
        host.mainURL = url;
        const done = Promise.resolve().then(() => import(url));
        done.catch((error) => need('process').fatal(error, 'unhandledRejection'));
        return done;
    }

    function check(text, name, isModule) {
        if (isModule)
            host.checkModule(text, name);
        else
            host.compile(modules.wrapped(text, true), name, modules.WRAPPED_LINE);
    }

    function runFile(name) {
        host.mainName = need('path').resolve(host.cwd(), name);
        const file = modules.findMain(name);
        const isModule = modules.isModule(file);
        if (options.has('--check'))
            return check(modules.textOf(file), isModule ? modules.toURL(file) : file, isModule);
        if (isModule)
            return watch(modules.toURL(file));
        modules.require(file);
        return undefined;
    }

    function runText(name, text) {
        if (options.has('--repl'))
            return need('repl').start();
        const type = options.valueOf('--input-type');
        const isModule = type === undefined ? modules.looksLikeModule(text) : type === 'module';
        if (!isModule)
            modules.addScript(text, name);
        const url = isModule ? modules.addModule(text) : name;
        if (options.has('--check'))
            return check(text, url, isModule);
        if (isModule && options.has('--print'))
            throw need('node_error').nodeError(Error, 'ERR_EVAL_ESM_CANNOT_PRINT', '--print cannot be used with ESM input');
        if (isModule)
            return watch(url);
        const value = host.compile(text, name);
        if (options.has('--print'))
            need('console').console.log(value);
        return undefined; // what it is worth is nobody's business
    }

    return { runFile, runText };
})
