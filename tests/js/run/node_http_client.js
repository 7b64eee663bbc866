// node:http's client: how a request is said, what comes back, and how it ends.
'use strict';
const http = require('node:http');
const net = require('node:net');
const { pipeline, Readable } = require('node:stream');
const log = (...parts) => console.log(...parts);
const show = (error) => `${error.name} ${error.code ?? ''} ${error.message}`.replace(/:\d{4,5}\b/g, ':PORT');
const attempt = (what, fn) => {
    try {
        log(what, fn());
    } catch (error) {
        log(what, show(error));
    }
};
const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
const text = async (stream) => {
    let all = '';
    for await (const chunk of stream.setEncoding('utf8'))
        all += chunk;
    return all;
};

let port;
const kept = [];
const server = http.createServer(async (req, res) => {
    const { pathname } = new URL(req.url, 'http://x');
    switch (pathname) {
    case '/echo': {
        const body = [];
        for await (const chunk of req)
            body.push(chunk);
        res.setHeader('X-Method', req.method);
        res.setHeader('X-Length', req.headers['content-length'] ?? 'none');
        res.setHeader('X-Encoding', req.headers['transfer-encoding'] ?? 'none');
        res.end(`${req.url} ${Buffer.concat(body)}`);
        break;
    }
    case '/headers':
        res.end(JSON.stringify(Object.entries(req.headers).filter(([name]) => !['connection', 'host'].includes(name))));
        break;
    case '/slow':
        res.write('begun ');
        setTimeout(() => res.end('ended'), 60);
        break;
    case '/never':
        kept.push(res);
        break;
    case '/cut':
        res.write('half');
        setTimeout(() => res.destroy(), 20);
        break;
    case '/redirect':
        res.writeHead(302, { Location: '/elsewhere' }).end('not followed');
        break;
    case '/large':
        res.end('l'.repeat(500000));
        break;
    case '/cookies':
        res.writeHead(200, [['Set-Cookie', 'a=1'], ['Set-Cookie', 'b=2'], ['X-Twice', '1'], ['X-Twice', '2']]).end();
        break;
    case '/reason':
        res.writeHead(299, 'Rather Good').end();
        break;
    case '/latin':
        res.setHeader('X-L', 'gr\u00fc\u00df').end();
        break;
    case '/early':
        res.writeHead(413).end('too much');
        break;
    default:
        res.end('plain');
    }
});
const at = (path, more) => ({ port, host: '127.0.0.1', path, ...more });
const got = (options, body) => new Promise((resolve, reject) => {
    const request = http.request(options, resolve).on('error', reject);
    request.end(body);
});

const tests = {
    async shapes() {
        const answer = await got(at('/'));
        log(answer.statusCode, answer.statusMessage, answer.httpVersion, await text(answer), answer.complete, answer.req.method);
        for (const given of [[`http://127.0.0.1:${port}/`], [new URL(`http://127.0.0.1:${port}/echo?q=1`)], [`http://127.0.0.1:${port}/x`, { path: '/echo', method: 'PUT' }]]) {
            const response = await new Promise((resolve) => http.request(...given, resolve).end());
            log(response.statusCode, response.headers['x-method'], await text(response));
        }
        await new Promise((resolve) => http.get({ port, hostname: '127.0.0.1' }, (response) => response.resume().on('end', resolve)));
        const request = http.request(at('/echo?x', { method: 'post', headers: { 'X-A': '1' }, auth: 'user:pass' }));
        log(request.method, request.path, request.host, request.protocol, request.getHeader('x-a'), request.getHeader('authorization'),
            request.getHeader('host') === `127.0.0.1:${port}`, request.headersSent, request.finished, request.writableEnded, request.aborted, request.destroyed);
        const response = await new Promise((resolve) => request.on('response', resolve).end('body'));
        log(request.headersSent, request.writableEnded, await text(response));
    },
    async bodies() {
        const say = async (options, send) => {
            const response = await new Promise((resolve, reject) => {
                const request = http.request(at('/echo', options), resolve).on('error', reject);
                send(request);
            });
            const { 'x-method': method, 'x-length': length, 'x-encoding': encoding } = response.headers;
            const all = await text(response);
            log(method, length, encoding, all.length > 60 ? all.length : all);
        };
        await say({ method: 'POST' }, (request) => request.end('whole'));
        await say({ method: 'POST' }, (request) => request.end());
        await say({ method: 'PUT' }, (request) => {
            request.write('a');
            request.write('b');
            request.end('c');
        });
        await say({ method: 'POST', headers: { 'Content-Length': 3 } }, (request) => {
            request.write('ab');
            setTimeout(() => request.end('c'), 10);
        });
        await say({ method: 'POST' }, (request) => pipeline(Readable.from(['p', 'i', 'p', 'e']), request, (error) => log('piped', error)));
        await say({ method: 'POST' }, (request) => {
            let n = 0;
            const more = () => {
                while (n++ < 50)
                    if (!request.write('z'.repeat(10000))) {
                        request.once('drain', more);
                        return;
                    }
                request.end();
            };
            more();
        });
        await say({ method: 'DELETE' }, (request) => request.end());
    },
    async answers() {
        const redirect = await got(at('/redirect'));
        log(redirect.statusCode, redirect.headers.location, await text(redirect));
        const cookies = await got(at('/cookies'));
        log(cookies.headers['set-cookie'], cookies.headers['x-twice'], cookies.headersDistinct['x-twice'], cookies.rawHeaders.filter((word, i, all) => /^(set|x)-/i.test(all[i - i % 2])));
        cookies.resume();
        const reason = await got(at('/reason'));
        log(reason.statusCode, reason.statusMessage);
        reason.resume();
        const latin = await got(at('/latin', { method: 'HEAD' }));
        log(latin.headers['x-l'], await text(latin));
        log((await text(await got(at('/large')))).length);
        log(await text(await got(at('/headers', { headers: { A: '1', 'X-B': ['2', '3'], Accept: 'text/plain' } }))));
        const early = await got(at('/early', { method: 'POST' }), 'b'.repeat(100));
        log(early.statusCode, await text(early));
    },
    async events() {
        const note = (name, emitter, names) => names.forEach((each) => emitter.on(each, () => log(name, each)));
        for (const path of ['/', '/slow']) {
            const request = http.request(at(path));
            note('request', request, ['response', 'finish', 'close', 'prefinish', 'error', 'abort', 'timeout']);
            const closed = new Promise((resolve) => request.on('close', resolve));
            request.on('response', (response) => {
                note('response', response, ['end', 'close', 'aborted', 'error']);
                response.resume();
            });
            request.end(() => log('end callback'));
            await closed;
            log(request.destroyed, request.aborted, request.writableFinished);
        }
    },
    async failures() {
        const unused = await new Promise((resolve) => {
            const probe = net.createServer().listen(0, '127.0.0.1', () => {
                const { port: free } = probe.address();
                probe.close(() => resolve(free));
            });
        });
        const failed = (options, send = (request) => request.end()) => new Promise((resolve) => {
            const request = http.request(options);
            let seen = 'nothing';
            request.on('error', (error) => { seen = `${show(error)} ${error.syscall ?? ''} ${error.address ?? ''}`; });
            request.on('response', (response) => response.on('error', (error) => { seen = `response ${show(error)}`; }).resume());
            request.on('close', () => resolve(seen));
            send(request);
        });
        log(await failed({ port: unused, host: '127.0.0.1' }));
        log(await failed({ host: 'no-such-name.invalid' }));
        log(await failed(at('/cut')));
        log(await failed(at('/never'), (request) => {
            request.end();
            setTimeout(() => request.destroy(), 20);
        }));
        log(await failed(at('/never'), (request) => {
            request.end();
            setTimeout(() => request.destroy(new Error('own')), 20);
        }));
        log(await failed(at('/never'), (request) => request.destroy()));
        log(await failed(at('/slow'), (request) => {
            request.on('response', () => setTimeout(() => request.destroy(), 10));
            request.end();
        }));
        log(await failed(at('/never', { timeout: 30 }), (request) => {
            request.on('timeout', () => {
                log('timeout');
                request.destroy(new Error('too slow'));
            });
            request.end();
        }));
        log(await failed(at('/never'), (request) => {
            request.setTimeout(30, () => request.abort());
            request.end();
        }));
        const controller = new AbortController();
        setTimeout(() => controller.abort(), 20);
        log(await failed(at('/never', { signal: controller.signal })));
        log(await failed(at('/never', { signal: AbortSignal.abort() })));
        const odd = net.createServer((socket) => socket.end('this is no HTTP\r\n\r\n')).listen(0, '127.0.0.1');
        await new Promise((resolve) => odd.on('listening', resolve));
        log((await failed({ port: odd.address().port, host: '127.0.0.1' })).split(' ')[0]);
        const mute = net.createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
        await new Promise((resolve) => mute.on('listening', resolve));
        log(await failed({ port: mute.address().port, host: '127.0.0.1' }));
        odd.close();
        mute.close();
    },
    async misuse() {
        attempt('path', () => http.request({ path: '/a b' }));
        attempt('method', () => http.request({ method: 'A B' }));
        attempt('method type', () => http.request({ method: 5 }));
        attempt('host', () => http.request({ host: 5 }));
        attempt('protocol', () => http.request({ protocol: 'https:' }));
        attempt('header', () => http.request({ headers: { 'a b': '1' } }));
        attempt('value', () => http.request({ headers: { a: 'x\ny' } }));
        attempt('agent', () => http.request({ agent: 5 }));
        attempt('url', () => http.request('nonsense'));
        const request = http.request(at('/'));
        request.on('error', (error) => log('error', show(error)));
        request.end();
        attempt('set', () => request.setHeader('a', '1'));
        log('write', request.write('late', (error) => log('callback', error?.code)));
        await pause(50);
    },
    async agents() {
        const agent = new http.Agent({ keepAlive: true, maxSockets: 2 });
        log(agent.keepAlive, agent.maxSockets, agent.maxFreeSockets, agent.protocol, agent.defaultPort, agent.getName({ host: 'a', port: 1 }), agent.getName());
        const before = await connections();
        for (let i = 0; i < 4; i++)
            await text(await got(at('/', { agent })));
        log('kept', await connections() - before < 4); // one is enough, unless the next request comes before it is given back
        let running = 0, most = 0;
        server.on('request', count);
        await Promise.all(Array.from({ length: 6 }, async () => text(await got(at('/slow', { agent })))));
        server.off('request', count);
        log('at most', most);
        agent.destroy();
        log(http.globalAgent instanceof http.Agent, http.globalAgent.keepAlive);
        const single = await got(at('/', { agent: false }));
        log(await text(single));
        function count(req, res) {
            most = Math.max(most, ++running);
            res.on('close', () => running--);
        }
    },
    async unread() {
        const request = http.request(at('/large')).end();
        await new Promise((resolve) => request.on('close', resolve));
        log('nobody listened', request.res !== null);
        await new Promise((resolve) => {
            http.get(at('/large'), (response) => {
                response.once('data', (chunk) => {
                    log('first', chunk.length > 0);
                    response.destroy();
                });
                response.on('close', () => resolve(log('destroyed', response.destroyed, response.aborted)));
                response.on('error', () => {});
            });
        });
    },
};
const connections = () => new Promise((resolve) => server.getConnections((error, count) => resolve(count)));

server.listen(0, '127.0.0.1', async () => {
    ({ port } = server.address());
    for (const name of Object.keys(tests)) {
        log(`== ${name}`);
        await tests[name]();
    }
    server.close();
    server.closeAllConnections();
    http.globalAgent.destroy();
});
