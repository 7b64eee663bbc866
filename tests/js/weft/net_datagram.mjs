// Datagrams: sent to addresses and to one that is connected, received, cut, lost to nobody.
import { go } from 'weft:go';
import { bind } from 'weft:net';

const text = (bytes) => new TextDecoder().decode(bytes);
const code = (error) => error.code ?? error.message;
const one = bind({ port: 0, host: '127.0.0.1' });
const other = bind('127.0.0.1:0');
console.log(one.address.address, one.port !== other.port, one.closed);

await go(() => {
    one.send('hello', { host: '127.0.0.1', port: other.port });
    const { data, address, isCut } = other.receive();
    console.log(text(data), address.port === one.port, address.address, address.family, isCut);
    other.send(new Uint8Array(), address);
    console.log(one.receive().data.length);
    other.send(new Uint16Array([0x4241]), `localhost:${one.port}`);
    console.log(text(one.receive().data));
});

// Connected: no address is needed, and others are not heard.
await one.connect({ port: other.port });
await one.send('to the one');
console.log(text((await other.receive()).data));
console.log(await bind(0).send('nowhere').catch(code));

// Limits of time, signals, the end.
console.log(await one.receive({ timeout: 1 }).catch(code), await one.receive({ signal: AbortSignal.abort(7) }).catch(String));
console.log(await one.send(new Uint8Array(70000)).catch(code));
const waiting = one.receive().catch(code);
console.log(one.close(), await waiting, await one.send('x').catch(code), one.closed);

// As an iterator.
const seen = [];
const loop = (async () => {
    for await (const { data } of other) {
        seen.push(text(data));
        if (seen.length === 3)
            other.close();
    }
})();
const sender = bind({ port: 0, host: '127.0.0.1' });
for (const word of ['a', 'b', 'c'])
    await sender.send(word, { port: other.port });
await loop;
console.log(seen);

// On a path.
const path = `@weft-datagram-${process.pid}`;
const named = bind({ path });
const anonymous = bind({ path: `${path}-2` });
await anonymous.send('on a path', { path });
const { data, address } = await named.receive();
console.log(text(data), address.path === `${path}-2`);
