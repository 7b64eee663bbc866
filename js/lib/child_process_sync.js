// SPDX-License-Identifier: MIT
// js/lib/child_process_sync.js - spawnSync, execSync and execFileSync: nothing else runs until the child has ended.
// host: processRun(program, input, limit, signal, milliseconds, is synchronous), write(fd, bytes)
(function (host, need) {
    'use strict';
    const { Buffer } = need('buffer');
    const { describe } = need('program');
    const { invalidArgType } = need('node_error');
    const { errnoException } = need('system_error');
    const { nameOf } = need('signal_names');
    const settings = need('child_process_options');
    const MOST = 1024 * 1024;

    function inputOf(input) {
        if (input === undefined || input === null)
            return undefined;
        if (typeof input === 'string')
            return Buffer.from(input);
        if (ArrayBuffer.isView(input))
            return new Uint8Array(input.buffer, input.byteOffset, input.byteLength);
        throw invalidArgType('options.stdio[0]', ['Buffer', 'TypedArray', 'DataView', 'string'], input);
    }

    function spawnSync(file, args, options) {
        const normal = settings.normalize(file, args, options);
        const { maxBuffer = MOST, timeout, encoding, input } = normal;
        settings.checkTimeout(timeout);
        settings.checkMaxBuffer(maxBuffer);
        const stdio = settings.stdioOf(normal.stdio);
        const answer = host.processRun(describe(normal.file, normal.args, normal, stdio), inputOf(input), maxBuffer ?? MOST,
            settings.killSignalOf(normal.killSignal), timeout ? timeout : -1, true);
        return resultOf(answer, normal, encoding);
    }

    function resultOf([error, pid, code, signal, out, err], { file, args }, encoding) {
        const shown = (bytes) => {
            if (bytes === null)
                return null;
            const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
            return encoding && encoding !== 'buffer' ? buffer.toString(encoding) : buffer;
        };
        const output = pid ? [null, shown(out), shown(err)] : null;
        const result = {
            ...(error ? { error: undefined } : {}), status: !pid || signal ? null : code, signal: signal ? nameOf(signal) : null,
            output, pid, stdout: output && output[1], stderr: output && output[2],
        };
        if (error)
            result.error = errnoException(error, `spawnSync ${file}`, { path: file, spawnargs: args.slice(1) });
        return result;
    }

    // What of it is an error, for those that throw.
    function check(result, command) {
        if (result.error)
            throw Object.assign(result.error, result);
        if (result.status === 0)
            return result.stdout;
        const said = result.stderr?.length > 0 ? `\n${result.stderr}` : '';
        throw Object.assign(new Error(`Command failed: ${command}${said}`), result);
    }

    function showErrors(result, options) {
        if (!options.stdio && result.stderr)
            host.write(2, result.stderr);
    }

    function execFileSync(file, args, options) {
        [args, options] = settings.sort(args, options);
        const result = spawnSync(file, args, options);
        showErrors(result, options);
        return check(result, [file, ...args].join(' '));
    }

    function execSync(command, options) {
        const shell = typeof options?.shell === 'string' ? options.shell : true;
        const result = spawnSync(command, [], { ...options, shell });
        showErrors(result, options ?? {});
        return check(result, command);
    }

    return { spawnSync, execSync, execFileSync };
})
