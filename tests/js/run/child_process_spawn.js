// spawn: what a child is told and says, how it ends, and in which order that is told.
const { spawn, ChildProcess } = require('child_process');

const steps = [talk, refused, killed, untouched, descriptors, environment, limits, held];
const next = () => steps.shift()?.();

function note(child) {
    const seen = [];
    for (const name of ['spawn', 'error', 'exit', 'close'])
        child.on(name, (...told) => seen.push([name, ...told.map((value) => value?.code ?? value)].join(' ')));
    return seen;
}

function talk() {
    const child = spawn('sh', ['-c', 'read line; echo "you said $line"; echo trouble >&2; exit 3']);
    const seen = note(child);
    let out = '', err = '';
    console.log(child instanceof ChildProcess, child.pid > 0, child.spawnfile, child.spawnargs, child.connected);
    console.log(child.exitCode, child.signalCode, child.killed, child.stdio.length, child.stdio[1] === child.stdout);
    child.stdout.setEncoding('utf8').on('data', (text) => (out += text));
    child.stderr.on('data', (bytes) => (err += bytes));
    child.stdin.end('hello\n');
    child.on('exit', () => console.log('stdin', child.stdin.destroyed));
    child.on('close', () => {
        console.log(seen, JSON.stringify(out), JSON.stringify(err), child.exitCode, child.signalCode, child.killed);
        next();
    });
}

function refused() {
    const child = spawn('no-such-program', ['one', 'two']);
    const seen = note(child);
    console.log(child.pid, child.stdin.writable, child.stdout.readable);
    child.stdin.on('error', () => {});
    child.on('error', (error) => console.log(error.message, error.errno, error.syscall, error.path, error.spawnargs));
    child.on('close', () => {
        console.log(seen, child.exitCode, child.kill());
        next();
    });
}

function killed() {
    const child = spawn('sleep', ['100']);
    const seen = note(child);
    child.on('spawn', () => console.log(child.kill(0), child.kill('SIGINT'), child.killed));
    child.on('close', () => {
        console.log(seen, child.exitCode, child.signalCode, child.kill(), child.killed);
        for (const signal of ['SIGNONSENSE', 12345, {}]) {
            try {
                child.kill(signal);
            } catch (error) {
                console.log(error.name, error.code, error.message);
            }
        }
        next();
    });
}

// Nobody reads what it says: it ends all the same.
function untouched() {
    const child = spawn('sh', ['-c', 'echo a; echo b >&2']);
    const seen = note(child);
    child.on('close', () => {
        console.log(seen);
        next();
    });
}

function descriptors() {
    const first = spawn('echo', ['shown at once'], { stdio: 'inherit' });
    first.on('close', () => {
        console.log(first.stdin, first.stdout, first.stderr, first.stdio);
        const second = spawn('sh', ['-c', 'cat; echo hidden >&2'], { stdio: ['ignore', 'pipe', 'ignore'] });
        console.log(second.stdin, second.stdout !== null, second.stderr);
        second.stdout.on('data', () => console.log('never'));
        second.on('close', (code) => {
            const third = spawn('echo', ['by number'], { stdio: [null, 1, process.stderr] });
            third.on('close', () => {
                console.log(code);
                joined();
            });
        });
    });
}

function joined() {
    const first = spawn('printf', ['b\\na\\nc\\n']);
    const second = spawn('sort', { stdio: [first.stdout, 'pipe', 'inherit'] });
    first.stdout.destroy();
    second.stdout.on('data', (bytes) => console.log(JSON.stringify(String(bytes))));
    second.on('close', next);
}

function environment() {
    const child = spawn('echo $NAME $0; pwd', {
        shell: true, cwd: '/', env: { ...process.env, NAME: 'value', GONE: undefined }, argv0: 'named',
    });
    console.log(child.spawnfile, child.spawnargs);
    let text = '';
    child.stdout.on('data', (bytes) => (text += bytes));
    child.on('close', () => {
        console.log(JSON.stringify(text));
        const named = spawn('sh', ['-c', 'echo $0'], { argv0: 'another' });
        named.stdout.on('data', (bytes) => console.log(String(bytes)));
        named.on('close', next);
    });
}

function limits() {
    const late = spawn('sleep', ['100'], { timeout: 20, killSignal: 'SIGKILL' });
    const seen = note(late);
    late.on('close', () => {
        const controller = new AbortController();
        const aborted = spawn('sleep', ['100'], { signal: controller.signal });
        const told = note(aborted);
        aborted.on('error', (error) => console.log(error.name, error.code, error.message));
        aborted.on('close', () => {
            console.log(seen, told, aborted.killed);
            next();
        });
        controller.abort();
    });
}

// One that is let go does not keep the program running.
function held() {
    const child = spawn('sleep', ['1'], { stdio: 'ignore', detached: true });
    child.unref();
    child.on('exit', () => console.log('never'));
    process.on('exit', () => console.log('over', child.exitCode));
}
next();
