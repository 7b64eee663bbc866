// SPDX-License-Identifier: MIT
// js/lib/path.js - node:path: paths as POSIX has them. path.win32 is made from path_win32.js when it is asked for.
// host: nothing; process.cwd() where resolve needs it.
(function (host, need) {
    'use strict';

    const SLASH = 47;

    function check(value, name) {
        if (typeof value !== 'string') need('node_error').validateString(value, name);
    }

    // Resolves "." and ".." and doubled slashes. What would climb above the root is dropped where the path is absolute.
    function clean(path, isAbsolute) {
        const parts = [];
        for (const part of path.split('/')) {
            if (part === '' || part === '.') continue;
            if (part !== '..') parts.push(part);
            else if (parts.length > 0 && parts[parts.length - 1] !== '..') parts.pop();
            else if (!isAbsolute) parts.push(part);
        }
        return parts.join('/');
    }

    function normalize(path) {
        check(path, 'path');
        if (path.length === 0) return '.';
        const isAbsolute = path.charCodeAt(0) === SLASH;
        const endsInSlash = path.charCodeAt(path.length - 1) === SLASH;
        let result = clean(path, isAbsolute);
        if (result.length === 0) {
            if (isAbsolute) return '/';
            return endsInSlash ? './' : '.';
        }
        if (endsInSlash) result += '/';
        return isAbsolute ? '/' + result : result;
    }

    function currentDirectory() {
        return globalThis.process.cwd();
    }

    function resolve(...paths) {
        let path = '';
        let isAbsolute = false;
        for (let i = paths.length - 1; i >= 0 && !isAbsolute; i--) {
            check(paths[i], `paths[${i}]`);
            if (paths[i].length === 0) continue;
            path = paths[i] + '/' + path;
            isAbsolute = paths[i].charCodeAt(0) === SLASH;
        }
        if (!isAbsolute) {
            const directory = currentDirectory();
            path = directory + '/' + path;
            isAbsolute = directory.charCodeAt(0) === SLASH;
        }
        const result = clean(path, isAbsolute);
        if (isAbsolute) return '/' + result;
        return result.length > 0 ? result : '.';
    }

    function isAbsolute(path) {
        check(path, 'path');
        return path.length > 0 && path.charCodeAt(0) === SLASH;
    }

    function join(...paths) {
        let joined = '';
        for (const path of paths) {
            check(path, 'path');
            if (path.length > 0) joined += joined === '' ? path : '/' + path;
        }
        return joined === '' ? '.' : normalize(joined);
    }

    function relative(from, to) {
        check(from, 'from');
        check(to, 'to');
        if (from === to) return '';
        from = resolve(from);
        to = resolve(to);
        if (from === to) return '';
        const fromParts = from === '/' ? [] : from.slice(1).split('/');
        const toParts = to === '/' ? [] : to.slice(1).split('/');
        let shared = 0;
        while (shared < fromParts.length && shared < toParts.length && fromParts[shared] === toParts[shared]) shared++;
        return [...fromParts.slice(shared).map(() => '..'), ...toParts.slice(shared)].join('/');
    }

    function toNamespacedPath(path) {
        return path;
    }

    // Where the last part begins and ends; slashes at the end do not count.
    function lastPart(path) {
        let end = path.length;
        while (end > 0 && path.charCodeAt(end - 1) === SLASH) end--;
        return [end === 0 ? 0 : path.lastIndexOf('/', end - 1) + 1, end];
    }

    function dirname(path) {
        check(path, 'path');
        if (path.length === 0) return '.';
        // The first character is never a slash at the end: "/" is its own directory.
        let end = path.length;
        while (end > 1 && path.charCodeAt(end - 1) === SLASH) end--;
        const slash = path.lastIndexOf('/', end - 1);
        if (slash < 0) return '.';
        if (slash === 0) return '/';
        if (slash === 1 && path.charCodeAt(0) === SLASH) return '//';
        return path.slice(0, slash);
    }

    function basename(path, suffix) {
        if (suffix !== undefined) check(suffix, 'suffix');
        check(path, 'path');
        if (suffix !== undefined && suffix === path) return '';
        const [start, end] = lastPart(path);
        const name = path.slice(start, end);
        if (suffix === undefined || suffix.length === 0 || suffix.length > path.length || name === suffix) return name;
        if (name.endsWith(suffix)) return name.slice(0, -suffix.length);
        // As in Node: a name that is itself the end of the suffix keeps its slashes.
        return suffix.endsWith(name) ? path.slice(start) : name;
    }

    // Where the extension of a name begins; -1 if it has none. A dot in front makes no extension.
    function extensionAt(name) {
        const dot = name.lastIndexOf('.');
        return dot <= 0 || name === '..' ? -1 : dot;
    }

    function extname(path) {
        check(path, 'path');
        const [start, end] = lastPart(path);
        const name = path.slice(start, end);
        const dot = extensionAt(name);
        return dot < 0 ? '' : name.slice(dot);
    }

    function format(pathObject) {
        if (pathObject === null || typeof pathObject !== 'object') {
            throw need('node_error').invalidArgType('pathObject', 'object', pathObject);
        }
        const directory = pathObject.dir || pathObject.root;
        const extension = pathObject.ext ? (pathObject.ext[0] === '.' ? '' : '.') + pathObject.ext : '';
        const base = pathObject.base || (pathObject.name || '') + extension;
        if (!directory) return base;
        return directory === pathObject.root ? directory + base : directory + '/' + base;
    }

    function parse(path) {
        check(path, 'path');
        const result = { root: '', dir: '', base: '', ext: '', name: '' };
        if (path.length === 0) return result;
        const isRooted = path.charCodeAt(0) === SLASH;
        if (isRooted) result.root = '/';
        const [start, end] = lastPart(path);
        if (end > 0) {
            result.base = path.slice(start, end);
            // As in Node: ".." right below the root has an extension.
            const dot = isRooted && start === 1 && result.base === '..' ? 1 : extensionAt(result.base);
            result.name = dot < 0 ? result.base : result.base.slice(0, dot);
            result.ext = dot < 0 ? '' : result.base.slice(dot);
        }
        if (start > 1) result.dir = path.slice(0, start - 1);
        else if (isRooted) result.dir = '/';
        return result;
    }

    function matchesGlob(path, pattern) {
        check(path, 'path');
        check(pattern, 'pattern');
        return need('path_glob').matches(path, pattern);
    }

    const posix = { resolve, normalize, isAbsolute, join, relative, toNamespacedPath, dirname, basename, extname, format,
        parse,
        matchesGlob, sep: '/', delimiter: ':', win32: null, posix: null };
    posix.posix = posix;
    Object.defineProperty(posix, 'win32', {
        get() {
            const value = need('path_win32').make(posix);
            Object.defineProperty(posix, 'win32', { value, writable: true, configurable: true, enumerable: true });
            return value;
        },
        set(value) { Object.defineProperty(posix, 'win32', { value, writable: true, configurable: true, enumerable:
            true }); },
        configurable: true,
        enumerable: true,
    });
    posix._makeLong = toNamespacedPath;
    return posix;
})
