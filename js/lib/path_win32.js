// SPDX-License-Identifier: MIT
// js/lib/path_win32.js - path.win32: paths as Windows has them, for programs that handle them on other systems.
// host: nothing; process.cwd() and process.env where resolve needs them.
(function (host, need) {
    'use strict';

    function check(value, name) {
        if (typeof value !== 'string') need('node_error').validateString(value, name);
    }

    function isSeparator(char) {
        return char === '\\' || char === '/';
    }

    function hasDrive(path) {
        return /^[a-zA-Z]:/.test(path);
    }

    // The parts of a path: its device ("C:", "\\\\server\\share"), whether it starts at a root, and where the rest begins.
    function splitRoot(path) {
        if (isSeparator(path[0])) {
            const share = /^[\\/]{2}([^\\/]+)[\\/]+([^\\/]+)/.exec(path);
            if (share === null) return { device: '', isAbsolute: true, end: 1 };
            if (share[1] === '.' || share[1] === '?') return { device: `\\\\${share[1]}`, isAbsolute: true, end: 4 };
            return { device: `\\\\${share[1]}\\${share[2]}`, isAbsolute: true, end: share[0].length };
        }
        if (!hasDrive(path)) return { device: '', isAbsolute: false, end: 0 };
        const isAbsolute = path.length > 2 && isSeparator(path[2]);
        return { device: path.slice(0, 2), isAbsolute, end: isAbsolute ? 3 : 2 };
    }

    function clean(path, isAbsolute) {
        const parts = [];
        for (const part of path.split(/[\\/]/)) {
            if (part === '' || part === '.') continue;
            if (part !== '..') parts.push(part);
            else if (parts.length > 0 && parts[parts.length - 1] !== '..') parts.pop();
            else if (!isAbsolute) parts.push(part);
        }
        return parts.join('\\');
    }

    function normalize(path) {
        check(path, 'path');
        if (path.length === 0) return '.';
        if (path.length === 1) return path === '/' ? '\\' : path;
        const { device, isAbsolute, end } = splitRoot(path);
        let tail = end < path.length ? clean(path.slice(end), isAbsolute) : '';
        if (tail === '' && !isAbsolute) tail = '.';
        if (tail !== '' && isSeparator(path[path.length - 1])) tail += '\\';
        // What was not a drive must not become one.
        if (!isAbsolute && device === '' && path.includes(':') && (hasDrive(tail) || /:(?:[\\/]|$)/.test(path))) {
            return `.\\${tail}`;
        }
        return device + (isAbsolute ? '\\' : '') + tail;
    }

    function isAbsolute(path) {
        check(path, 'path');
        return path.length > 0 && (isSeparator(path[0]) || /^[a-zA-Z]:[\\/]/.test(path));
    }

    function join(...paths) {
        paths.forEach((path) => check(path, 'path'));
        const parts = paths.filter((path) => path.length > 0);
        if (parts.length === 0) return '.';
        let joined = parts.join('\\');
        // Two separators in front make a share only if the first part has them so itself.
        if (!/^[\\/]{2}[^\\/]/.test(parts[0])) joined = joined.replace(/^[\\/]{2,}/, '\\');
        return normalize(joined);
    }

    // Where a relative path starts: the current directory, of the drive if there is one.
    function startOf(device) {
        const { process } = globalThis;
        if (device === '') return process.cwd();
        const path = (process.env && process.env[`=${device}`]) || process.cwd();
        const isOther = path.slice(0, 2).toLowerCase() !== device.toLowerCase() && path[2] === '\\';
        return path === undefined || isOther ? `${device}\\` : path;
    }

    function resolve(...paths) {
        let device = '';
        let tail = '';
        let isRooted = false;
        for (let i = paths.length - 1; i >= -1 && !(isRooted && device !== ''); i--) {
            const path = i >= 0 ? paths[i] : startOf(device);
            if (i >= 0) check(path, `paths[${i}]`);
            if (path.length === 0) continue;
            const root = splitRoot(path);
            if (root.device !== '') {
                if (device === '') device = root.device;
                else if (root.device.toLowerCase() !== device.toLowerCase()) continue;
            }
            if (isRooted) continue;
            tail = `${path.slice(root.end)}\\${tail}`;
            isRooted = root.isAbsolute;
        }
        return `${device}${isRooted ? '\\' : ''}${clean(tail, isRooted)}` || '.';
    }

    function relative(from, to) {
        check(from, 'from');
        check(to, 'to');
        if (from === to) return '';
        const fromFull = resolve(from);
        const toFull = resolve(to);
        if (fromFull.toLowerCase() === toFull.toLowerCase()) return '';
        const fromParts = fromFull.split('\\').filter((part) => part !== '');
        const toParts = toFull.split('\\').filter((part) => part !== '');
        let shared = 0;
        while (shared < fromParts.length && shared < toParts.length &&
            fromParts[shared].toLowerCase() === toParts[shared].toLowerCase()) shared++;
        if (shared === 0 && (hasDrive(fromFull) || hasDrive(toFull) || fromFull.startsWith('\\\\'))) return toFull;
        return [...fromParts.slice(shared).map(() => '..'), ...toParts.slice(shared)].join('\\');
    }

    function toNamespacedPath(path) {
        if (typeof path !== 'string' || path.length === 0) return path;
        const full = resolve(path);
        if (full.length <= 2) return path;
        if (full.startsWith('\\\\')) {
            if (full[2] !== '?' && full[2] !== '.') return `\\\\?\\UNC\\${full.slice(2)}`;
        } else if (/^[a-zA-Z]:\\/.test(full)) {
            return `\\\\?\\${full}`;
        }
        return full;
    }

    // Where the last part begins and ends, not before the given place; separators at the end do not count.
    function lastPart(path, least) {
        let end = path.length;
        while (end > least && isSeparator(path[end - 1])) end--;
        let start = end;
        while (start > least && !isSeparator(path[start - 1])) start--;
        return [start, end];
    }

    function rootEnd(path) {
        if (path.length === 0) return 0;
        if (isSeparator(path[0])) {
            const share = /^[\\/]{2}[^\\/]+[\\/]+[^\\/]+([\\/]?)/.exec(path);
            return share === null ? 1 : share[0].length;
        }
        return hasDrive(path) ? (path.length > 2 && isSeparator(path[2]) ? 3 : 2) : 0;
    }

    function dirname(path) {
        check(path, 'path');
        if (path.length === 0) return '.';
        const root = rootEnd(path);
        const [start] = lastPart(path, root);
        if (start <= root) return root > 0 ? path.slice(0, root) : '.';
        return path.slice(0, start - 1);
    }

    function basename(path, suffix) {
        if (suffix !== undefined) check(suffix, 'suffix');
        check(path, 'path');
        if (suffix !== undefined && suffix === path) return '';
        const [start, end] = lastPart(path, hasDrive(path) ? 2 : 0);
        const name = path.slice(start, end);
        if (suffix === undefined || suffix.length === 0 || suffix.length > path.length || name === suffix) return name;
        if (name.endsWith(suffix)) return name.slice(0, -suffix.length);
        return suffix.endsWith(name) ? path.slice(start) : name;
    }

    function extensionAt(name) {
        const dot = name.lastIndexOf('.');
        return dot <= 0 || name === '..' ? -1 : dot;
    }

    function extname(path) {
        check(path, 'path');
        const [start, end] = lastPart(path, hasDrive(path) ? 2 : 0);
        const dot = extensionAt(path.slice(start, end));
        return dot < 0 ? '' : path.slice(start + dot, end);
    }

    function parse(path) {
        check(path, 'path');
        const result = { root: '', dir: '', base: '', ext: '', name: '' };
        if (path.length === 0) return result;
        const root = rootEnd(path);
        result.root = path.slice(0, root);
        const [start, end] = lastPart(path, root);
        result.base = path.slice(start, end);
        const dot = extensionAt(result.base);
        result.name = dot < 0 ? result.base : result.base.slice(0, dot);
        result.ext = dot < 0 ? '' : result.base.slice(dot);
        result.dir = start > root && start > 0 ? path.slice(0, start - 1) : result.root;
        return result;
    }

    function format(pathObject) {
        if (pathObject === null || typeof pathObject !== 'object') {
            throw need('node_error').invalidArgType('pathObject', 'object', pathObject);
        }
        const directory = pathObject.dir || pathObject.root;
        const extension = pathObject.ext ? (pathObject.ext[0] === '.' ? '' : '.') + pathObject.ext : '';
        const base = pathObject.base || (pathObject.name || '') + extension;
        if (!directory) return base;
        return directory === pathObject.root ? directory + base : directory + '\\' + base;
    }

    function make(posix) {
        const win32 = { resolve, normalize, isAbsolute, join, relative, toNamespacedPath, dirname, basename, extname, format,
            parse, matchesGlob: posix.matchesGlob, sep: '\\', delimiter: ';', win32: null, posix };
        win32.win32 = win32;
        win32._makeLong = toNamespacedPath;
        return win32;
    }

    return { make };
})
