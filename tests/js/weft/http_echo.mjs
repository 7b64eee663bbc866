// Bodies both ways at once, answers before the body has come, answers that never end, fields that cannot be sent.
import http from 'node:http';
import { serve } from 'weft:http';

const server = http.createServer((request, response) => {
    response.on('error', (error) => console.log('error', error.name));
    switch (request.url) {
    case '/echo':
        request.on('data', (piece) => response.write(piece));
        request.on('end', () => response.end('.'));
        break;
    case '/early':
        request.on('data', () => {});
        response.end('early');
        break;
    case '/forgotten':
        response.write('begun'); // and never ended
        break;
    case '/dropped':
        break;
    case '/zero':
        try {
            response.setHeader('X-A', 'a\0b');
        } catch (error) {
            response.end(error.code);
        }
        break;
    default:
        response.writeHead(200, { 'Content-Type': 'text/plain', 'Set-Cookie': ['a=1', 'b=2'] });
        response.end(Buffer.from([0xff, 0xfe]));
    }
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const at = `http://127.0.0.1:${server.address().port}`;
const { collect } = await import('weft:trace');

async function ask(path, options) {
    try {
        const response = await fetch(at + path, options);
        const text = await response.text();
        console.log(path, response.status, text.length > 40 ? text.length : text);
    } catch (error) {
        console.log(path, error.name, error.message);
    }
}

await ask('/echo', { method: 'POST', body: 'piece' });
await ask('/echo', { method: 'POST', body: 'x'.repeat(300000) });
await ask('/early', { method: 'POST', body: 'y'.repeat(1000) });
for (const path of ['/forgotten', '/dropped']) {
    const asked = ask(path);
    const timer = setInterval(collect, 5);
    await asked;
    clearInterval(timer);
}
await ask('/zero');
const plain = await fetch(at);
console.log(plain.headers.getSetCookie(), new Uint8Array(await plain.arrayBuffer()));

const mirror = serve({ port: 0 }, (request) => new Response(request.body, { status: 201 }));
const mirrored = await fetch(`http://127.0.0.1:${mirror.address().port}/`, { method: 'PUT', body: 'z'.repeat(200000) });
console.log(mirrored.status, (await mirrored.text()).length);
mirror.close();
server.close(() => console.log('closed'));
