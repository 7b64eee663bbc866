// Programs from their start to their end: what they say, how they end, limits, signals, mistakes.
import { go, scope } from 'weft:go';
import processes, { run } from 'weft:process';

const code = (error) => `${error.name} ${error.code} ${error.message}`;

console.log(Object.keys(processes).join());
console.log(await run('printf', ['%s|', 'one', 'two words', '*']));
console.log(await run('sh', ['-c', 'echo out; echo err >&2; exit 3']));
console.log(await run('sh', ['-c', 'kill -TERM $$']));
console.log(await run('echo "$0 $1"; echo $((1 + 2))', { shell: true }));
console.log(await run('echo', ['$HOME'], { shell: '/bin/sh', env: { HOME: '/nowhere', PATH: '/usr/bin:/bin' } }));
console.log((await run('pwd', { cwd: '/' })).stdout, (await run('sh', ['-c', 'echo $0'], { argv0: 'a-name' })).stdout);
console.log((await run('env', { env: { ONE: 1, TWO: undefined, PATH: '/bin:/usr/bin' } })).stdout.split('\n').sort().join());
console.log(await run('sh', ['-c', 'echo a; echo b >&2'], { stderr: 'stdout' }));
console.log(await run('sh', ['-c', 'echo hidden; echo shown >&2'], { stdout: 'ignore' }));
process.env.FROM_SCRIPT = 'yes';
console.log((await run('sh', ['-c', 'echo $FROM_SCRIPT'])).stdout);

// Input, and as bytes.
await go(() => {
    console.log(run('cat', { input: 'text in' }).stdout, run('cat').stdout.length);
    console.log(run('cat', { input: new Uint8Array([0, 255, 10]), encoding: 'bytes' }).stdout);
    console.log(run('head', ['-c', '5'], { input: 'x'.repeat(1 << 20) }).stdout);
    const much = 'abcdefgh'.repeat(1 << 17);
    console.log(run('cat', { input: much }).stdout === much);
});

// Too long, too much, not wanted any more.
const late = await run('sh', ['-c', 'echo begun; exec sleep 100'], { timeout: 100 }).catch((error) => error);
console.log(late.code, late.signal, late.exitCode, ['begun\n', ''].includes(late.stdout)); // what it had time for
const stubborn = await run('sh', ['-c', 'trap "" TERM; echo ready; exec sleep 100'],
    { timeout: 300, killSignal: 'SIGKILL' }).catch((error) => error);
console.log(stubborn.code, stubborn.signal, ['ready\n', ''].includes(stubborn.stdout));
const much = await run('yes', { limit: 1000 }).catch((error) => error);
console.log(much.code, much.stdout.length, ['SIGTERM', 'SIGPIPE'].includes(much.signal));
console.log((await run('sleep', ['100'], { signal: AbortSignal.timeout(20) }).catch((error) => error)).name);
console.log(await run('true', { signal: AbortSignal.abort('no') }).catch(String));
console.log(await scope((children) => {
    children.go(() => run('sleep', ['100']));
    children.go(() => {
        throw new Error('a child failed');
    });
}).catch((error) => error.message));

// What does not run.
console.log(code(await run('no-such-program').catch((error) => error)));
console.log(code(await run('/etc/passwd').catch((error) => error)));
console.log(code(await run('true', { cwd: '/nowhere' }).catch((error) => error)));
console.log(code(await run('sh', { env: { PATH: '/nowhere' } }).catch((error) => error)));
await go(() => {
    try {
        run('no-such-program');
    } catch (error) {
        console.log(code(error), error.path);
    }
});
for (const wrong of [() => run('true', 'x'), () => run('true', [], { stdout: 'nowhere' }), () => run('true', [], { stdin: -1 }),
    () => run('true', [], { timeout: -1 }), () => run('true', [], { killSignal: 'SIGNONSENSE' }),
    () => run('true', [], { signal: {} })]) {
    try {
        console.log(await wrong());
    } catch (error) {
        console.log(`${error.name}: ${error.message}`);
    }
}

// Many at once.
const all = await Promise.all(Array.from({ length: 20 }, (_, i) => run('sh', ['-c', `echo ${i}; exit ${i}`])));
console.log(all.map(({ code: each, stdout }) => each === Number(stdout)).every(Boolean));
