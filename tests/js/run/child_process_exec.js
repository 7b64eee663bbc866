// exec and execFile: with callbacks and with promises, limits, failures.
const { exec, execFile } = require('child_process');
const { promisify } = require('util');

const show = (error, stdout, stderr) => {
    const { message, code, killed, signal, cmd } = error ?? {};
    console.log([message, code, killed, signal, cmd], stdout, stderr, error ? Object.keys(error).join() : error);
};
const run = (fn, ...args) => new Promise((resolve) => {
    const child = fn(...args, (...told) => {
        show(...told);
        resolve(child);
    });
});

(async () => {
    await run(exec, 'echo one; echo two >&2');
    await run(exec, 'echo said; echo failed >&2; exit 7');
    await run(exec, 'kill -9 $$');
    await run(exec, 'no-such-command-at-all 2>/dev/null');
    await run(execFile, 'echo', ['a b', '$HOME']);
    await run(execFile, 'no-such-program');
    await run(execFile, 'no-such-program', ['with', 'arguments']);
    await run(execFile, 'sh', ['-c', 'exit 2']);
    await run(execFile, 'pwd', { cwd: '/' });
    await run(execFile, 'printf', ['\\303\\274'], { encoding: 'buffer' });
    await run(execFile, 'printf', ['\\303\\274'], { encoding: 'hex' });
    await run(execFile, 'echo', ['123456789'], { maxBuffer: 4 });
    await run(exec, 'exec sleep 100', { timeout: 20 });
    await run(exec, 'exec sleep 100', { timeout: 20, killSignal: 'SIGKILL' });
    await run(execFile, 'echo through $((1 + 1)) shell', { shell: true });

    const promise = promisify(exec)('echo promised; echo beside >&2');
    console.log(promise.child.pid > 0, await promise);
    console.log(await promisify(execFile)('echo', ['also']));
    const failed = ({ message, code, stdout, stderr }) => console.log(message, code, stdout, stderr);
    await promisify(exec)('echo out; exit 3').catch(failed);
    await promisify(execFile)('no-such-program').catch(failed);

    const controller = new AbortController();
    const aborted = new Promise((resolve) => {
        execFile('sleep', ['100'], { signal: controller.signal }, (error) => {
            console.log(error.name, error.code, error.message, error.cmd);
            resolve();
        });
    });
    controller.abort();
    await aborted;

    // Without a callback, with input.
    const child = execFile('cat');
    let text = '';
    child.stdout.on('data', (chunk) => (text += chunk));
    child.stdin.end('into it');
    child.on('close', (code) => console.log(code, text));

    for (const wrong of [() => exec(), () => exec(5), () => execFile(''), () => execFile('true', 'arguments'),
        () => execFile('true', [], { timeout: -1 }), () => execFile('true', [], { maxBuffer: -1 }),
        () => execFile('true', [], { killSignal: 'SIGNONSENSE' }), () => execFile('true', [], {}, 'callback'),
        () => execFile('true', [], { cwd: 5 }), () => execFile('true', [], { shell: 5 }), () => execFile('tr\0ue'),
        () => execFile('true', ['a\0b']), () => execFile('true', [], { env: { A: 'b\0' } }),
        () => execFile('true', [], { signal: 5 })]) {
        try {
            wrong();
            console.log('nothing was thrown');
        } catch (error) {
            console.log(error.name, error.code, error.message);
        }
    }
})();
