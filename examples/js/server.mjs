// A web server whose handlers are fibers: they wait for Redis and for another server as if nobody else were there, and meanwhile
// the others go on.
//
//     PORT=8080 REDIS=localhost:6379 UPSTREAM=http://localhost:9000 weft run server.mjs
//
//     GET  /                what there is
//     GET  /visits          counts
//     GET  /notes/NAME      a note; PUT writes it, DELETE removes it
//     GET  /quote           what the upstream says, kept in Redis for a while
//     GET  /stats           several answers of Redis in one go
//
// PORT: a number or a path; 0 takes a free one, which is printed. REDIS: host:port or unix:path. SIGTERM ends it: no new
// connections, requests that have begun are answered.
import { createServer } from 'weft:http';
import { go, wait } from 'weft:go';
import { signals } from 'weft:process';
import { Redis, RedisError } from './redis.mjs';

const { PORT = '8080', REDIS = 'localhost:6379', UPSTREAM = 'http://localhost:9000' } = process.env;
const QUOTE_SECONDS = 5, NOTE_BYTES = 64 * 1024;

const [, path, host, port] = REDIS.match(/^(?:unix:(.*)|(.*):(\d+))$/) ?? [];
const redis = new Redis(path ? { path } : { host, port: Number(port) });
const started = Date.now();
let served = 0;

class Refusal extends Error {
    constructor(status, message) {
        super(message);
        this.status = status;
    }
}

// ---- Routes: each returns what becomes the JSON of the answer, or [status, that] ----

const routes = {
    'GET /': () => ({ routes: Object.keys(routes), uptime: Math.round((Date.now() - started) / 1000) }),

    'GET /visits': () => ({ visits: redis.incr('visits') }),

    'GET /notes/*': (request, name) => {
        const text = redis.get(`note:${name}`);
        if (text === null)
            throw new Refusal(404, `There is no note ${name}`);
        return { name, text };
    },

    'PUT /notes/*': (request, name) => {
        if (Number(request.headers['content-length'] ?? 0) > NOTE_BYTES)
            throw new Refusal(413, 'That is too long for a note');
        const text = wait(request.text());
        redis.set(`note:${name}`, text);
        return [201, { name, length: text.length }];
    },

    'DELETE /notes/*': (request, name) => ({ name, removed: redis.del(`note:${name}`) === 1 }),

    'GET /quote': () => {
        const kept = redis.get('quote');
        if (kept !== null)
            return { ...JSON.parse(kept), from: 'redis' };
        const response = wait(fetch(`${UPSTREAM}/quote`, { signal: AbortSignal.timeout(2000) }));
        if (!response.ok)
            throw new Refusal(502, `The upstream said ${response.status}`);
        const quote = wait(response.json());
        redis.set('quote', JSON.stringify(quote), { seconds: QUOTE_SECONDS });
        return { ...quote, from: 'upstream' };
    },

    'GET /stats': () => {
        const [visits, keys, moment] = redis.pipeline([['GET', 'visits'], ['DBSIZE'], ['TIME']]);
        return { visits: Number(visits ?? 0), keys, seconds: Number(moment[0]), served };
    },
};

// The route of a request, and what its star stands for.
function find(method, target) {
    const [place] = target.split('?', 1);
    const known = routes[`${method} ${place}`];
    if (known)
        return [known];
    const [, folder, name] = place.match(/^(\/\w+\/)(.+)$/) ?? [];
    const starred = folder && routes[`${method} ${folder}*`];
    if (starred)
        return [starred, decodeURIComponent(name)];
    const isElsewhere = Object.keys(routes).some((route) => [place, `${folder}*`].includes(route.split(' ')[1]));
    throw isElsewhere ? new Refusal(405, `${method} is not for ${place}`) : new Refusal(404, `There is no ${place}`);
}

function answer(response, status, value) {
    response.writeHead(status, { 'Content-Type': 'application/json' }).end(`${JSON.stringify(value)}\n`);
}

function statusOf(error) {
    if (error instanceof Refusal)
        return error.status;
    if (error instanceof URIError)
        return 400;
    if (error instanceof RedisError || error.syscall || error.code === 'ECONNRESET')
        return 503;
    return error.name === 'TimeoutError' || error instanceof TypeError ? 502 : 500; // fetch throws those
}

const server = createServer({ fibers: true });
server.on('request', (request, response) => {
    served++;
    try {
        const [route, name] = find(request.method, request.url);
        const result = route(request, name);
        if (Array.isArray(result))
            answer(response, ...result);
        else
            answer(response, 200, result);
    } catch (error) {
        const status = statusOf(error);
        if (status === 500)
            console.error(error);
        answer(response, status, { error: error.message });
    }
});

server.listen(/^\d+$/.test(PORT) ? Number(PORT) : PORT, '127.0.0.1', () => {
    const at = server.address();
    console.log(typeof at === 'string' ? `unix:${at}` : `http://127.0.0.1:${at.port}`);
});
server.on('error', (error) => {
    console.error(error.message);
    process.exit(1);
});

// ---- The end ----

go(() => {
    const ending = signals('SIGTERM', 'SIGINT');
    const name = ending.recv();
    console.log(`${name}: no more connections`);
    wait(new Promise((resolve) => server.close(resolve)));
    redis.close();
    ending.close();
    console.log(`served ${served} requests`);
});
