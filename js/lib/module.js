// SPDX-License-Identifier: MIT
// js/lib/module.js - names of modules, files behind them, and both kinds: ES modules and CommonJS.
// host: readText(path), fileKind(path), realPath(path), cwd(), compile(text, name)
(function (host, need) {
    'use strict';
    const path = need('path');
    const { withCode } = need('errors');
    const cache = Object.create(null); // of CommonJS, by file
    const packages = new Map(); // folder -> package.json or null
    const conditions = { import: ['import', 'node', 'module-sync', 'default'], require: ['require', 'node', 'default'] };
    const WRAPPED_LINE = -1;
    let imports = null; // the import map
    let knowsCallSites = false;

    // ---- What comes with weft ----

    const builtins = {
        'weft:go': 'go', 'weft:events': 'weft_events', 'weft:net': 'net', 'weft:process': 'children', 'weft:trace': 'trace', 'weft:http': 'http', 'node:http': 'node_http',
        'node:events': 'events', 'node:path': 'path', 'node:util': 'util', 'node:assert': 'assert',
        'node:assert/strict': 'assert', 'node:timers': 'timers', 'node:timers/promises': 'timers',
        'node:process': 'process', 'node:module': 'module', 'node:url': 'url', 'node:console': 'console',
        'node:perf_hooks': 'performance',
        'node:buffer': 'buffer', 'node:crypto': 'node_crypto', 'node:os': 'os', 'node:querystring': 'querystring',
        'node:string_decoder': 'string_decoder', 'node:fs': 'fs', 'node:tty': 'tty', 'node:child_process': 'child_process',
        'node:stream': 'stream', 'node:stream/promises': 'stream', 'node:stream/web': 'streams',
        'node:diagnostics_channel': 'diagnostics_channel',
    };

    function builtinName(name) {
        if (Object.hasOwn(builtins, name))
            return name;
        return Object.hasOwn(builtins, `node:${name}`) ? `node:${name}` : undefined;
    }

    function builtin(name) {
        switch (name) {
        case 'node:events': return need('events').EventEmitter;
        case 'node:process': return need('process').process;
        case 'node:timers/promises': return need('timers').promises;
        case 'node:assert': return need('assert').assert ?? need('assert');
        case 'node:assert/strict': return need('assert').strict ?? need('assert');
        case 'node:console': return need('console').console;
        case 'node:module': return moduleClass();
        case 'node:stream/promises': return need('stream').promises;
        case 'node:url': return { URL, URLSearchParams, fileURLToPath, pathToFileURL: (file) => new URL(toURL(file)) };
        default: return need(builtins[name]);
        }
    }

    function moduleClass() {
        if (!Module.builtinModules) {
            const builtinModules = Object.keys(builtins).map((name) => name.replace(/^node:/, ''));
            const isBuiltin = (id) => builtinName(id) !== undefined;
            Object.assign(Module, { Module, _cache: cache, builtinModules, createRequire, isBuiltin });
        }
        return Module;
    }

    // ---- Files and URLs ----

    function toURL(file) {
        return `file://${file.replace(/[^A-Za-z0-9/._~!$&'()*+,;=:@-]/g, (text) => encodeURIComponent(text))}`;
    }

    function fileURLToPath(url) {
        const text = String(url);
        if (!text.startsWith('file://'))
            throw withCode(new TypeError('The URL must be of scheme file'), 'ERR_INVALID_URL_SCHEME');
        return decodeURIComponent(text.slice(7).replace(/[?#].*$/s, ''));
    }

    function notFound(name, base, kind) {
        const what = kind === 'import' ? `${name.includes('/') ? 'module' : 'package'} '${name}'` : `module '${name}'`;
        const error = new Error(`Cannot find ${what}${base ? ` imported from ${base}` : ''}`);
        return withCode(error, kind === 'import' ? 'ERR_MODULE_NOT_FOUND' : 'MODULE_NOT_FOUND');
    }

    const isFile = (file) => host.fileKind(file) === 'file';

    function readJSON(file) {
        return JSON.parse(host.readText(file).replace(/^\ufeff/, ''));
    }

    function readPackage(folder) {
        if (!packages.has(folder)) {
            const file = path.join(folder, 'package.json');
            packages.set(folder, isFile(file) ? readJSON(file) : null);
        }
        return packages.get(folder);
    }

    // The nearest package.json above a file, and its folder.
    function packageOf(file) {
        for (let folder = path.dirname(file); ; folder = path.dirname(folder)) {
            const found = readPackage(folder);
            if (found || folder === '/')
                return [found, folder];
        }
    }

    // ---- "exports" and "imports" of packages ----

    function pick(target, wanted, star) {
        if (typeof target === 'string')
            return target.replaceAll('*', star);
        if (Array.isArray(target)) {
            for (const entry of target) {
                const found = pick(entry, wanted, star);
                if (found)
                    return found;
            }
            return undefined;
        }
        if (target === null)
            return null; // it is said not to be there
        if (typeof target !== 'object')
            return undefined;
        for (const key of Object.keys(target)) {
            if (wanted.includes(key)) {
                const found = pick(target[key], wanted, star);
                if (found !== undefined)
                    return found;
            }
        }
        return undefined;
    }

    function lookUp(table, key, wanted) {
        if (Object.hasOwn(table, key))
            return pick(table[key], wanted, '');
        let best;
        for (const pattern of Object.keys(table)) {
            const [before, after] = pattern.split('*');
            if (after === undefined || !key.startsWith(before) || !key.endsWith(after)
                || key.length < before.length + after.length)
                continue;
            if (!best || before.length > best.split('*')[0].length)
                best = pattern;
        }
        if (best === undefined)
            return undefined;
        const [before, after] = best.split('*');
        return pick(table[best], wanted, key.slice(before.length, key.length - after.length));
    }

    function exportOf(found, folder, subpath, kind, base) {
        let table = found.exports;
        const isTable = typeof table === 'object' && table !== null && !Array.isArray(table)
            && Object.keys(table).some((key) => key.startsWith('.'));
        if (!isTable)
            table = { '.': table };
        const target = lookUp(table, subpath, conditions[kind]);
        if (!target) {
            const what = subpath === '.' ? 'No "exports" main defined'
                : `Package subpath '${subpath}' is not defined by "exports"`;
            throw withCode(new Error(`${what} in ${folder}/package.json${base ? ` imported from ${base}` : ''}`),
                'ERR_PACKAGE_PATH_NOT_EXPORTED');
        }
        return path.join(folder, target);
    }

    // ---- Resolution ----

    function asFile(file) {
        for (const ending of ['', '.js', '.json', '.cjs', '.mjs'])
            if (isFile(file + ending))
                return file + ending;
        return undefined;
    }

    function asFolder(folder, kind) {
        if (host.fileKind(folder) !== 'folder')
            return undefined;
        const main = readPackage(folder)?.main;
        return (main && (asFile(path.join(folder, main)) ?? asFolder(path.join(folder, main), kind)))
            || asFile(path.join(folder, 'index'));
    }

    function splitName(name) {
        const parts = name.split('/');
        const count = name.startsWith('@') ? 2 : 1;
        return [parts.slice(0, count).join('/'), ['.', ...parts.slice(count)].join('/')];
    }

    function fromPackages(name, from, kind, base) {
        const [packageName, subpath] = splitName(name);
        const [own, ownFolder] = packageOf(path.join(from, 'x'));
        if (own?.name === packageName && own.exports !== undefined)
            return exportOf(own, ownFolder, subpath, kind, base);
        for (let folder = from; ; folder = path.dirname(folder)) {
            const place = path.join(folder, 'node_modules', packageName);
            if (host.fileKind(place) === 'folder') {
                const found = readPackage(place);
                if (found?.exports !== undefined && found.exports !== null)
                    return exportOf(found, place, subpath, kind, base);
                const file = path.join(place, subpath);
                const plain = (subpath !== '.' && asFile(file)) || asFolder(file, kind);
                if (plain)
                    return plain;
            }
            if (folder === '/')
                return undefined;
        }
    }

    // The file behind a name, for somebody in the folder from.
    function findFile(name, from, kind, base) {
        let file;
        if (name.startsWith('#')) {
            const [own, folder] = packageOf(path.join(from, 'x'));
            const target = own?.imports && lookUp(own.imports, name, conditions[kind]);
            if (!target)
                throw withCode(new TypeError(`Package import specifier "${name}" is not defined`),
                    'ERR_PACKAGE_IMPORT_NOT_DEFINED');
            return target.startsWith('.') ? host.realPath(path.join(folder, target)) : findFile(target, from, kind, base);
        }
        if (name.startsWith('./') || name.startsWith('../') || name.startsWith('/') || name === '.' || name === '..') {
            const place = path.resolve(from, name);
            file = kind === 'import' ? place : asFile(place) ?? asFolder(place, kind);
            if (kind === 'import' && host.fileKind(place) === 'folder')
                throw withCode(new Error(`Directory import '${place}' is not supported resolving ES modules `
                    + `imported from ${base}`), 'ERR_UNSUPPORTED_DIR_IMPORT');
        } else {
            file = fromPackages(name, from, kind, base);
        }
        if (!file || !isFile(file))
            throw notFound(file ?? name, base, kind);
        return host.realPath(file);
    }

    // ---- ES modules ----

    function mapped(name) {
        if (!imports)
            return name;
        if (Object.hasOwn(imports, name))
            return imports[name];
        let best;
        for (const key of Object.keys(imports))
            if (key.endsWith('/') && name.startsWith(key) && (!best || key.length > best.length))
                best = key;
        return best ? imports[best] + name.slice(best.length) : name;
    }

    function resolveImport(name, base) {
        name = mapped(name);
        const known = builtinName(name);
        if (known)
            return known;
        if (name.startsWith('data:'))
            return name;
        if (/^(weft|node):/.test(name))
            throw withCode(new Error(`No such built-in module: ${name}`), 'ERR_UNKNOWN_BUILTIN_MODULE');
        const from = base.startsWith('file://') ? path.dirname(fileURLToPath(base)) : host.cwd();
        const query = name.match(/^(?:file:|\.|\/).*?([?#].*)$/s)?.[1] ?? '';
        let plain = query ? name.slice(0, -query.length) : name;
        if (plain.startsWith('file://'))
            plain = fileURLToPath(plain);
        else if (/^\.{0,2}\//.test(plain))
            plain = decodeURIComponent(plain);
        return toURL(findFile(plain, from, 'import', base.startsWith('file://') ? fileURLToPath(base) : base)) + query;
    }

    function isModule(file) {
        if (file.endsWith('.mjs'))
            return true;
        if (file.endsWith('.cjs') || file.endsWith('.json'))
            return false;
        const type = packageOf(file)[0]?.type;
        if (type)
            return type === 'module';
        return looksLikeModule(host.readText(file));
    }

    // Nobody has said what it is: a file that cannot be a script, for its import, export or await, is a module.
    function looksLikeModule(text) {
        if (!/^\s*(import|export)\b|\bimport\.meta\b|\bawait\b/m.test(text))
            return false;
        try {
            host.compile(wrapped(text, true), 'check');
            return false;
        } catch {
            return true;
        }
    }

    function loadImport(name, attributes) {
        if (Object.hasOwn(builtins, name)) {
            const value = builtin(name);
            return ['object', exportsOf(value, name.startsWith('weft:') ? value.default ?? value : value)];
        }
        const type = attributes?.type;
        if (name.startsWith('data:'))
            return ['text', dataText(name), { url: name }];
        const file = fileURLToPath(name);
        if (type === 'json')
            return ['object', { default: readJSON(file) }];
        if (file.endsWith('.json'))
            throw withCode(new TypeError(`Module "${name}" needs an import attribute of type "json"`),
                'ERR_IMPORT_ASSERTION_TYPE_MISSING');
        if (!isModule(file)) {
            const value = load(file);
            return ['object', exportsOf(value, value)];
        }
        const meta = {
            dirname: path.dirname(file), filename: file, resolve: (other) => resolveImport(other, name), url: name,
        };
        return ['text', host.readText(file), meta];
    }

    function dataText(name) {
        const [, head, body] = name.match(/^data:([^,]*),(.*)$/s) ?? [null, '', ''];
        if (!/^(text|application)\/javascript/.test(head))
            throw withCode(new RangeError(`Unknown module format: ${head}`), 'ERR_UNKNOWN_MODULE_FORMAT');
        return head.endsWith(';base64') ? need('base64').atob(body) : decodeURIComponent(body);
    }

    // What a CommonJS module exports, for import: the whole as the default, and its properties by name.
    function exportsOf(value, whole) {
        const names = Object.create(null);
        if ((typeof value === 'object' && value !== null) || typeof value === 'function')
            for (const key of Object.keys(value))
                if (key !== 'default')
                    names[key] = value[key];
        names.default = whole;
        return names;
    }

    // ---- CommonJS ----

    // Two lines before the text, which so begins in line 1.
    function wrapped(text, isCheck = false) {
        const body = text.startsWith('#!') ? `//${text}` : text;
        return `${isCheck ? 'void ' : ''}(\nfunction (exports, require, module, __filename, __dirname) {\n${body}\n})`;
    }

    // Where packages for somebody in this folder may be.
    function packageFolders(folder) {
        const folders = [];
        for (; ; folder = path.dirname(folder)) {
            if (path.basename(folder) !== 'node_modules')
                folders.push(path.join(folder, 'node_modules'));
            if (folder === '/')
                return folders;
        }
    }

    // parent: the module that requires it; null for the main one; undefined when nobody of this kind does.
    class Module {
        constructor(file, parent) {
            this.id = parent === null ? '.' : file;
            this.path = path.dirname(file);
            this.exports = {};
            this.filename = file;
            this.loaded = false;
            this.children = [];
            this.paths = packageFolders(this.path);
            Object.defineProperty(this, 'parent', { value: parent, writable: true, configurable: true, enumerable: false });
        }

        require(name) {
            return requireFrom(name, this.path, this);
        }
    }

    function load(file, parent) {
        const known = cache[file];
        if (known) {
            adopt(parent, known);
            return known.exports;
        }
        if (!file.endsWith('.json') && isModule(file))
            throw withCode(new Error(`require() of ES Module ${file} not supported.`), 'ERR_REQUIRE_ESM');
        const module = cache[file] = new Module(file, parent);
        if (parent === null)
            mainModule = module;
        adopt(parent, module);
        try {
            evaluate(module, file);
            module.loaded = true;
        } catch (error) {
            delete cache[file];
            if (parent)
                parent.children = parent.children.filter((child) => child !== module);
            throw error;
        }
        return module.exports;
    }

    function adopt(parent, module) {
        if (parent && !parent.children.includes(module))
            parent.children.push(module);
    }

    function evaluate(module, file) {
        if (file.endsWith('.json')) {
            module.exports = readJSON(file);
            return;
        }
        if (!knowsCallSites && file.includes('/node_modules/')) {
            knowsCallSites = true;
            need('call_site').complete();
        }
        const fn = host.compile(wrapped(host.readText(file)), file, WRAPPED_LINE);
        fn.call(module.exports, module.exports, requireOf(module.path, module), module, file, module.path);
    }

    function requireFrom(name, folder, module) {
        if (typeof name !== 'string')
            throw need('errors').invalidArgument('id', 'string', name);
        if (name === '')
            throw need('node_error').invalidArgValue('id', name, 'must be a non-empty string');
        const known = builtinName(name);
        return known ? builtin(known) : load(findFile(name, folder, 'require'), module);
    }

    // The first file that a name stands for in one of the folders.
    function resolveFrom(name, folders) {
        let failure = notFound(name, undefined, 'require');
        for (const folder of folders) {
            try {
                return findFile(name, path.resolve(folder), 'require');
            } catch (error) {
                failure = error;
            }
        }
        throw failure;
    }

    function requireOf(folder, module) {
        function require(name) {
            return requireFrom(name, folder, module);
        }
        require.resolve = (name, options) => (builtinName(name) ? name : resolveFrom(name, options?.paths ?? [folder]));
        require.resolve.paths = (name) => {
            if (builtinName(name))
                return null;
            return /^\.{0,2}\//.test(name) ? [folder] : packageFolders(folder);
        };
        require.cache = cache;
        require.main = mainModule;
        return require;
    }

    function createRequire(from) {
        const file = String(from).startsWith('file://') ? fileURLToPath(from) : String(from);
        return requireOf(file.endsWith('/') ? file : path.dirname(file));
    }

    // ---- The main one ----

    let mainModule;

    function findMain(name) {
        const place = path.resolve(host.cwd(), name);
        const file = asFile(place) ?? asFolder(place, 'require');
        if (!file)
            throw notFound(place, undefined, 'require');
        return host.realPath(file);
    }

    function runMain(file) {
        return load(file, null);
    }

    // A text without a file: as a module if it can be nothing else.
    function runText(text, name) {
        const folder = `${host.cwd()}/`;
        if (looksLikeModule(text)) {
            const url = `data:text/javascript,${encodeURIComponent(text)}`;
            return Promise.resolve().then(() => import(url));
        }
        globalThis.require = createRequire(folder);
        host.compile(text, name); // what it is worth is nobody's business
        return undefined;
    }

    function setImports(map) {
        imports = map;
    }

    return {
        resolveImport, loadImport, isModule, findMain, runText, setImports, createRequire, toURL, fileURLToPath,
        require: runMain,
    };
})
