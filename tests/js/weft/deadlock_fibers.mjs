// Fibers that wait for each other, and nothing else is alive: the script ends with a report and a code of its own.
import { chan, go, select, wait } from 'weft:go';

const a = chan(), b = chan();
go.with({ name: 'left' }, () => {
    a.recv();
    b.send('never');
});
go(function right() {
    b.recv();
    a.send('never');
});
go.with({ background: true }, () => select([{ recv: a }, { send: b, value: 'never' }]));
go(() => wait(new Promise(() => {})));
chan().send('never').then(() => console.log('never'));
process.exitCode = 3;
process.on('beforeExit', (code) => console.log('before', code));
process.on('exit', (code) => console.log('exit', code, process.exitCode));
setTimeout(() => console.log('timer'), 30);
