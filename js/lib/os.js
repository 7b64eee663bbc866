// SPDX-License-Identifier: MIT
// js/lib/os.js - node:os, from what /proc and the environment tell.
// host: readText(path)
(function (host, need) {
    'use strict';
    const environment = () => need('process').process.env;

    function read(file, otherwise = '') {
        try {
            return host.readText(file);
        } catch {
            return otherwise;
        }
    }

    // A line of /proc/meminfo, in bytes.
    function memory(name) {
        const found = read('/proc/meminfo').match(new RegExp(`^${name}:\\s*(\\d+) kB`, 'm'));
        return found ? Number(found[1]) * 1024 : 0;
    }

    function cpus() {
        const ticks = read('/proc/stat').matchAll(/^cpu\d+ (\d+) (\d+) (\d+) (\d+) \d+ (\d+)/gm);
        const info = read('/proc/cpuinfo');
        const models = Array.from(info.matchAll(/^model name\s*: (.*)$/gm), (match) => match[1]);
        const speeds = Array.from(info.matchAll(/^cpu MHz\s*: (.*)$/gm), (match) => Math.trunc(Number(match[1])));
        return Array.from(ticks, ([, user, nice, sys, idle, irq], i) => ({
            model: models[i] ?? 'unknown', speed: speeds[i] ?? 0,
            times: { user: 10 * user, nice: 10 * nice, sys: 10 * sys, idle: 10 * idle, irq: 10 * irq },
        }));
    }

    function userInfo() {
        const [, uid, gid] = read('/proc/self/status').match(/^Uid:\s*(\d+)[^]*?^Gid:\s*(\d+)/m) ?? [null, '-1', '-1'];
        const line = read('/etc/passwd').split('\n').map((text) => text.split(':')).find((fields) => fields[2] === uid);
        const constants = { signals: { ...need('signal_names').signals }, get errno() { return need('errno'); } };
    return {
            uid: Number(uid), gid: Number(gid), username: line?.[0] ?? environment().USER ?? '',
            homedir: line?.[5] ?? homedir(), shell: line?.[6] ?? null,
        };
    }

    function homedir() {
        return environment().HOME ?? userInfo().homedir;
    }

    function tmpdir() {
        const { TMPDIR, TMP, TEMP } = environment();
        const path = TMPDIR || TMP || TEMP || '/tmp';
        return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
    }

    const constants = { signals: { ...need('signal_names').signals }, get errno() { return need('errno'); } };

    return {
        EOL: '\n', devNull: '/dev/null', constants,
        cpus, userInfo, homedir, tmpdir,
        arch: () => need('process').process.arch,
        availableParallelism: () => Math.max(1, cpus().length),
        endianness: () => (new Uint8Array(Uint16Array.of(1).buffer)[0] === 1 ? 'LE' : 'BE'),
        freemem: () => memory('MemAvailable'),
        totalmem: () => memory('MemTotal'),
        hostname: () => read('/proc/sys/kernel/hostname').trim(),
        loadavg: () => read('/proc/loadavg', '0 0 0').split(' ').slice(0, 3).map(Number),
        machine: () => ({ x64: 'x86_64', arm64: 'aarch64' })[need('process').process.arch] ?? 'unknown',
        networkInterfaces: () => ({}),
        platform: () => 'linux',
        release: () => read('/proc/sys/kernel/osrelease').trim(),
        type: () => 'Linux',
        uptime: () => Number(read('/proc/uptime', '0').split(' ')[0]),
        version: () => read('/proc/sys/kernel/version').trim(),
    };
})
