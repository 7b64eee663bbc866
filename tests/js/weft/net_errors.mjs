// What goes wrong at the beginning, and what is asked for wrongly.
import { go } from 'weft:go';
import net, { bind, connect, Connection, listen, pair, resolve } from 'weft:net';

const show = (error) => `${error.name} ${error.code ?? ''} ${error.message}`;
const refused = (fn) => {
    try {
        fn();
        console.log('nothing was thrown');
    } catch (error) {
        console.log(show(error));
    }
};

const listener = listen({ port: 0, host: '127.0.0.1' });
const { port } = listener;
const hide = (error) => show(error).replaceAll(port, 'PORT');
try {
    listen({ port, host: '127.0.0.1' });
} catch (error) {
    console.log(hide(error), error.syscall, error.address, error.port === port);
}
const shared = listen({ port: 0, host: '127.0.0.1', reusePort: true });
listen({ port: shared.port, host: '127.0.0.1', reusePort: true }).close();
shared.close();
listener.close();
const failure = await connect({ host: '127.0.0.1', port }).catch((error) => error);
console.log(hide(failure), failure.syscall, failure.address, failure.port === port);
await go(() => {
    try {
        connect(`127.0.0.1:${port}`);
    } catch (error) {
        console.log(hide(error));
    }
});
console.log(show(await connect({ path: '/nowhere/at/all' }).catch((error) => error)));
const isUnknown = (error) => /^(connect|resolve) (ENOTFOUND|EAI_AGAIN) name\.invalid/.test(error.message) // without a network
    || error.code === 'ETIMEDOUT';
console.log(isUnknown(await connect('name.invalid:80', { timeout: 3000 }).catch((error) => error)));
console.log(isUnknown(await resolve('name.invalid', { timeout: 3000 }).catch((error) => error)));
console.log(show(await connect('127.0.0.1:1', { signal: AbortSignal.abort() }).catch((error) => error)));
console.log(await resolve('127.0.0.1'), await resolve('::1'), await go(() => resolve('127.0.0.1', { family: 4 })));

refused(() => listen({ port: 70000 }));
refused(() => listen({ port: 1.5 }));
refused(() => listen({ host: 'example.org', port: 0 }));
refused(() => listen('nonsense'));
refused(() => listen(null));
refused(() => connect());
refused(() => connect('127.0.0.1'));
refused(() => connect({ port: -1 }));
refused(() => connect(80, { signal: 'now' }));
refused(() => connect(80, { timeout: -1 }));
refused(() => connect(80, { localAddress: 'nobody' }));
refused(() => bind({ port: 'x' }));
refused(() => new Connection());
refused(() => pair()[0].write(5));
refused(() => pair()[0].write());
refused(() => listen({ path: `/tmp/${'x'.repeat(200)}` }));
refused(() => listener.serve());
console.log(Object.keys(net).join());
