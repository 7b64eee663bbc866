// SPDX-License-Identifier: MIT
// js/lib/inspect_error.js - how inspect shows an error: name, message, stack, and the cause below.
// host: typeTag(value).
(function (host, need) {
    'use strict';

    const IS_NODE_ERROR = Symbol.for('weft.nodeError');

    function isError(value) {
        return typeof value === 'object' && value !== null && (host.typeTag(value) === 'Error' || value instanceof Error);
    }

    // "name: message", as Error.prototype.toString has it, with the code of the errors of our own modules.
    function headOf(error) {
        let name;
        let message;
        try {
            name = error.name === undefined ? 'Error' : String(error.name);
            message = error.message === undefined ? '' : String(error.message);
        } catch {
            return 'Error';
        }
        if (error[IS_NODE_ERROR]) name += ' [' + error.code + ']';
        if (name === '') return message;
        return message === '' ? name : name + ': ' + message;
    }

    // The engine's own stack of an error that has lost its prototype.
    function engineStack(error) {
        const descriptor = Object.getOwnPropertyDescriptor(Error.prototype, 'stack');
        return descriptor && descriptor.get && host.typeTag(error) === 'Error' ? descriptor.get.call(error) : undefined;
    }

    // The stack with a first line: the engine gives the frames only.
    function stackText(error) {
        let { stack } = error;
        if (stack === undefined && !('stack' in error)) stack = engineStack(error);
        if (typeof stack !== 'string') return stack ? String(stack) : Error.prototype.toString.call(error);
        if (stack !== '' && !/^\s+at /.test(stack)) return stack;
        const frames = stack.replace(/\s+$/, '');
        return frames === '' ? headOf(error) : headOf(error) + '\n' + frames;
    }

    // Own keys that the stack tells anyway are not shown again.
    function dropKeysToldByStack(context, keys, error, stack) {
        if (context.showHidden) {
            // The engine keeps the stack off the object; Node shows it among the hidden keys.
            if (host.typeTag(error) !== 'Error') return;
            const index = keys.indexOf('stack');
            if (index >= 0) keys.splice(index, 1);
            keys.unshift('stack');
            return;
        }
        for (const name of ['name', 'message', 'stack']) {
            const index = keys.indexOf(name);
            if (index >= 0 && stack.includes(String(error[name]))) keys.splice(index, 1);
        }
    }

    // The name a stack begins with, up to the colon or the first frame; empty if it begins with something else.
    function leadingName(stack) {
        const end = stack.search(/:|\n\s+at|$/);
        const head = stack.slice(0, end);
        const isName = /^[A-Z][\w ()[\]-]+$/.test(head) && end < stack.length;
        return isName || /^[\w-]*Error$/.test(head) ? head : '';
    }

    // The class of the error stands first, even if the class did not set a name.
    function withClassName(tools, stack, constructor, name, tag) {
        const known = name.endsWith('Error') && stack.startsWith(name) &&
            (stack.length === name.length || stack[name.length] === ':' || stack[name.length] === '\n');
        if (constructor !== null && !known) return stack;
        let fallback = 'Error';
        let { length } = name;
        if (constructor === null) {
            fallback = leadingName(stack);
            length = fallback.length;
            fallback = fallback || 'Error';
        }
        const wanted = tools.prefix(constructor, tag, fallback).slice(0, -1);
        if (name === wanted) return stack;
        if (!wanted.includes(name)) return wanted + ' [' + name + ']' + stack.slice(length);
        return length === 0 ? wanted + ': ' + stack : wanted + stack.slice(length);
    }

    // The longest run of frames that both stacks share: [length, where it starts in the first].
    function sharedRun(frames, other) {
        for (let i = 0; i < frames.length - 3; i++) {
            const at = other.indexOf(frames[i]);
            if (at < 0) continue;
            const rest = other.length - at;
            if (rest <= 3) continue;
            let length = 1;
            const most = Math.min(frames.length - i, rest);
            while (length < most && frames[i + length] === other[at + length]) length++;
            if (length > 3) return [length, i];
        }
        return [0, 0];
    }

    function framesOf(context, error, part) {
        const frames = part.split('\n');
        let cause;
        try {
            ({ cause } = error);
        } catch {
            return frames;
        }
        if (!isError(cause)) return frames;
        const stack = stackText(cause);
        const start = stack.indexOf('\n    at');
        if (start < 0) return frames;
        const [length, at] = sharedRun(frames, stack.slice(start + 1).split('\n'));
        if (length > 3) {
            const note = '    ... ' + (length - 2) + ' lines matching cause stack trace ...';
            frames.splice(at + 1, length - 2, context.stylize(note, 'undefined'));
        }
        return frames;
    }

    function addKey(keys, key) {
        if (!keys.includes(key)) keys.push(key);
    }

    // What stands before the braces of an error. Takes from the keys what it tells itself.
    function errorBase(tools, context, error, constructor, tag, keys) {
        const name = error.name === undefined || error.name === null ? 'Error' : String(error.name);
        let stack = stackText(error);
        dropKeysToldByStack(context, keys, error, stack);
        if ('cause' in error) addKey(keys, 'cause');
        if (Array.isArray(error.errors)) addKey(keys, 'errors');
        stack = withClassName(tools, stack, constructor, name, tag);
        let from = typeof error.message === 'string' && error.message !== '' ? stack.indexOf(error.message) : -1;
        if (from !== -1) from += error.message.length;
        const start = stack.indexOf('\n    at', from);
        if (start < 0) stack = '[' + stack + ']';
        else stack = stack.slice(0, start) + '\n' + framesOf(context, error, stack.slice(start + 1)).join('\n');
        if (context.indentationLvl !== 0) stack = stack.replaceAll('\n', '\n' + ' '.repeat(context.indentationLvl));
        return stack;
    }

    return { errorBase, stackText, isError, headOf, IS_NODE_ERROR };
})
