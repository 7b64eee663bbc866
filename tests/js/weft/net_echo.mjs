// A server on fibers and its clients, on fibers and with promises: lines, bytes, half-closed connections, addresses.
import { go } from 'weft:go';
import { connect, listen, Connection, Listener } from 'weft:net';

const listener = listen({ port: 0, host: '127.0.0.1' });
console.log(listener instanceof Listener, listener.address.address, listener.address.family, listener.port > 0);
const served = listener.serve((connection) => {
    for (const line of connection.lines())
        connection.write(`${line.toUpperCase()}\n`);
    connection.write('bye\n'); // the other side has only shut its half
});

await go(() => {
    const connection = connect(`127.0.0.1:${listener.port}`);
    console.log(connection instanceof Connection, connection.remoteAddress.port === listener.port);
    console.log(connection.noDelay(), connection.noDelay(false), connection.keepAlive(), connection.keepAlive(30));
    connection.write('one\ntwo\r\n\n');
    console.log([connection.readLine(), connection.readLine(), connection.readLine()]);
    connection.write(new TextEncoder().encode('grüße, 世界'));
    connection.shutdown();
    console.log(connection.readLine(), connection.readLine(), connection.readLine(), connection.readLine());
    console.log(connection.closed, connection.close(), connection.closed, connection.close());
});

const connection = await connect({ port: listener.port });
await connection.write('with promises\n');
console.log(await connection.readLine());
const written = connection.write('a\n');
console.log(written instanceof Promise, await written, await connection.readLine());
connection.close();

{
    const short = await connect(listener.address.port);
    short.write('x\n');
    console.log(await short.readLine());
    short[Symbol.dispose](); // what `using` calls
    console.log(short.closed);
}

listener.close();
console.log(await served, listener.port > 0);
console.log(await listener.accept().catch((error) => error.code));
