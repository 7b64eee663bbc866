// SPDX-License-Identifier: MIT
// js/lib/module.js - names of modules, files behind them, and both kinds: ES modules and CommonJS.
// host: readText(path), fileKind(path), realPath(path), cwd(), compile(text, name)
(function (host, need) {
    'use strict';
    const path = need('path');
    const { toURL, fileURLToPath, readJSON, packageOf, findImport, findRequired, fail } = need('module_find');
    const cache = Object.create(null); // of CommonJS, by file
    const texts = new Map(); // modules without a file, by URL
    const given = new Map(); // modules that the program around us has made, by name
    const WRAPPED_LINE = -1;
    let map; // the import map; null: there is none
    let mainFile;
    let stripped; // the last file of TypeScript: { file, name, text, result }
    let knowsCallSites = false;

    // ---- What comes with weft ----

    const builtins = {
        'weft:parallel': 'parallel',
        'weft:go': 'go', 'weft:events': 'weft_events', 'weft:pool': 'weft_pool', 'weft:net': 'net', 'weft:process': 'children',
        'weft:trace': 'trace', 'weft:http': 'http', 'weft:ffi': 'ffi', 'node:http': 'node_http', 'node:net': 'node_net', 'node:dns': 'dns',
        'node:dns/promises': 'dns',
        'weft:fs': 'weft_fs', 'node:fs': 'fs', 'node:fs/promises': 'fs_promises', 'node:readline': 'readline',
        'node:readline/promises': 'readline_promises', 'node:constants': 'constants',
        'node:events': 'events', 'node:path': 'path', 'node:util': 'util', 'node:assert': 'assert',
        'node:assert/strict': 'assert', 'node:timers': 'timers', 'node:timers/promises': 'timers',
        'node:process': 'process', 'node:module': 'module', 'node:url': 'node_url', 'node:console': 'console',
        'node:perf_hooks': 'performance',
        'node:buffer': 'buffer', 'node:crypto': 'node_crypto', 'node:os': 'os', 'node:querystring': 'querystring',
        'node:string_decoder': 'string_decoder', 'node:tty': 'tty', 'node:child_process': 'child_process',
        'node:stream': 'stream', 'node:worker_threads': 'worker_threads', 'node:stream/promises': 'stream', 'node:stream/web': 'streams',
        'node:stream/consumers': 'stream_consumers', 'node:sys': 'util',
        'node:diagnostics_channel': 'diagnostics_channel', 'node:zlib': 'zlib', 'node:https': 'https', 'node:tls': 'tls',
        'node:http2': 'http2', 'node:v8': 'node_v8', 'node:util/types': 'util_types', 'node:path/posix': 'path',
        'node:path/win32': 'path', 'node:async_hooks': 'async_hooks',
    };

    function builtinName(name) {
        if (Object.hasOwn(builtins, name) || given.has(name))
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
        case 'node:path/posix': return need('path').posix;
        case 'node:path/win32': return need('path').win32;
        case 'node:stream/promises': return need('stream').promises;
        case 'node:dns/promises': return need('dns').promises;
        case 'node:fs/promises': return need('fs_promises').promises;
        default: return given.has(name) ? given.get(name) : need(builtins[name]);
        }
    }

    function moduleClass() {
        if (!Module.builtinModules) {
            const builtinModules = Object.keys(builtins).map((name) => name.replace(/^node:/, ''));
            const isBuiltin = (id) => builtinName(id) !== undefined;
            Object.assign(Module, { Module, _cache: cache, builtinModules, createRequire, isBuiltin, stripTypeScriptTypes });
        }
        return Module;
    }

    // ---- ES modules ----

    // The map of the command line; else the one that the package of the main script names, or has in itself.
    function importMap() {
        if (map !== undefined)
            return map;
        map = null;
        const given = need('options').valueOf('--import-map');
        if (given !== undefined) {
            const file = path.resolve(host.cwd(), given);
            map = need('import_map').parse(readJSON(file), toURL(file));
        } else if (mainFile) {
            const [found, folder] = packageOf(mainFile);
            if (typeof found?.importmap === 'string')
                map = need('import_map').parse(readJSON(path.join(folder, found.importmap)),
                    toURL(path.join(folder, found.importmap)));
            else if (found?.importmap !== undefined)
                map = need('import_map').parse(found.importmap, toURL(path.join(folder, 'package.json')));
        }
        return map;
    }

    // base: the URL of an ES module, the file of a script, or the name of a text, which is one of this folder.
    function resolveImport(name, base) {
        if (!/^(?:file|data):/.test(base))
            base = base.startsWith('/') ? toURL(base) : `${toURL(host.cwd())}/`;
        const found = importMap() && need('import_map').resolve(map, name, base);
        return resolvePlain(found ?? name, base);
    }

    function resolvePlain(name, base) {
        const known = builtinName(name);
        if (known)
            return known;
        if (texts.has(name))
            return name;
        const scheme = name.match(/^([A-Za-z][A-Za-z0-9+.-]*:)/)?.[1].toLowerCase();
        if (scheme === 'node:' || scheme === 'weft:')
            throw fail(Error, 'ERR_UNKNOWN_BUILTIN_MODULE', `No such built-in module: ${name}`);
        if (scheme && scheme !== 'file:')
            return name;
        if (!scheme && base.startsWith('data:'))
            throw fail(TypeError, 'ERR_UNSUPPORTED_RESOLVE_REQUEST', `Failed to resolve module specifier "${name}" from "${
                base}": Invalid relative URL or base scheme is not hierarchical.`);
        const importer = base.startsWith('file:') ? fileURLToPath(base) : base;
        const from = importer.endsWith('/') ? importer : path.dirname(importer);
        if (!scheme && !/^\.{0,2}\//.test(name))
            return toURL(findImport(name, from, importer));
        const [, way, query] = name.match(/^([^?#]*)(.*)$/s);
        const wanted = scheme ? fileURLToPath(way) : way;
        if (/%2f|%5c/i.test(wanted))
            throw fail(TypeError, 'ERR_INVALID_MODULE_SPECIFIER', `Invalid module "${path.resolve(from, wanted)}" must not include `
                + `encoded "/" or "\\" characters imported from ${importer}`);
        return toURL(findImport(scheme ? wanted : decodeURIComponent(wanted), from, importer)) + query;
    }

    // For import.meta.resolve: what is not there has a URL all the same.
    function resolveMeta(name, base) {
        try {
            return resolveImport(`${name}`, base);
        } catch (error) {
            if (error?.url !== undefined)
                return error.url + (`${name}`.match(/[?#].*$/s)?.[0] ?? '');
            throw error;
        }
    }

    // The text of a script: of TypeScript without the types.
    function textOf(file, name = file) {
        const text = host.readText(file);
        if (!/\.[cm]?ts$/.test(file))
            return text;
        if (file.includes('/node_modules/'))
            throw fail(Error, 'ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING',
                `Stripping types is currently unsupported for files under node_modules, for "${toURL(file)}"`);
        if (stripped?.file !== file || stripped.text !== text || stripped.name !== name)
            stripped = { file, name, text, result: need('strip_types').strip(text, name) };
        return stripped.result;
    }

    function isModule(file) {
        if (/\.m[jt]s$/.test(file))
            return true;
        if (/\.(?:c[jt]s|json)$/.test(file))
            return false;
        const type = packageOf(file)[0]?.type;
        if (type === 'module' || type === 'commonjs')
            return type === 'module';
        return looksLikeModule(textOf(file));
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

    // Whether a module is what its importer says that it is.
    function checkType(name, isJSON, attributes) {
        const type = attributes?.type;
        if (type !== undefined && type !== 'json')
            throw fail(TypeError, 'ERR_IMPORT_ASSERTION_TYPE_UNSUPPORTED', `Import attribute type "${type}" is unsupported`);
        if (isJSON && type === undefined)
            throw fail(TypeError, 'ERR_IMPORT_ASSERTION_TYPE_MISSING',
                `Module "${name}" needs an import attribute of type "json"`);
        if (!isJSON && type === 'json')
            throw fail(TypeError, 'ERR_IMPORT_ASSERTION_TYPE_FAILED', `Module "${name}" is not of type "json"`);
    }

    // The engine's question: ['text', text, meta] or ['object', exports].
    function loadImport(name, attributes) {
        if (builtinName(name) === name) {
            checkType(name, false, attributes);
            const value = builtin(name);
            return ['object', exportsOf(value, name.startsWith('node:') ? value : value.default ?? value)];
        }
        const resolve = (other) => resolveMeta(other, name);
        if (name.startsWith('data:'))
            return loadData(name, attributes, { resolve, url: name });
        if (texts.has(name))
            return ['text', texts.get(name), { dirname: host.cwd(), filename: name.replace(/^file:../, ''), resolve, url: name }];
        if (!name.startsWith('file:'))
            throw fail(Error, 'ERR_UNSUPPORTED_ESM_URL_SCHEME', 'Only URLs with a scheme in: file, data, and node are supported '
                + `by the default ESM loader. Received protocol '${name.slice(0, name.indexOf(':') + 1)}'`);
        const file = fileURLToPath(name);
        const ending = path.extname(file);
        checkType(name, ending === '.json', attributes);
        if (ending === '.json')
            return ['object', { default: /[?#]/.test(name) ? readJSON(file) : load(file) }];
        if (ending !== '' && !/^\.[cm]?[jt]s$/.test(ending))
            throw fail(TypeError, 'ERR_UNKNOWN_FILE_EXTENSION', `Unknown file extension "${ending}" for ${file}`);
        if (!isModule(file)) {
            const value = load(file);
            return ['object', exportsOf(value, value)];
        }
        return ['text', textOf(file, name), { dirname: path.dirname(file), filename: file, resolve, url: name }];
    }

    function loadData(name, attributes, meta) {
        const data = need('fetch_data').readDataUrl(name);
        const type = data && name.match(/^data:([^,;]*)/s)[1];
        if (!type)
            throw fail(TypeError, 'ERR_INVALID_URL', 'Invalid URL', { input: name });
        const isJSON = type === 'application/json';
        if (!isJSON && !/^(text|application)\/javascript$/.test(type))
            throw fail(RangeError, 'ERR_UNKNOWN_MODULE_FORMAT', `Unknown module format: ${type} for URL ${name}`);
        checkType(name, isJSON, attributes);
        const text = new TextDecoder().decode(data.bytes);
        return isJSON ? ['object', { default: JSON.parse(text) }] : ['text', text, meta];
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
            return importNow(file, parent);
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

    // An ES module by require: it is evaluated at once, if it can be.
    function importNow(file, parent) {
        const [state, result, namespace] = host.importNow(toURL(file)) ?? [];
        const by = parent?.filename ? ` from ${parent.filename}` : '';
        if (state === undefined)
            throw fail(Error, 'ERR_REQUIRE_ESM', `require() of ES Module ${file}${by} not supported.`);
        if (state === 'running')
            throw fail(Error, 'ERR_REQUIRE_CYCLE_MODULE', `Cannot require() ES Module ${file} in a cycle.`);
        if (state === 'rejected')
            throw result;
        if (state === 'pending')
            throw fail(Error, 'ERR_REQUIRE_ASYNC_MODULE', 'require() cannot be used on an ESM graph with top-level await. Use '
                + `import() instead.\n  From ${parent?.filename ?? host.cwd()} \n  Requiring ${file} `);
        if ('module.exports' in namespace)
            return namespace['module.exports'];
        if (!('default' in namespace) || '__esModule' in namespace)
            return namespace;
        return withMark(toURL(file));
    }

    // The same module with a mark that tells CommonJS where its default is.
    function withMark(url) {
        const name = `required:${url}`;
        const from = JSON.stringify(url);
        texts.set(name, `export * from ${from}; export { default } from ${from}; export const __esModule = true;`);
        return host.importNow(name)[2];
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
        const fn = host.compile(wrapped(textOf(file)), file, WRAPPED_LINE);
        fn.call(module.exports, module.exports, requireOf(module.path, module), module, file, module.path);
    }

    function checkName(name) {
        if (typeof name !== 'string')
            throw need('errors').invalidArgument('id', 'string', name);
        if (name === '')
            throw need('node_error').invalidArgValue('id', name, 'must be a non-empty string');
    }

    function requireFrom(name, folder, module) {
        checkName(name);
        const known = builtinName(name);
        return known ? builtin(known) : load(findRequired(name, folder, stackOf(module)), module);
    }

    // The files that wanted it, innermost first.
    function stackOf(module) {
        const files = [];
        for (; module; module = module.parent)
            files.push(module.filename);
        return files;
    }

    // The first file that a name stands for in one of the folders.
    function resolveFrom(name, folders, module) {
        let failure;
        for (const folder of folders) {
            try {
                return findRequired(name, path.resolve(folder), stackOf(module));
            } catch (error) {
                failure = error;
            }
        }
        throw failure ?? findRequired(name, '/', stackOf(module));
    }

    function requireOf(folder, module) {
        function require(name) {
            return requireFrom(name, folder, module);
        }
        require.resolve = (name, options) => {
            checkName(name);
            return builtinName(name) ? name : resolveFrom(name, options?.paths ?? [folder], module);
        };
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
        const text = typeof from === 'string' || from instanceof URL ? String(from) : '';
        const file = text.startsWith('file:') ? fileURLToPath(text) : text;
        if (!file.startsWith('/'))
            throw need('node_error').invalidArgValue('filename', from,
                'must be a file URL object, file URL string, or absolute path string');
        const module = new Module(file.endsWith('/') ? `${file}noop.js` : file);
        return requireOf(module.path, module);
    }

    // TypeScript without its types; those cannot be made into anything else.
    function stripTypeScriptTypes(code, { mode = 'strip', sourceUrl } = {}) {
        const { validateString, invalidArgValue } = need('node_error');
        validateString(code, 'code');
        if (mode !== 'strip')
            throw invalidArgValue('options.mode', mode, 'must be \'strip\'');
        const text = need('strip_types').strip(code, sourceUrl ?? '[typescript]');
        return sourceUrl === undefined ? text : `${text}\n\n//# sourceURL=${sourceUrl}`;
    }

    // ---- The main one ----

    let mainModule;

    function findMain(name) {
        mainFile = findRequired(path.resolve(host.cwd(), name), '/');
        return mainFile;
    }

    function runMain(file) {
        return load(file, null);
    }

    // The URL of a text that is a module, and has no file. The engine asks for it by that.
    function addModule(text) {
        const url = `${toURL(host.cwd())}/[eval1]`;
        texts.set(url, text);
        return url;
    }

    // A text that is a script and has no file is one of this folder: what it has as its own is global.
    function addScript(text, name) {
        const module = new Module(path.join(host.cwd(), name), null);
        Object.assign(module, { id: name, path: '.' });
        texts.set(name, text);
        Object.assign(globalThis, {
            module, exports: module.exports, require: requireOf(host.cwd(), module), __filename: name, __dirname: '.',
        });
        addGlobals();
    }

    // Modules of Node by their names, for who types them.
    function addGlobals() {
        for (const name of Object.keys(builtins)) {
            const short = name.slice('node:'.length);
            if (!name.startsWith('node:') || short.includes('/') || short in globalThis)
                continue;
            const set = (value) => Object.defineProperty(globalThis, short, {
                value, writable: true, configurable: true, enumerable: true,
            });
            const get = () => {
                const value = builtin(name);
                set(value);
                return value;
            };
            Object.defineProperty(globalThis, short, { get, set, configurable: true, enumerable: false });
        }
    }

    // Modules of the program around us: an object, or a text.
    const giveModule = (name, exports) => void given.set(name, exports);
    const giveText = (name, text) => void texts.set(name, text);

    // The text of a script or module by the name that stacks give it; undefined: there is none.
    function sourceOf(name) {
        if (texts.has(name))
            return texts.get(name);
        try {
            if (name.startsWith('data:'))
                return loadData(name, {}, {})[1];
            return host.readText(name.startsWith('file:') ? fileURLToPath(name) : name);
        } catch {
            return undefined;
        }
    }

    return {
        resolveImport, loadImport, textOf, isModule, looksLikeModule, wrapped, WRAPPED_LINE, findMain, addModule, addScript, addGlobals, sourceOf, giveModule,
        giveText, createRequire, toURL, fileURLToPath, builtinNames: () => Object.keys(builtins), require: runMain,
    };
})
