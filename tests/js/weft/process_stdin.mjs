// process.stdin: whatever it is, it is read; one that nobody reads, or that is paused, keeps nothing running.
import { run } from 'weft:process';

const weft = (script, options) => run(process.execPath, ['run', '-e', script], options);
const shown = async (promise) => {
    const { code, stdout, stderr } = await promise;
    console.log(code, stdout.trim(), stderr.trim());
};

const collect = `let text = '';
    process.stdin.setEncoding('utf8').on('data', (part) => text += part);
    process.stdin.on('end', () => console.log(text.length, text.slice(0, 20)));`;
await shown(weft(collect, { input: 'grüße\nin two lines\n' }));
await shown(weft(collect, { input: 'x'.repeat(300000) }));
await shown(weft(collect)); // nothing
await shown(weft(`for await (const part of process.stdin) console.log(String(part).toUpperCase());`, { input: 'iterated' }));
await shown(weft(`process.stdin.pipe(process.stdout);`, { input: 'piped' }));
await shown(weft(`console.log(process.stdin.fd, process.stdin.isTTY, process.stdin.readable, process.stdin.writable)`));
await shown(weft(`process.stdin.on('data', () => process.stdin.pause()); process.on('exit', () => console.log('over'));`,
    { input: 'enough' }));
await shown(run(process.execPath, ['run', '-e', `
    process.stdin.on('data', (part) => {
        console.log('got', String(part).trim());
        process.stdin.destroy();
    });`], { input: 'one\n' }));
await shown(run('sh', ['-c', `"$0" run -e "${'process.stdin.resume().on(\'end\', () => console.log(\'a file\'))'}" < /etc/passwd`,
    process.execPath]));
