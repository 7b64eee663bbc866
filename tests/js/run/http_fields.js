// Header fields of all kinds that writeHead is given in an object: plain ones, lists, other characters, such as no field may have.
'use strict';
const http = require('node:http');

const heads = {
    plain: { 'Content-Type': 'text/plain', 'X-Number': 5.5, 'X-Empty': '' },
    latin: { 'X-Latin': '\u00e9', 'X-List': ['1', '2'] },
    own: { Connection: 'close', 'X-Other': 'yes' },
    name: { 'bad name': 1 },
    control: { x: 'a\nb' },
    zero: { x: 'a\0b' },
    wide: { x: '\u20ac' },
    nothing: { x: undefined },
    values: { x: null, y: true },
    inherited: Object.create({ inherited: 1 }),
    getter: { get x() { throw new Error('no'); } },
};

const server = http.createServer((request, response) => {
    try {
        response.writeHead(200, heads[request.url.slice(1)]);
        response.end('ok');
    } catch (error) {
        response.end(`${error.code}: ${error.message}`);
    }
});

server.listen(0, async () => {
    for (const name of Object.keys(heads)) {
        const response = await fetch(`http://127.0.0.1:${server.address().port}/${name}`);
        const fields = [...response.headers].filter(([field]) => !/^(date|keep-alive|connection|content-length|transfer-encoding)$/.test(field));
        console.log(name, response.status, JSON.stringify(fields), await response.text());
    }
    server.close();
    server.closeAllConnections();
});
