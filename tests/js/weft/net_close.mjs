// Waits that end otherwise: closed, aborted, timed out, cancelled with their fiber, or two where one may be. (A connection that
// nobody has any more is closed, too: so both ends of a pair are kept.)
import { go, scope, sleep } from 'weft:go';
import { connect, listen, pair } from 'weft:net';

const code = (error) => error.code ?? `${error.name}: ${error.message}`;
const parked = async () => { await sleep(0); await sleep(0); };

// Closed while somebody waits: in a fiber, and elsewhere.
{
    const [near, far] = pair();
    const inFiber = go(() => near.read()).catch(code);
    await parked();
    console.log(near.close(), await inFiber);
    const [another, itsFar] = pair();
    const line = another.readLine().catch(code);
    another.close();
    console.log(await line, far.closed, itsFar.closed); // the other end of the first is in use until here
    const listener = listen({ port: 0, host: '127.0.0.1' });
    const accepted = listener.accept().catch(code);
    listener.close();
    console.log(await accepted);
}

// A write that nobody reads.
{
    const [near, far] = pair();
    const much = new Uint8Array(8 << 20);
    const writes = [near.write(much).catch(code), near.write('more').catch(code), near.shutdown().catch(code)];
    await parked();
    near.close();
    console.log(await Promise.all(writes), await near.write('x').catch(code), await near.shutdown().catch(code));
    far.close();
}

// One reader at a time.
{
    const [near, far] = pair();
    const first = near.read();
    console.log(await near.read().catch(code), await near.readLine().catch(code));
    far.write('for the first');
    console.log((await first).length);
    const listener = listen(0);
    const one = listener.accept();
    console.log(await listener.accept().catch(code));
    connect(listener.port).then((connection) => connection.close());
    console.log((await one).closed);
    listener.close();
}

// Signals and limits of time.
{
    const [near, far] = pair();
    const controller = new AbortController();
    const reading = near.read({ signal: controller.signal }).catch((error) => error);
    controller.abort(new Error('enough'));
    console.log((await reading).message, await near.read({ signal: AbortSignal.abort('never') }).catch(String));
    console.log(await near.readLine({ timeout: 1 }).catch(code), await near.readFull(1, { timeout: 0 }).catch(code));
    far.write('still there\n');
    console.log(await near.readLine());
    await go(() => {
        try {
            near.read({ signal: AbortSignal.timeout(1) });
        } catch (error) {
            console.log(error.name);
        }
    });
    try {
        near.read({ timeout: -1 });
    } catch (error) {
        console.log(code(error));
    }
    console.log(await listen(0).accept({ timeout: 1 }).catch(code));
}

// A write that is given up in its middle ends the direction: what follows would be taken for the rest.
{
    const [near, far] = pair();
    const much = new Uint8Array(8 << 20);
    const cut = near.write(much, { timeout: 1 }).catch(code);
    const behind = near.write('behind').catch(code);
    console.log(await cut, await behind, await near.write('x').catch(code));
    far.close();
}

// With its fiber.
{
    const [near, far] = pair();
    const failed = scope((children) => {
        children.go(() => near.read());
        children.go(() => {
            throw new Error('a child failed');
        });
    });
    console.log(await failed.catch((error) => error.message), far.closed);
}

// The other side goes away.
{
    const listener = listen({ port: 0, host: '127.0.0.1' });
    const near = await connect(listener.port);
    const far = await listener.accept();
    far.reset();
    console.log(await near.read().catch(code), await near.write('x').catch(code));
    listener.close();
}
