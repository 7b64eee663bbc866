// The end of the program while files are read, written, waited for and watched, on fibers and elsewhere.
import { go, sleep } from 'weft:go';
import { run } from 'weft:process';
import nodeFs from 'node:fs';
import * as fs from 'weft:fs';

const folder = await fs.mkdtemp();
process.chdir(folder);
process.on('exit', (code) => {
    nodeFs.rmSync(folder, { recursive: true });
    console.log('exit', code, nodeFs.existsSync(folder));
});
await run('mkfifo', ['pipe']);
await fs.writeFile('big', new Uint8Array(8 << 20));
const never = () => console.log('never');
for (let i = 0; i < 20; i++) {
    fs.readText('pipe').then(never, never);
    go(() => fs.readText('pipe')).then(never, never);
    fs.readFile('big').then(() => {}, never);
    fs.writeFile(`out${i}`, new Uint8Array(1 << 16)).catch(never);
    nodeFs.readFile('pipe', never);
}
nodeFs.createReadStream('pipe').on('data', never);
nodeFs.watch('.').unref();
go(() => fs.watch('pipe').next()).then(never, never);
const kept = await fs.open('pipe', 'r+'); // else readers would find its end
await sleep(2);
process.exit(kept.closed ? 5 : 4);
