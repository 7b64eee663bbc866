// SPDX-License-Identifier: MIT
//
// A server on Node's http for weft's client: `node server.js FOLDER` prints "ready PORT" and serves until it is killed. The
// paths are those of server.go.
'use strict';
const fs = require('fs');
const http = require('http');
const path = require('path');
const zlib = require('zlib');

const text = fs.readFileSync(path.join(process.argv[2], 'text'));
const big = fs.readFileSync(path.join(process.argv[2], 'big'));
const tag = '"big-1"';
let accepted = 0;
let upload = Buffer.alloc(0);

function serveText(request, response) {
  if (!/\bgzip\b/.test(request.headers['accept-encoding'] || '')) return response.end(text);
  response.setHeader('Content-Encoding', 'gzip');
  const packer = zlib.createGzip();
  packer.pipe(response);
  packer.end(text);
}

function serveChunked(request, response) {
  for (let at = 0; at < text.length; at += 5000) response.write(text.subarray(at, at + 5000));
  response.end();
}

function serveBig(request, response) {
  response.setHeader('ETag', tag);
  if (request.headers['if-none-match'] === tag) return response.writeHead(304).end();
  const range = /^bytes=(\d*)-(\d*)$/.exec(request.headers.range || '');
  if (!range) return response.writeHead(200, { 'Content-Length': big.length }).end(big);
  const from = range[1] ? Number(range[1]) : big.length - Number(range[2]);
  const to = range[1] && range[2] ? Math.min(Number(range[2]), big.length - 1) : big.length - 1;
  if (from > to) return response.writeHead(416, { 'Content-Range': `bytes */${big.length}` }).end('no such range');
  response.writeHead(206, { 'Content-Range': `bytes ${from}-${to}/${big.length}` }).end(big.subarray(from, to + 1));
}

function serveUpload(request, response) {
  if (request.method !== 'PUT') return response.end(upload);
  const pieces = [];
  request.on('data', (piece) => pieces.push(piece));
  request.on('end', () => {
    upload = Buffer.concat(pieces);
    response.writeHead(201, { 'X-Came-As': request.headers['transfer-encoding'] || '' }).end();
  });
}

function serveMethod(request, response) {
  let length = 0;
  request.on('data', (piece) => (length += piece.length));
  request.on('end', () => response.end(`${request.method} ${length}`));
}

function serveClosing(request, response) {
  const socket = request.socket;
  response.on('finish', () => socket.end());
  response.setHeader('Content-Length', 3);
  response.end('bye');
}

function serveStale(request, response) {
  if (request.socket.requests > 1) request.socket.destroy();
  else response.end('fresh');
}

const routes = {
  '/connection': (request, response) => response.end(String(request.socket.number)),
  '/open': (request, response) => server.getConnections((error, count) => response.end(String(count))),
  '/text': serveText,
  '/chunked': serveChunked,
  '/big': serveBig,
  '/upload': serveUpload,
  '/refused': (request, response) => response.writeHead(403, { Connection: 'close' }).end(),
  '/redirect': (request, response) =>
    response.writeHead(Number(path.basename(request.url)), { Location: '/method' }).end(),
  '/method': serveMethod,
  '/nothing': (request, response) => response.writeHead(204).end(),
  '/closing': serveClosing,
  '/stale': serveStale,
};

function serve(request, response) {
  request.socket.requests++;
  const route = routes['/' + request.url.split('/')[1]];
  if (route) route(request, response);
  else response.writeHead(404).end();
}

const server = http.createServer(serve);
server.on('connection', (socket) => {
  socket.number = ++accepted;
  socket.requests = 0;
});
server.on('checkContinue', (request, response) => {
  if (request.url !== '/refused') response.writeContinue();
  serve(request, response);
});
server.listen(0, '127.0.0.1', () => console.log('ready', server.address().port));
