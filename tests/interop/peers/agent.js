// SPDX-License-Identifier: MIT
//
// Node's http with an Agent that keeps connections talks to weft's server: `node agent.js BASE RENEWED FOLDER`. The agent has one
// connection at most, so every case that asks twice does it on the same one. It follows no redirects: those are looked at.
'use strict';
const assert = require('assert');
const fs = require('fs');
const http = require('http');
const path = require('path');
const zlib = require('zlib');

const [base, renewed, folder] = process.argv.slice(2);
const text = fs.readFileSync(path.join(folder, 'text'));
const big = fs.readFileSync(path.join(folder, 'big'));

function summed(length, bytes) {
  let a = 1, b = 0;
  for (const byte of bytes) {
    a = (a + byte) % 65521;
    b = (b + a) % 65521;
  }
  return `${length} ${bytes.length} ${((b << 16) | a) >>> 0}`;
}

// One exchange. send(request) writes the body and ends it.
function ask(agent, url, options = {}, send = (request) => request.end()) {
  return new Promise((resolve, reject) => {
    const request = http.request(url, { agent, ...options }, (response) => {
      const pieces = [];
      const isSame = agent.lastSocket === response.socket;
      agent.lastSocket = response.socket;
      response.on('data', (piece) => pieces.push(piece));
      response.on('error', reject);
      response.on('end', () => {
        const { statusCode: status, headers } = response;
        resolve({ status, headers, body: Buffer.concat(pieces), isSame });
      });
    });
    request.on('error', (error) => reject(Object.assign(error, { reused: request.reusedSocket })));
    send(request);
  });
}

async function isText(agent) {
  const answer = await ask(agent, base + '/text');
  assert(answer.body.equals(text), 'another text');
  assert(answer.isSame, 'the connection was not kept');
}

const cases = {
  'keep-alive': async (agent) => {
    const first = (await ask(agent, base + '/accepted')).body.toString();
    for (let i = 0; i < 5; i++) {
      const answer = await ask(agent, base + '/accepted');
      assert.deepStrictEqual([answer.body.toString(), answer.isSame], [first, true]);
    }
  },
  'six at once, one connection': async (agent) => {
    const answers = await Promise.all(Array.from({ length: 6 }, () => ask(agent, base + '/accepted')));
    assert.strictEqual(new Set(answers.map((answer) => answer.body.toString())).size, 1);
  },
  'chunked response': async (agent) => {
    const answer = await ask(agent, base + '/chunked');
    assert.strictEqual(answer.headers['transfer-encoding'], 'chunked');
    assert(answer.body.equals(text), 'another text');
    await isText(agent);
  },
  'chunked request': async (agent) => {
    const answer = await ask(agent, base + '/sum', { method: 'POST' }, (request) => {
      for (let at = 0; at < text.length; at += 3000) request.write(text.subarray(at, at + 3000));
      request.end();
    });
    assert.strictEqual(answer.body.toString(), summed(-1, text));
    await isText(agent);
  },
  'chunked request with a trailer': async (agent) => {
    const headers = { Trailer: 'X-Sum', 'Transfer-Encoding': 'chunked' };
    const answer = await ask(agent, base + '/sum', { method: 'POST', headers }, (request) => {
      request.write(text);
      request.addTrailers({ 'X-Sum': '1' });
      request.end();
    });
    assert.strictEqual(answer.body.toString(), summed(-1, text));
    await isText(agent);
  },
  gzip: async (agent) => {
    const answer = await ask(agent, base + '/text', { headers: { 'Accept-Encoding': 'gzip, deflate' } });
    assert.strictEqual(answer.headers['content-encoding'], 'gzip');
    assert(zlib.gunzipSync(answer.body).equals(text), 'another text');
    await isText(agent);
  },
  'range 206': async (agent) => {
    const answer = await ask(agent, base + '/big', { headers: { Range: 'bytes=1000-1499' } });
    assert.strictEqual(answer.status, 206);
    assert(answer.body.equals(big.subarray(1000, 1500)), 'another part');
    await isText(agent);
  },
  'range 416': async (agent) => {
    const answer = await ask(agent, base + '/big', { headers: { Range: `bytes=${big.length}-` } });
    assert.strictEqual(answer.status, 416);
    await isText(agent);
  },
  redirects: async (agent) => {
    for (const status of [301, 302, 303, 307, 308]) {
      const answer = await ask(agent, `${base}/redirect/${status}`, { method: 'POST' }, (request) => request.end('hello'));
      assert.deepStrictEqual([answer.status, answer.headers.location], [status, '/method']);
    }
    await isText(agent);
  },
  'expect: 100-continue': async (agent) => {
    const headers = { Expect: '100-continue', 'Content-Length': text.length };
    const answer = await ask(agent, base + '/sum', { method: 'POST', headers }, (request) => {
      request.on('continue', () => request.end(text));
      request.flushHeaders();
    });
    assert.strictEqual(answer.body.toString(), summed(text.length, text));
    await isText(agent);
  },
  'expect, refused': async (agent) => {
    const headers = { Expect: '100-continue', 'Content-Length': text.length };
    const answer = await ask(agent, base + '/refused', { method: 'POST', headers }, (request) => {
      request.on('continue', () => request.destroy(new Error('the body was asked for')));
      request.flushHeaders();
    });
    assert.strictEqual(answer.status, 403);
  },
  head: async (agent) => {
    const answer = await ask(agent, base + '/big', { method: 'HEAD' });
    assert.deepStrictEqual([answer.headers['content-length'], answer.body.length], [String(big.length), 0]);
    await isText(agent);
  },
  'status 204': async (agent) => {
    const answer = await ask(agent, base + '/nothing');
    assert.deepStrictEqual([answer.status, answer.body.length], [204, 0]);
    await isText(agent);
  },
  'status 304': async (agent) => {
    const { etag } = (await ask(agent, base + '/big', { method: 'HEAD' })).headers;
    const answer = await ask(agent, base + '/big', { headers: { 'If-None-Match': etag } });
    assert.deepStrictEqual([answer.status, answer.body.length], [304, 0]);
    await isText(agent);
  },
  '8 MB down': async (agent) => {
    assert((await ask(agent, base + '/big')).body.equals(big), 'another body');
    await isText(agent);
  },
  '8 MB up': async (agent) => {
    const headers = { 'Content-Length': big.length };
    const answer = await ask(agent, base + '/sum', { method: 'POST', headers }, (request) => request.end(big));
    assert.strictEqual(answer.body.toString(), summed(big.length, big));
    await isText(agent);
  },
  // An agent may find out too late; then its documentation says to ask again, as here.
  'closed between requests': async (agent) => {
    const again = (error) => {
      assert(error.reused, error);
      return ask(agent, renewed + '/accepted');
    };
    assert.strictEqual((await ask(agent, renewed + '/accepted')).body.toString(), '1');
    await ask(agent, base + '/renew');
    assert.strictEqual((await ask(agent, renewed + '/accepted').catch(again)).body.toString(), '2');
  },
};

async function main() {
  let failures = 0;
  for (const [name, run] of Object.entries(cases)) {
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    try {
      await run(agent);
      console.log(`ok ${name}`);
    } catch (error) {
      failures++;
      console.log(`FAILED ${name}: ${String(error.message).replace(/\s+/g, ' ')}`);
    }
    agent.destroy();
  }
  process.exitCode = failures > 0 ? 1 : 0;
}

main();
