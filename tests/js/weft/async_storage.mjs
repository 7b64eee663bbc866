// AsyncLocalStorage and fibers: a fiber begins with the store of who started it, keeps its own while it waits, and disturbs nobody.
import { AsyncLocalStorage } from 'node:async_hooks';
import { go, sleep, chan, wait, scope, select } from 'weft:go';
import { serve } from 'weft:http';

const storage = new AsyncLocalStorage();
const get = () => storage.getStore();

await storage.run('starter', () => go(() => {
    console.log('begins with', get());
    sleep(1);
    console.log('after a wait', get());
}));
console.log('outside', get());

// Many at once, each with its own.
const results = await Promise.all(Array.from({ length: 20 }, (value, i) => storage.run(i, () => go(() => {
    const seen = [get()];
    for (let round = 0; round < 3; round++) {
        sleep(i % 3);
        seen.push(get());
        storage.run(`inner ${i}`, () => {
            sleep(1);
            seen.push(get() === `inner ${i}` ? i : 'wrong');
        });
    }
    seen.push(wait(Promise.resolve().then(get)));
    return new Set(seen).size === 1 && seen[0] === i;
}))));
console.log(results.every((good) => good));

// Between fibers by a channel: the receiver keeps its own.
const channel = chan();
const receiver = storage.run('receiver', () => go(() => [channel.recv(), get()]));
await storage.run('sender', () => go(() => channel.send('value')));
console.log(await receiver);

// enterWith inside of a fiber ends with it.
await go(() => {
    storage.enterWith('entered');
    sleep(1);
    console.log(get());
    return wait(go(() => console.log('child', get())));
});
console.log('outside', get());

// A throw leaves nothing behind.
await go(() => storage.run('thrown', () => {
    sleep(1);
    throw new Error('out');
})).catch((error) => console.log(error.message, get()));

// A scope's children; what select gives.
await storage.run('scope', () => scope(async (children) => {
    children.go(() => console.log('in the scope', get()));
    await null;
}));
console.log(await storage.run('select', () => go(() => [select([{ after: 1 }]).index, get()])));

// Handlers of a server on fibers.
const server = serve({ port: 0, fibers: true }, (request) => storage.run(new URL(request.url).pathname, () => {
    sleep(2);
    const body = wait(request.text());
    sleep(1);
    return new Response(`${get()} ${body}`);
}));
await new Promise((resolve) => server.once('listening', resolve));
console.log(await Promise.all(['a', 'b', 'c'].map(async (name) =>
    (await fetch(`${server.url}${name}`, { method: 'POST', body: name })).text())));
server.close();
