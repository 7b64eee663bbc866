// Works that wait for the world: servers, sockets, children and files, from the fibers of a pool.
import { Pool } from 'weft:pool';
import { connect, listen } from 'weft:net';
import { run } from 'weft:process';
import http from 'node:http';
import fs from 'node:fs/promises';
const pool = new Pool({ concurrency: 8 });
const server = await pool.run(() => http.createServer((request, response) => response.end('hi')).listen(0, '127.0.0.1'));
await new Promise((resolve) => (server.listening ? resolve() : server.on('listening', resolve)));
const port = server.address().port;
const all = (fn) => Promise.all(Array.from({ length: 20 }, (_, i) => pool.run(fn, i)));
console.log((await all(async () => (await fetch(`http://127.0.0.1:${port}`)).text())).join(''));
const listener = await pool.run(() => listen({ port: 0, host: '127.0.0.1' }));
listener.serve((connection) => {
    for (const line of connection.lines())
        connection.write(`${line.toUpperCase()}\n`);
});
console.log((await all((i) => {
    const connection = connect({ port: listener.port });
    connection.write(`n${i}\n`);
    const line = connection.readLine();
    connection.close();
    return line;
})).join());
console.log(await pool.run(() => run('echo', ['out']).stdout.trim()), (await pool.run(() => fs.readFile('pool_io.mjs', 'utf8'))).length > 100);
listener.close();
await new Promise((resolve) => server.close(resolve));
await pool.close();
console.log('end');
