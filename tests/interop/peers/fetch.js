// SPDX-License-Identifier: MIT
//
// fetch() talks to weft's server: in Node, `node fetch.js BASE RENEWED FOLDER`, and in a browser, where page.html calls it. What
// a file should be is told by its size and its Adler-32 sum. A browser sends bodies in chunks by HTTP/2 only.
'use strict';
const inNode = typeof window === 'undefined';

function adler(bytes) {
  let a = 1, b = 0;
  for (let i = 0; i < bytes.length; i++) {
    a = (a + bytes[i]) % 65521;
    b = (b + a) % 65521;
  }
  return ((b << 16) | a) >>> 0;
}

function same(got, wanted) {
  if (String(got) !== String(wanted)) throw new Error(`${String(got).slice(0, 60)}, not ${String(wanted).slice(0, 60)}`);
}

// The cases by their names. files: {text: {size, sum}, big: {size, sum}}.
function casesOf(base, renewed, files) {
  const ask = (path, options) => fetch(base + path, { cache: 'no-store', ...options });
  const textOf = async (url, options) => (await fetch(url, { cache: 'no-store', ...options })).text();
  const bytesOf = async (response) => new Uint8Array(await response.arrayBuffer());
  const isFile = (bytes, file) => same([bytes.length, adler(bytes)], [file.size, file.sum]);

  // What follows is answered on its own, whatever the last answer was like.
  const stays = async () => isFile(await bytesOf(await ask('/text')), files.text);

  const redirect = (status, method) => async () => {
    const response = await ask(`/redirect/${status}`, { method: 'POST', body: 'hello' });
    same([await response.text(), response.redirected, response.status], [method, true, 200]);
    same(await textOf(`${base}/redirect/${status}`), 'GET 0');
  };

  const cases = {
    'keep-alive': async () => {
      // Node's fetch takes two connections in turn, whoever the server is; a browser keeps to one.
      const first = Number(await textOf(base + '/accepted'));
      for (let i = 0; i < 10; i++) {
        const now = Number(await textOf(base + '/accepted'));
        if (now - first > (inNode ? 1 : 0)) throw new Error(`${now - first + 1} connections`);
      }
    },
    'chunked response': async () => {
      const response = await ask('/chunked');
      same(response.headers.get('Content-Length'), null);
      isFile(await bytesOf(response), files.text);
      await stays();
    },
    gzip: async () => {
      const response = await ask('/text');
      same(response.headers.get('Content-Encoding'), 'gzip');
      isFile(await bytesOf(response), files.text);
      await stays();
    },
    'gzip, in pieces': async () => {
      const response = await ask('/stream');
      same(response.headers.get('Content-Encoding'), 'gzip');
      isFile(await bytesOf(response), files.text);
      await stays();
    },
    'range 206': async () => {
      const whole = await bytesOf(await ask('/big'));
      const response = await ask('/big', { headers: { Range: 'bytes=1000-1499' } });
      same([response.status, response.headers.get('Content-Range')], [206, `bytes 1000-1499/${files.big.size}`]);
      same(await bytesOf(response), whole.subarray(1000, 1500));
      await stays();
    },
    'range 416': async () => {
      const response = await ask('/big', { headers: { Range: `bytes=${files.big.size}-` } });
      await response.text();
      same([response.status, response.headers.get('Content-Range')], [416, `bytes */${files.big.size}`]);
      await stays();
    },
    'redirect 301': redirect(301, 'GET 0'),
    'redirect 302': redirect(302, 'GET 0'),
    'redirect 303': redirect(303, 'GET 0'),
    'redirect 307': redirect(307, 'POST 5'),
    'redirect 308': redirect(308, 'POST 5'),
    head: async () => {
      const response = await ask('/big', { method: 'HEAD' });
      same([response.headers.get('Content-Length'), await response.text()], [files.big.size, '']);
      await stays();
    },
    'status 204': async () => {
      const response = await ask('/nothing');
      same([response.status, await response.text()], [204, '']);
      await stays();
    },
    'status 304': async () => {
      const tag = (await ask('/big', { method: 'HEAD' })).headers.get('ETag');
      const response = await ask('/big', { headers: { 'If-None-Match': tag } });
      same([response.status, await response.text()], [304, '']);
      await stays();
    },
    '8 MB down': async () => isFile(await bytesOf(await ask('/big')), files.big),
    '8 MB up': async () => {
      const body = await bytesOf(await ask('/big'));
      same(await textOf(base + '/sum', { method: 'POST', body }), `${files.big.size} ${files.big.size} ${files.big.sum}`);
    },
    '30 in parallel': async () => {
      const all = Array.from({ length: 30 }, async () => isFile(await bytesOf(await ask('/text')), files.text));
      await Promise.all(all);
    },
    'closed between requests': async () => {
      // Node's fetch may find out too late, and leaves it to the caller to ask again; a browser asks again by itself.
      const count = () => textOf(renewed + '/accepted');
      const again = (error) => (inNode ? count() : Promise.reject(error));
      const first = await count();
      same(await textOf(base + '/renew'), 'renewed');
      same(Number(await count().catch(again)) > Number(first), true);
    },
  };
  if (inNode) {
    cases['chunked request'] = async () => {
      const pieces = [new Uint8Array(10).fill(1), new Uint8Array(5000).fill(2), new Uint8Array(1).fill(3)];
      const all = new Uint8Array([...pieces[0], ...pieces[1], ...pieces[2]]);
      const body = new ReadableStream({
        pull(controller) {
          if (pieces.length > 0) controller.enqueue(pieces.shift());
          else controller.close();
        },
      });
      same(await textOf(base + '/sum', { method: 'POST', body, duplex: 'half' }), `-1 ${all.length} ${adler(all)}`);
      await stays();
    };
  }
  return cases;
}

// Runs them in turn and tells of each; returns how many have failed.
async function runCases(cases, tell) {
  let failures = 0;
  for (const [name, run] of Object.entries(cases)) {
    try {
      await run();
      tell(`ok ${name}`);
    } catch (error) {
      failures++;
      tell(`FAILED ${name}: ${error} ${error.cause || ''}`);
    }
  }
  return failures;
}

if (inNode) {
  const [base, renewed, folder] = process.argv.slice(2);
  const files = {};
  for (const name of ['text', 'big']) {
    const bytes = require('fs').readFileSync(require('path').join(folder, name));
    files[name] = { size: bytes.length, sum: adler(bytes) };
  }
  runCases(casesOf(base, renewed, files), console.log).then((failures) => process.exit(failures > 0 ? 1 : 0));
}
