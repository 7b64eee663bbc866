// node:http's server: what handlers see, what they can say, and in which order they are told.
'use strict';
const http = require('node:http');
const { pipeline, finished } = require('node:stream');
const { Readable, Writable } = require('node:stream');
const log = (...parts) => console.log(...parts);
const show = (error) => `${error.name} ${error.code ?? ''} ${error.message}`;
const attempt = (what, fn) => {
    try {
        log(what, fn());
    } catch (error) {
        log(what, show(error));
    }
};
const once = (emitter, name) => new Promise((resolve) => emitter.once(name, resolve));

// One request, and its answer as [status, headers that matter, body].
async function ask(port, options, body) {
    return new Promise((resolve) => {
        const request = http.request({ port, host: '127.0.0.1', ...options }, async (response) => {
            const chunks = [];
            try {
                for await (const chunk of response)
                    chunks.push(chunk);
            } catch (error) {
                chunks.push(Buffer.from(`(${error.code})`));
            }
            resolve([response.statusCode, response.statusMessage, response.headers, Buffer.concat(chunks).toString()]);
        });
        request.on('error', (error) => resolve(['failed', error.code]));
        if (typeof body === 'function')
            body(request);
        else
            request.end(body);
    });
}
const brief = ([status, reason, headers, body]) => {
    if (status === 'failed')
        return `failed ${reason}`;
    const { date, connection, 'keep-alive': keep, 'transfer-encoding': encoding, 'content-length': length, ...rest } = headers;
    return `${status} ${reason} ${JSON.stringify(rest)} ${body.length > 60 ? body.length : JSON.stringify(body)}`;
};

const tests = {
    async request(serve) {
        const port = await serve((req, res) => {
            log(req.method, req.url, req.httpVersion, req.httpVersionMajor, req.httpVersionMinor);
            log(req.headers['x-one'], req.headers['x-many'], req.headers.cookie, req.headers['x-latin']);
            log(req.rawHeaders.filter((text, i, all) => /^x-/i.test(all[i - i % 2])));
            log(req.headersDistinct['x-many'], Object.getPrototypeOf(req.headersDistinct));
            log(req instanceof Readable, req instanceof http.IncomingMessage, res instanceof http.ServerResponse, res instanceof http.OutgoingMessage, res instanceof Writable);
            log(req.socket.remoteAddress, typeof req.socket.remotePort, req.connection === req.socket, req.aborted, res.req === req);
            log(res.statusCode, res.statusMessage, res.headersSent, res.finished, res.writableEnded, res.writableFinished);
            res.end('ok');
            log(res.headersSent, res.finished, res.writableEnded, res.statusMessage);
        });
        log(brief(await ask(port, { path: '/a?b=c', headers: { 'X-One': '1', 'X-Many': ['a', 'b'], Cookie: ['a=1', 'b=2'], 'X-Latin': 'gr\u00fc\u00df' } })));
    },
    async headers(serve) {
        const port = await serve((req, res) => {
            res.setHeader('X-A', 'one');
            res.setHeader('x-a', 'two');
            res.setHeader('X-List', ['1', '2']);
            res.setHeader('X-Number', 5);
            res.appendHeader('X-List', '3');
            res.setHeader('X-Gone', 'x');
            res.removeHeader('x-gone');
            log(res.getHeader('X-A'), res.hasHeader('X-A'), res.hasHeader('nope'), res.getHeaderNames(), res.getHeaders(), res.getRawHeaderNames());
            attempt('bad name', () => res.setHeader('bad name', 'x'));
            attempt('empty name', () => res.setHeader('', 'x'));
            attempt('undefined', () => res.setHeader('x-u'));
            attempt('line break', () => res.setHeader('x-b', 'a\nb'));
            attempt('beyond latin', () => res.setHeader('x-b', '\u4f60'));
            attempt('no text', () => res.getHeader(5));
            attempt('status', () => res.writeHead(1000));
            attempt('status', () => res.writeHead('x'));
            res.setHeader('X-Latin', 'gr\u00fc\u00df');
            res.writeHead(201, 'Made Up', { 'X-More': 'm', 'X-A': 'three' });
            log(res.headersSent);
            attempt('set', () => res.setHeader('x', 'y'));
            attempt('remove', () => res.removeHeader('x'));
            attempt('head', () => res.writeHead(200));
            res.end();
        });
        log(brief(await ask(port, {})));
    },
    async headLists(serve) {
        const port = await serve((req, res) => {
            if (req.url === '/flat')
                res.writeHead(200, ['A', '1', 'B', '2', 'A', '3']);
            else if (req.url === '/odd')
                attempt('odd', () => res.writeHead(200, ['A']));
            else
                res.setHeaders(new Map([['a', '1'], ['set-cookie', ['x=1', 'y=2']]]));
            res.end();
        });
        for (const path of ['/flat', '/odd', '/map'])
            log(brief(await ask(port, { path })));
    },
    async bodies(serve) {
        const port = await serve(async (req, res) => {
            const chunks = [];
            for await (const chunk of req)
                chunks.push(chunk);
            const body = Buffer.concat(chunks);
            log(req.method, body.length, req.complete, req.readableEnded, req.headers['transfer-encoding'], req.headers['content-length']);
            res.end(body.length < 50 ? body : String(body.length));
        });
        log(brief(await ask(port, { method: 'POST' }, 'small')));
        log(brief(await ask(port, { method: 'PUT' }, 'x'.repeat(300000))));
        log(brief(await ask(port, { method: 'POST' }, (request) => {
            request.write('a');
            setTimeout(() => {
                request.write('b');
                request.end('c');
            }, 5);
        })));
        log(brief(await ask(port, { method: 'POST', headers: { 'Content-Length': '4' } }, (request) => {
            request.write('ab');
            request.end('cd');
        })));
        log(brief(await ask(port, { method: 'DELETE' })));
    },
    async events(serve) {
        const port = await serve((req, res) => {
            const note = (name, emitter, ...names) => names.forEach((each) => emitter.on(each, () => log(name, each)));
            note('req', req, 'end', 'close', 'aborted', 'error');
            note('res', res, 'prefinish', 'finish', 'close', 'drain');
            if (req.url === '/read')
                req.on('data', (chunk) => log('data', String(chunk))).on('end', () => res.end('read', () => log('callback')));
            else
                res.end('unread', () => log('callback'));
            res.on('close', () => log(res.destroyed, res.closed, res.writableFinished, req.complete, req.destroyed));
        });
        log(brief(await ask(port, { path: '/read', method: 'POST' }, 'body')));
        await new Promise((resolve) => setTimeout(resolve, 20));
        log(brief(await ask(port, { path: '/unread' })));
        await new Promise((resolve) => setTimeout(resolve, 20));
        log(brief(await ask(port, { path: '/unread', method: 'POST' }, 'left alone')));
        await new Promise((resolve) => setTimeout(resolve, 20));
    },
    async streaming(serve) {
        const port = await serve((req, res) => {
            switch (req.url) {
            case '/pieces':
                res.write('one ');
                res.write('two ', () => log('two is written'));
                setTimeout(() => res.end('three'), 5);
                break;
            case '/pipe':
                Readable.from(['p', 'i', 'p', 'e']).pipe(res);
                break;
            case '/pipeline':
                pipeline(req, res, (error) => log('pipeline', error));
                break;
            case '/drain': {
                let n = 0;
                const more = () => {
                    while (n < 100) {
                        n++;
                        if (!res.write('d'.repeat(10000))) {
                            log('full', res.writableNeedDrain, res.writableLength > 0);
                            res.once('drain', () => {
                                log('drained', res.writableNeedDrain);
                                n = 100;
                                more();
                            });
                            return;
                        }
                    }
                    res.end();
                };
                more();
                break;
            }
            case '/flush':
                res.flushHeaders();
                log('sent', res.headersSent);
                setTimeout(() => res.end('later'), 5);
                break;
            case '/encoding':
                res.write('c3bc', 'hex');
                res.end('YQ==', 'base64');
                break;
            }
        });
        for (const path of ['/pieces', '/pipe', '/flush', '/encoding'])
            log(path, brief(await ask(port, { path })));
        const [status, , , body] = await ask(port, { path: '/drain' });
        log('/drain', status, body.length > 10000);
        log('/pipeline', brief(await ask(port, { path: '/pipeline', method: 'POST' }, 'echo'.repeat(50000))));
    },
    async bare(serve) {
        const port = await serve((req, res) => {
            if (req.url === '/204')
                res.statusCode = 204;
            if (req.url === '/304')
                res.writeHead(304, { ETag: '"x"' });
            if (req.url === '/length')
                res.setHeader('Content-Length', 7);
            log(res.write('ignored', (error) => log('write', error)));
            res.end();
        });
        log(brief(await ask(port, { method: 'HEAD' })));
        for (const path of ['/204', '/304'])
            log(path, brief(await ask(port, { path })));
        const [status, , headers, body] = await ask(port, { path: '/length', method: 'HEAD' });
        log(status, headers['content-length'], body);
    },
    async misuse(serve) {
        const port = await serve(async (req, res) => {
            res.on('error', (error) => log('error', show(error)));
            attempt('write null', () => res.write(null));
            attempt('write number', () => res.write(5));
            attempt('write nothing', () => res.write());
            attempt('end number', () => res.end(5));
            res.end('done');
            log('write after end', res.write('late', (error) => log('callback', error.code)));
            await new Promise(setImmediate);
            res.end('again', (error) => log('end again', error?.code));
            await new Promise(setImmediate);
            await new Promise(setImmediate);
            res.end((error) => log('end once more', error?.code));
        });
        const answer = await ask(port, {});
        await new Promise((resolve) => setTimeout(resolve, 20));
        log(brief(answer));
    },
    async destroyed(serve) {
        const port = await serve((req, res) => {
            res.on('close', () => log('res close', res.destroyed, res.writableFinished));
            req.on('aborted', () => log('req aborted'));
            req.on('close', () => log('req close', req.aborted, req.destroyed));
            switch (req.url) {
            case '/res':
                res.destroy();
                break;
            case '/req':
                req.destroy();
                break;
            case '/begun':
                res.write('begun');
                setTimeout(() => res.destroy(), 20);
                break;
            case '/error':
                res.destroy(new Error('on purpose'));
                log(res.errored?.message);
                break;
            }
        });
        for (const path of ['/res', '/req', '/error']) {
            log(path, brief(await ask(port, { path })));
            await new Promise((resolve) => setTimeout(resolve, 20));
        }
        const [status, , , body] = await ask(port, { path: '/begun' });
        await new Promise((resolve) => setTimeout(resolve, 20));
        log('/begun', status, body);
    },
    async clientGone(serve) {
        let seen;
        const port = await serve((req, res) => {
            req.on('aborted', () => log('req aborted'));
            req.on('error', (error) => log('req error', show(error)));
            req.on('close', () => {
                log('req close', req.aborted, req.destroyed);
                seen();
            });
            res.on('close', () => log('res close', res.destroyed, res.writableEnded));
            res.on('finish', () => log('res finish'));
            if (req.url === '/body')
                req.on('data', (chunk) => log('data', chunk.length)).on('end', () => log('never'));
            if (req.url === '/writing')
                res.write('x');
            finished(res, (error) => log('finished', error?.code));
        });
        for (const path of ['/waiting', '/writing', '/body']) {
            const told = new Promise((resolve) => { seen = resolve; });
            const request = http.request({ port, host: '127.0.0.1', path, method: path === '/body' ? 'POST' : 'GET' });
            request.on('error', () => {}).on('response', (response) => response.on('error', () => {}).resume());
            if (path === '/body')
                request.write('some');
            else
                request.end();
            setTimeout(() => request.destroy(), 50);
            await told;
            await new Promise((resolve) => setTimeout(resolve, 20));
            log('--');
        }
    },
    async trailers(serve) {
        const port = await serve((req, res) => {
            req.resume().on('end', () => {
                log(req.trailers, req.rawTrailers);
                res.writeHead(200, { Trailer: 'X-Sum' });
                res.write('body');
                res.addTrailers({ 'X-Sum': '42' });
                res.end();
            });
        });
        await new Promise((resolve) => {
            http.get({ port, host: '127.0.0.1' }, (response) => {
                response.resume().on('end', () => resolve(log(response.trailers, response.headers.trailer)));
            });
        });
    },
    async listening() {
        const server = http.createServer();
        log(server.listening, server.address(), server.keepAliveTimeout, server.headersTimeout, server.requestTimeout, server.timeout, server.maxRequestsPerSocket);
        server.listen(0, '127.0.0.1');
        await once(server, 'listening');
        const { address, family, port } = server.address();
        log(server.listening, address, family, typeof port);
        attempt('again', () => server.listen(0));
        const second = http.createServer().listen(port, '127.0.0.1');
        const error = await once(second, 'error');
        log(show(error).replaceAll(port, 'PORT'), error.syscall, error.address, error.port === port);
        attempt('port', () => http.createServer().listen(70000));
        server.close((failure) => log('closed', failure));
        await once(server, 'close');
        server.close((failure) => log('closed again', failure.code));
        await once(server, 'close');
        log(server.listening, server.address());
    },
    async ends() {
        const server = http.createServer((req, res) => setTimeout(() => res.end('slow'), 30)).listen(0, '127.0.0.1');
        await once(server, 'listening');
        const answer = ask(server.address().port, { agent: new http.Agent({ keepAlive: true }) });
        await once(server, 'request');
        const closed = new Promise((resolve) => server.close(resolve));
        const told = brief(await answer);
        await closed;
        log('closed', told);
        const hanging = http.createServer(() => {}).listen(0, '127.0.0.1');
        await once(hanging, 'listening');
        const lost = ask(hanging.address().port, {});
        await once(hanging, 'request');
        const over = once(hanging, 'close');
        hanging.close();
        hanging.closeAllConnections();
        const failure = brief(await lost);
        await over;
        log('over', failure);
    },
    shape() {
        log(http.METHODS.length, http.METHODS.slice(0, 5), http.STATUS_CODES[404], http.STATUS_CODES[418], Object.keys(http.STATUS_CODES).length);
        log(Object.keys(http).sort().filter((name) => name !== '_connectionListener').join());
        log(http.Server.length, http.createServer.length, new http.Server() instanceof http.Server, http.Server() instanceof http.Server);
        attempt('options', () => http.createServer('x'));
        attempt('name', () => http.validateHeaderName('a b'));
        attempt('value', () => http.validateHeaderValue('a', '\u0100'));
    },
};

async function main() {
    for (const name of Object.keys(tests)) {
        log(`== ${name}`);
        const servers = [];
        await tests[name](async (handler) => {
            const server = http.createServer(handler);
            servers.push(server);
            await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
            return server.address().port;
        });
        for (const server of servers) {
            const closed = once(server, 'close');
            server.close();
            server.closeAllConnections();
            await closed;
        }
    }
}
main();
