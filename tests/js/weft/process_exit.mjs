// The end comes while children run and signals are waited for: nothing hangs.
import { go, sleep } from 'weft:go';
import { onSignal, run, signals, spawn } from 'weft:process';

const child = spawn('cat', { stdin: 'pipe', stdout: 'pipe' });
go(() => {
    child.wait();
    console.log('never');
});
child.exited.then(() => console.log('never'));
child.stdout.readLine().then(() => console.log('never'));
run('cat', { stdin: child.stdout }).then(() => console.log('never'));
go(() => signals('SIGUSR1').recv());
onSignal('SIGUSR2', () => console.log('never'));
process.on('exit', (code) => console.log('exit', code));
sleep(5).then(() => process.exit(4));
