// Children that run beside: talked to, waited for, killed; cases of select.
import { go, select } from 'weft:go';
import { pipe } from 'weft:net';
import { spawn, Child } from 'weft:process';

const text = (bytes) => new TextDecoder().decode(bytes);

// A conversation.
await go(() => {
    const child = spawn('sh', ['-c', 'while read line; do echo "you said: $line"; done; echo bye >&2'],
        { stdin: 'pipe', stdout: 'pipe', stderr: 'pipe' });
    console.log(child instanceof Child, child.pid > 0);
    for (const word of ['one', 'two']) {
        child.stdin.write(`${word}\n`);
        console.log(child.stdout.readLine());
    }
    child.stdin.shutdown(); // a pipe has no half: it is closed
    console.log(child.stdin.closed, text(child.stderr.readAll()), child.stdout.read(), child.wait());
    console.log(child.wait(), child.kill(), child.kill(0)); // again, and too late
});

// Descriptors of all kinds.
const { reader, writer } = pipe();
const into = spawn('echo', ['into a pipe of ours'], { stdout: writer });
console.log(into.stdin, into.stdout, into.stderr, await into.wait());
writer.close();
console.log(text(await reader.readAll()));
const first = spawn('echo', ['through two'], { stdout: 'pipe' });
const second = spawn('tr', ['a-z', 'A-Z'], { stdin: first.stdout, stdout: 'pipe' });
first.stdout.close();
console.log(text(await second.stdout.readAll()), await first.wait(), await second.wait());
console.log(await spawn('echo', ['by its number'], { stdout: 1, stderr: 'ignore' }).wait());
const merged = spawn('sh', ['-c', 'echo a; echo b >&2'], { stdout: 'pipe', stderr: 'stdout' });
console.log(merged.stderr, text(await merged.stdout.readAll()));

// Waits that end otherwise.
const sleeper = spawn('sleep', ['100']);
console.log(await sleeper.wait({ timeout: 1 }).catch((error) => error.code));
console.log(await sleeper.wait({ signal: AbortSignal.abort('not now') }).catch(String));
console.log(sleeper.kill('SIGUSR1'), await sleeper.exited, sleeper.kill());
const timed = spawn('sleep', ['100'], { timeout: 1 });
console.log(await timed.wait());
const controller = new AbortController();
const aborted = spawn('sleep', ['100'], { signal: controller.signal, killSignal: 'SIGKILL' });
controller.abort();
console.log(await aborted.wait());
{
    const disposed = spawn('sleep', ['100']);
    await disposed[Symbol.asyncDispose]();
    console.log(await disposed.wait());
}

// Select: whichever of the children ends first, or a time.
await go(() => {
    const slow = spawn('sleep', ['100']), quick = spawn('sh', ['-c', 'exit 4']);
    console.log(select([{ exit: slow }, { exit: quick }]));
    console.log(select([{ exit: slow }, { after: 1 }]).index);
    slow.kill();
    console.log(select([{ exit: slow }]).value);
});
console.log(await select([{ exit: spawn('true') }, { promise: new Promise(() => {}) }]));

// Mistakes.
for (const wrong of [() => spawn('no-such-program'), () => spawn('true', [], { stdin: 99999 }),
    () => spawn('true', [], { signal: AbortSignal.abort(new Error('too late')) }), () => spawn('true', [], { stdin: 'stdout' }),
    () => sleeper.kill('SIGNONSENSE'), () => sleeper.kill(-5), () => select([{ exit: 5 }])]) {
    try {
        console.log(wrong());
    } catch (error) {
        console.log(`${error.name} ${error.code ?? ''} ${error.message}`);
    }
}
