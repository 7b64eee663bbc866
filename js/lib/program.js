// SPDX-License-Identifier: MIT
// js/lib/program.js - what the host needs to know of a program that is to be started, out of what callers say.
// host: fileKind(path)
(function (host, need) {
    'use strict';
    const OWN_SESSION = -2;
    const INHERIT = 0, NULL = 1, PIPE = 2, STREAM = 3, NUMBER = 4, OUT = 5;
    const kinds = { inherit: INHERIT, ignore: NULL, pipe: PIPE };

    const environment = () => need('process').process.env;

    // ["NAME=value", ...]
    function variables(env) {
        const list = [];
        for (const name of Object.keys(env))
            if (env[name] !== undefined)
                list.push(`${name}=${env[name]}`);
        return list;
    }

    // A name without a slash is looked for where the child's own PATH says, as Node does.
    function find(file, env) {
        const path = env.PATH;
        if (file.includes('/') || file === '' || path === undefined || path === environment().PATH)
            return file;
        for (const folder of path.split(':'))
            if (host.fileKind(`${folder || '.'}/${file}`) === 'file')
                return `${folder || '.'}/${file}`;
        return `/nonexistent/${file}`; // nowhere there: not in ours, either
    }

    // One of a child's three descriptors: [kind, stream or number].
    function descriptor(value, which) {
        if (Object.hasOwn(kinds, value))
            return [kinds[value], undefined];
        if (Number.isInteger(value) && value >= 0)
            return value === which ? [INHERIT, undefined] : [NUMBER, value];
        const { Socket, handleOf } = need('connection');
        if (value instanceof Socket)
            return [STREAM, handleOf(value)];
        if (which === 2 && value === 'stdout')
            return [OUT, undefined];
        throw new TypeError('A descriptor of a child is \'pipe\', \'inherit\', \'ignore\', a number or a connection, not '
            + String(value));
    }

    // [file, arguments] with a shell between, if there is to be one.
    function throughShell(shell, command, args) {
        if (!shell)
            return [command, args];
        const line = [command, ...args].join(' ');
        return [typeof shell === 'string' ? shell : '/bin/sh', ['-c', line]];
    }

    // The list for processSpawn and processRun. stdio: three of [kind, thing].
    function describe(file, argv, { env, cwd, isDetached }, stdio) {
        const all = env ?? environment();
        return [find(file, all), argv, variables(all), cwd, isDetached ? OWN_SESSION : 0, ...stdio.flat()];
    }

    return { describe, descriptor, throughShell };
})
