// Signals as something to wait for: as iterators, in select, with callbacks; and what they do when nobody listens any more.
import { go, select, sleep } from 'weft:go';
import { onSignal, run, signals, Signals, spawn } from 'weft:process';

const send = (name) => process.kill(process.pid, name);

const some = signals('SIGUSR1', 'SIGUSR2');
console.log(some instanceof Signals);
send('SIGUSR1');
console.log(await some.recv());
await go(() => {
    send('SIGUSR2');
    console.log(some.recv());
    send('SIGUSR1');
    console.log(select([{ after: 10000 }, { signal: some }]), select([{ signal: some }, { after: 0 }]).index);
    send('SIGUSR1');
    console.log(select([{ recv: some }]).value);
});
console.log(await some.recv({ timeout: 1 }).catch((error) => error.code));
console.log(await some.recv({ signal: AbortSignal.abort('enough') }).catch(String));

// Iterators end with the set; each set gets every signal.
const another = signals('SIGUSR1');
const seen = [];
const loop = (async () => {
    for await (const name of some) {
        seen.push(name);
        if (seen.length === 2)
            some.close();
    }
})();
send('SIGUSR2');
while (seen.length < 1)
    await sleep(1);
send('SIGUSR1');
await loop;
console.log(seen, await another.recv(), some.close(), await some.recv());
const waiting = go(() => another.recv());
await sleep(1);
console.log(another.close(), await waiting);

// Callbacks, which keep nothing running.
let calls = 0;
const stop = onSignal(['SIGUSR1', 'SIGHUP'], (name) => {
    calls++;
    console.log('called', name, calls);
});
send('SIGHUP');
while (calls < 1)
    await sleep(1);
stop();

// When nobody listens any more they do what they did before.
const script = `
    import { signals, onSignal } from 'weft:process';
    const caught = signals('SIGTERM');
    process.kill(process.pid, 'SIGTERM');
    console.log(await caught.recv());
    caught.close();
    process.kill(process.pid, 'SIGTERM');
    setInterval(() => {}, 1000);`;
console.log(await run(process.execPath, ['run', '-e', script]).catch((error) => error.message));
console.log(await run(process.execPath, ['run', '-e',
    `import { onSignal } from 'weft:process'; onSignal('SIGTERM', () => {}); console.log('ends by itself')`]));

for (const wrong of [() => signals(), () => signals('SIGNONSENSE'), () => signals('SIGKILL'), () => signals('SIGSEGV'),
    () => onSignal('SIGUSR1'), () => onSignal('SIGSTOP', () => {}), () => select([{ signal: 1 }])]) {
    try {
        console.log(wrong());
    } catch (error) {
        console.log(`${error.name} ${error.code ?? ''} ${error.message}`);
    }
}

// A child that is asked to end, and does.
const child = spawn(process.execPath, ['run', '-e', `
    import { signals } from 'weft:process';
    const ending = signals('SIGTERM');
    console.log('ready');
    console.log('told to end by', await ending.recv());`], { stdout: 'pipe' });
console.log(await child.stdout.readLine(), child.kill(), await child.stdout.readLine(), await child.wait());
