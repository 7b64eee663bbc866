// SPDX-License-Identifier: MIT
// js/lib/import_map.js - import maps: what names of modules stand for, for all importers or for those below a URL.
//
// A map is parsed into { imports, scopes } of lists, longest keys first, so that the first key that fits is the right one. An
// address that is none is null: who imports it is told so.
(function (host, need) {
    'use strict';
    const { fail } = need('module_find');

    const isURL = (text) => /^[A-Za-z][A-Za-z0-9+.-]*:/.test(text);

    // A name that is a URL, or a path, which belongs to a base; null: it is just a name.
    function asURL(name, base) {
        if (!/^\.{0,2}\//.test(name) && !isURL(name))
            return null;
        return URL.canParse(name, base) ? new URL(name, base).href : null;
    }

    function warn(text) {
        need('node_error').emitWarning(text, 'ImportMapWarning');
    }

    function checkTable(value, what) {
        if (typeof value !== 'object' || value === null || Array.isArray(value))
            throw fail(TypeError, 'ERR_INVALID_IMPORT_MAP', `Import map: ${what} must be an object`);
    }

    const longestFirst = (a, b) => (a[0] < b[0] ? 1 : -1);

    function addressOf(key, value, base) {
        if (value === null)
            return null;
        const address = typeof value === 'string' ? asURL(value, base) : null;
        if (address === null)
            warn(`import map: the address ${JSON.stringify(value)} of "${key}" is no URL and does not begin with /, ./ or ../`);
        else if (key.endsWith('/') && !address.endsWith('/'))
            warn(`import map: the address "${value}" of "${key}" must end with a slash, too`);
        else
            return address;
        return null;
    }

    function parseTable(table, base) {
        const entries = new Map();
        for (const key of Object.keys(table)) {
            if (key === '')
                warn('import map: an empty name is left out');
            else
                entries.set(asURL(key, base) ?? key, addressOf(key, table[key], base));
        }
        return [...entries].sort(longestFirst);
    }

    function parse(value, base) {
        checkTable(value, 'it');
        const { imports = {}, scopes = {} } = value;
        checkTable(imports, '"imports"');
        checkTable(scopes, '"scopes"');
        const parsed = [];
        for (const prefix of Object.keys(scopes)) {
            checkTable(scopes[prefix], `scope "${prefix}"`);
            if (URL.canParse(prefix, base))
                parsed.push([new URL(prefix, base).href, parseTable(scopes[prefix], base)]);
            else
                warn(`import map: the scope "${prefix}" is no URL`);
        }
        return { imports: parseTable(imports, base), scopes: parsed.sort(longestFirst) };
    }

    // ---- Looking up ----

    function refuse(name, key, why) {
        return fail(TypeError, 'ERR_IMPORT_MAP', `Cannot resolve "${name}": the import map's entry "${key}" ${why}`);
    }

    const isSpecial = (url) => /^(?:https?|wss?|ftp|file):/i.test(url);

    function match(table, name, url) {
        const wanted = url ?? name;
        for (const [key, address] of table) {
            if (key === wanted) {
                if (address === null)
                    throw refuse(name, key, 'is blocked by null');
                return address;
            }
            if (!key.endsWith('/') || !wanted.startsWith(key) || (url !== null && !isSpecial(url)))
                continue;
            if (address === null)
                throw refuse(name, key, 'is blocked by null');
            const rest = wanted.slice(key.length);
            if (!URL.canParse(rest, address))
                throw refuse(name, key, `and "${rest}" make no URL`);
            const found = new URL(rest, address).href;
            if (!found.startsWith(address))
                throw refuse(name, key, `does not let "${rest}" lead out of ${address}`);
            return found;
        }
        return undefined;
    }

    // The URL that a name stands for, to the module whose URL is base; undefined: the map does not say.
    function resolve(map, name, base) {
        const url = asURL(name, base);
        for (const [prefix, table] of map.scopes) {
            if (prefix === base || (prefix.endsWith('/') && base.startsWith(prefix))) {
                const found = match(table, name, url);
                if (found !== undefined)
                    return found;
            }
        }
        return match(map.imports, name, url);
    }

    return { parse, resolve };
})
