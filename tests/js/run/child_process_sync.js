// spawnSync, execSync and execFileSync.
const { spawnSync, execSync, execFileSync } = require('child_process');

const show = (result) => {
    console.log(Object.keys(result).join(), result.pid > 0);
    const { status, signal, output, stdout, stderr, error } = result;
    console.log(status, signal, output, stdout, stderr,
        error && [error.message, error.code, error.errno, error.syscall, error.path, error.spawnargs]);
};
const caught = (fn) => {
    try {
        console.log(fn());
    } catch (error) {
        const { message, code, status, signal, stdout, stderr } = error;
        console.log([error.name, message, code, status, signal, stdout && String(stdout), stderr && String(stderr)]);
    }
};

let turns = 0;
setImmediate(() => turns++);
show(spawnSync('echo', ['hello']));
show(spawnSync('sh', ['-c', 'echo out; echo err >&2; exit 5'], { encoding: 'utf8' }));
show(spawnSync('sh', ['-c', 'kill -9 $$']));
show(spawnSync('cat', { input: 'from here', encoding: 'utf8' }));
show(spawnSync('cat', { input: Buffer.from('bytes') }));
show(spawnSync('cat', { input: new Uint16Array([0x4241]), encoding: 'latin1' }));
show(spawnSync('no-such-program', ['a']));
show(spawnSync('sh', ['-c', 'echo begun; exec sleep 100'], { timeout: 200, encoding: 'utf8' }));
show(spawnSync('sleep', ['100'], { timeout: 20, killSignal: 'SIGKILL' }));
show(spawnSync('sh', ['-c', 'printf 123456789; exec sleep 100'], { maxBuffer: 4, encoding: 'utf8' }));
show(spawnSync('echo', ['inherited'], { stdio: 'inherit' }));
show(spawnSync('echo', ['to the output'], { stdio: ['ignore', 'inherit', 'ignore'] }));
show(spawnSync('echo $((6 * 7))', { shell: true, encoding: 'utf8' }));
show(spawnSync('pwd', { cwd: '/', encoding: 'utf8' }));
show(spawnSync('pwd', { cwd: '/nowhere' }));
show(spawnSync('sh', ['-c', 'echo $A$B'], { env: { A: 1, B: 'two' }, encoding: 'utf8' }));

caught(() => execSync('echo sync'));
caught(() => execSync('echo sync', { encoding: 'utf8' }));
caught(() => execSync('echo said; exit 3', { stdio: 'pipe' }));
caught(() => execSync('echo said; echo why >&2; exit 3', { stdio: 'pipe', encoding: 'utf8' }));
caught(() => execSync('exec sleep 100', { timeout: 20, stdio: 'pipe' }));
caught(() => execSync('cat', { input: 'in', encoding: 'utf8' }));
caught(() => execFileSync('echo', ['a', 'b'], { encoding: 'utf8' }));
caught(() => execFileSync('sh', ['-c', 'exit 9']));
caught(() => execFileSync('no-such-program'));
caught(() => spawnSync());
caught(() => spawnSync('cat', { input: 5 }));
caught(() => spawnSync('true', { stdio: 'nonsense' }));
caught(() => spawnSync('true', { timeout: 1.5 }));
console.log(turns);
