// Sockets on paths: a file, one that is left over, an abstract name.
import { go } from 'weft:go';
import { existsSync } from 'node:fs';
import { connect, listen } from 'weft:net';
import { run } from 'weft:process';

const path = `/tmp/weft-net-unix-${process.pid}`;
const first = listen({ path });
console.log(existsSync(path), first.address.path === path, first.port);
await go(() => {
    const near = connect({ path });
    const far = first.accept();
    near.write('over a file\n');
    console.log(far.readLine(), near.remoteAddress.path === path, near.address, far.remoteAddress, near.noDelay());
    near.close();
    console.log(far.read());
});
let failure;
try {
    listen({ path });
} catch (error) {
    failure = error;
}
console.log(failure.code, failure.address === path, failure.port, failure.message.replace(path, 'PATH'));
first.close();
console.log(existsSync(path), (await connect(`unix:${path}`).catch((error) => error)).code);

// What is left of somebody who has not closed it is taken over.
await run(process.execPath, ['run', '-e', `import { listen } from 'weft:net'; listen({ path: '${path}' })`]);
console.log(existsSync(path), (await connect({ path }).catch((error) => error)).code);
const again = listen(`unix:${path}`);
(await connect({ path })).close();
again.close();
console.log(existsSync(path));

const hidden = listen({ path: `@weft-net-unix-${process.pid}` });
const near = await connect(hidden.address);
const far = await hidden.accept();
near.write('over a name\n');
console.log(await far.readLine(), hidden.address.path.startsWith('@'));
