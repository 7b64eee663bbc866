// What server.mjs asks: a server that takes its time. PORT=9000 weft run upstream.mjs
import { createServer } from 'weft:http';
import { sleep } from 'weft:go';
import { onSignal } from 'weft:process';

const quotes = ['Simplicity is prerequisite for reliability.', 'Make it work, make it right, make it fast.', 'Less is more.'];
let count = 0;

const server = createServer({ fibers: true }, (request, response) => {
    if (request.url !== '/quote') {
        response.writeHead(404).end();
        return;
    }
    sleep(2);
    const number = count++;
    response.setHeader('Content-Type', 'application/json');
    response.end(JSON.stringify({ number, quote: quotes[number % quotes.length] }));
});
server.listen(Number(process.env.PORT ?? 9000), '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`));
onSignal('SIGTERM', () => server.close());
