// SPDX-License-Identifier: MIT
// js/lib/module_find.js - the file behind the name of a module: beside its importer, or in a package and its "exports" and "imports".
// host: readText(path), fileKind(path), realPath(path)
(function (host, need) {
    'use strict';
    const path = need('path');
    const packages = new Map(); // folder -> package.json or null
    const conditions = {
        import: ['import', 'node', 'module-sync', 'default'], require: ['require', 'node', 'module-sync', 'default'],
    };
    const endings = ['', '.js', '.json'];

    const fail = (Base, code, text, extra) => need('node_error').nodeError(Base, code, text, extra);
    const isFile = (file) => host.fileKind(file) === 'file';
    const imported = (base) => (base ? ` imported from ${base}` : '');

    // ---- Files and URLs ----

    function toURL(file) {
        return `file://${file.replace(/[^A-Za-z0-9/._!$&'()*+,;=:@-]+/gu, encodeURIComponent).replaceAll('~', '%7E')}`;
    }

    function fileURLToPath(url) {
        const text = String(url);
        if (!/^file:/i.test(text))
            throw fail(TypeError, 'ERR_INVALID_URL_SCHEME', 'The URL must be of scheme file');
        const [, name, rest] = text.match(/^file:(?:\/\/([^/?#]*))?([^?#]*)/is);
        if (name && name !== 'localhost')
            throw fail(TypeError, 'ERR_INVALID_FILE_URL_HOST', 'File URL host must be "localhost" or empty on linux');
        if (/%2f/i.test(rest))
            throw fail(TypeError, 'ERR_INVALID_FILE_URL_PATH', 'File URL path must not include encoded / characters');
        return decodeURIComponent(rest);
    }

    // ---- package.json ----

    function readJSON(file) {
        try {
            return JSON.parse(host.readText(file).replace(/^\ufeff/, ''));
        } catch (error) {
            if (error instanceof SyntaxError)
                error.message = `${file}: ${error.message}`;
            throw error;
        }
    }

    function readPackage(folder) {
        if (!packages.has(folder)) {
            const file = path.join(folder, 'package.json');
            let found = null;
            try {
                found = isFile(file) ? readJSON(file) : null;
            } catch (error) {
                throw fail(Error, 'ERR_INVALID_PACKAGE_CONFIG', `Invalid package config ${file}.`, { cause: error });
            }
            packages.set(folder, typeof found === 'object' ? found : null);
        }
        return packages.get(folder);
    }

    // The nearest package.json above a file, and its folder.
    function packageOf(file) {
        for (let folder = path.dirname(file); ; folder = path.dirname(folder)) {
            const found = readPackage(folder);
            if (found || folder === '/' || path.basename(folder) === 'node_modules')
                return [found, folder];
        }
    }

    // ---- "exports" and "imports" of packages ----

    function pick(target, wanted, star) {
        if (typeof target === 'string')
            return target.replaceAll('*', () => star);
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
        if (Object.hasOwn(table, key) && !key.includes('*'))
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
        const where = `in ${folder}/package.json${imported(base)}`;
        if (!target)
            throw fail(Error, 'ERR_PACKAGE_PATH_NOT_EXPORTED', subpath === '.' ? `No "exports" main defined ${where}`
                : `Package subpath '${subpath}' is not defined by "exports" ${where}`);
        if (!target.startsWith('./') || /(^|\/)(\.\.?|node_modules)(\/|$)/i.test(target.slice(2)))
            throw fail(Error, 'ERR_INVALID_PACKAGE_TARGET', `Invalid "exports" target ${JSON.stringify(target)} defined for '${
                subpath}' in the package config ${folder}/package.json${imported(base)}; targets must start with "./"`);
        return path.join(folder, target);
    }

    function importOf(name, from, kind, base) {
        const [own, folder] = packageOf(path.join(from, 'x'));
        const target = own?.imports && lookUp(own.imports, name, conditions[kind]);
        if (!target)
            throw fail(TypeError, 'ERR_PACKAGE_IMPORT_NOT_DEFINED', `Package import specifier "${name}" is not defined${
                own ? ` in package ${folder}/package.json` : ''}${imported(base)}`);
        return target.startsWith('./') ? path.join(folder, target) : target;
    }

    // ---- Resolution ----

    function asFile(file) {
        for (const ending of endings)
            if (isFile(file + ending))
                return file + ending;
        return undefined;
    }

    function asFolder(folder) {
        if (host.fileKind(folder) !== 'folder')
            return undefined;
        const main = readPackage(folder)?.main;
        return (typeof main === 'string' && (asFile(path.join(folder, main)) ?? asFile(path.join(folder, main, 'index'))))
            || asFile(path.join(folder, 'index'));
    }

    function splitName(name, base) {
        const parts = name.split('/');
        const count = name.startsWith('@') ? 2 : 1;
        if (parts.length < count || /^\.|[\\%]/.test(name))
            throw fail(TypeError, 'ERR_INVALID_MODULE_SPECIFIER',
                `Invalid module "${name}" is not a valid package name${imported(base)}`);
        return [parts.slice(0, count).join('/'), ['.', ...parts.slice(count)].join('/')];
    }

    function fromPackages(packageName, subpath, from, kind, base) {
        const [own, ownFolder] = packageOf(path.join(from, 'x'));
        if (own?.name === packageName && own.exports !== undefined && own.exports !== null)
            return exportOf(own, ownFolder, subpath, kind, base);
        for (let folder = from; ; folder = path.dirname(folder)) {
            const place = path.join(folder, 'node_modules', packageName);
            if (host.fileKind(place) === 'folder') {
                const found = readPackage(place);
                if (found?.exports !== undefined && found.exports !== null)
                    return exportOf(found, place, subpath, kind, base);
                const file = path.join(place, subpath);
                const plain = (subpath !== '.' && asFile(file)) || asFolder(file);
                if (plain || kind === 'import')
                    return plain ?? file;
            } else if (kind === 'require' && subpath === '.') {
                const file = asFile(place); // node_modules/name.js
                if (file)
                    return file;
            }
            if (folder === '/')
                return undefined;
        }
    }

    const isPath = (name) => /^\.{0,2}\//.test(name) || name === '.' || name === '..';

    // For import: the file behind a path, or the name of a package, for somebody in the folder from.
    function findImport(name, from, base) {
        if (name.startsWith('#'))
            name = importOf(name, from, 'import', base);
        let file;
        if (isPath(name)) {
            file = name.startsWith('/') ? path.normalize(name) : path.join(from, name);
        } else {
            const [packageName, subpath] = splitName(name, base);
            file = fromPackages(packageName, subpath, from, 'import', base);
            if (file === undefined)
                throw fail(Error, 'ERR_MODULE_NOT_FOUND', `Cannot find package '${packageName}'${imported(base)}`);
        }
        const kind = host.fileKind(file);
        if (kind === 'folder')
            throw fail(Error, 'ERR_UNSUPPORTED_DIR_IMPORT',
                `Directory import '${file}' is not supported resolving ES modules${imported(base)}`, { url: toURL(file) });
        if (kind !== 'file')
            throw fail(Error, 'ERR_MODULE_NOT_FOUND', `Cannot find module '${file}'${imported(base)}`, { url: toURL(file) });
        return host.realPath(file);
    }

    // For require; stack: the files that wanted it, innermost first.
    function findRequired(name, from, stack = []) {
        let wanted = name;
        let file;
        if (/^(node|weft):/.test(name))
            throw fail(Error, 'ERR_UNKNOWN_BUILTIN_MODULE', `No such built-in module: ${name}`);
        if (name.startsWith('#'))
            wanted = importOf(name, from, 'require', stack[0]);
        if (wanted !== name && isPath(wanted)) {
            file = wanted;
            name = wanted;
            stack = undefined;
        } else if (isPath(wanted)) {
            const place = path.resolve(from, wanted);
            const isFolder = wanted.endsWith('/') || /(^|\/)\.\.?$/.test(wanted);
            file = (isFolder ? undefined : asFile(place)) ?? asFolder(place) ?? (isFolder ? asFile(place) : undefined);
        } else {
            const parts = wanted.split('/');
            const count = wanted.startsWith('@') ? 2 : 1;
            file = fromPackages(parts.slice(0, count).join('/'), ['.', ...parts.slice(count)].join('/'), from, 'require', stack[0]);
        }
        if (file && isFile(file))
            return host.realPath(file);
        const below = stack?.length ? `\nRequire stack:\n- ${stack.join('\n- ')}` : '';
        const error = new Error(`Cannot find module '${name}'${below}`);
        error.code = 'MODULE_NOT_FOUND';
        if (stack)
            error.requireStack = stack;
        throw error;
    }

    return { toURL, fileURLToPath, readJSON, packageOf, findImport, findRequired, fail };
})
