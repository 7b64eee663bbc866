// News of files, as they come: on fibers and elsewhere, with folders below, ended by a close, a signal and a removal.
import { go } from 'weft:go';
import { watch, writeFile, mkdir, rm, rename, mkdtemp, appendFile, chmod } from 'weft:fs';

const folder = await mkdtemp();
process.chdir(folder);
await mkdir('d/below', { recursive: true });
const brief = ({ kind, name, isFolder }) => `${kind} ${name}${isFolder ? '/' : ''}`;

const changes = watch('d');
await writeFile('d/a', 'x');
console.log(brief(await changes.next()), '|', brief(await changes.next()), '|', brief(await changes.next()));
await rename('d/a', 'd/b');
const [left, came] = [await changes.next(), await changes.next()];
console.log(brief(left), '|', brief(came), left.cookie === came.cookie);
await mkdir('d/new');
await rm('d/b');
console.log(brief(await changes.next()), '|', brief(await changes.next()));
await writeFile('d/below/x', 'not told');
await chmod('d/below', 0o700);
console.log(brief(await changes.next()));
const waiting = changes.next();
changes.close();
console.log(await waiting, await changes.next());

// All below, also what comes later.
const deep = watch('d', { recursive: true });
await appendFile('d/below/x', '!');
console.log(brief(await deep.next()), '|', brief(await deep.next()));
await mkdir('d/p/q', { recursive: true });
const seen = new Set();
while (!seen.has('made p/q/'))
    seen.add(brief(await deep.next()));
await writeFile('d/p/q/deep', '');
for (let change = ''; change !== 'made p/q/deep';)
    change = brief(await deep.next());
console.log([...seen].sort().join());
deep.close();

// For loops; on a fiber; by a signal.
const controller = new AbortController();
const told = [];
const watching = (async () => {
    for await (const change of watch('d', { signal: controller.signal })) {
        told.push(brief(change));
        if (told.length === 3)
            controller.abort(new Error('enough'));
    }
})().catch((error) => error.message);
await writeFile('d/c', 'y');
console.log(await watching, told.join());
const ofFile = watch('d/c');
const inFiber = go(() => {
    const all = [];
    for (const change of ofFile) { // until it is gone
        all.push(change.kind);
        if (change.kind === 'closed')
            rm('d/c');
    }
    return all.join();
});
await appendFile('d/c', 'z');
console.log(await inFiber);
await rm(folder, { recursive: true });
