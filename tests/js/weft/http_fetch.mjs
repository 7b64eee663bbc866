import http from 'node:http';
import { serve } from 'weft:http';
import { go, sleep } from 'weft:go';
const server = http.createServer(async (req, res) => {
  if (req.url === '/json') { res.setHeader('content-type', 'application/json'); res.end(JSON.stringify({ a: 1 })); }
  else if (req.url === '/post') { const t = []; for await (const c of req) t.push(c); res.end(Buffer.concat(t).toString().toUpperCase()); }
  else if (req.url === '/redirect') { res.writeHead(302, { Location: '/json' }); res.end(); }
  else if (req.url === '/slow') { setTimeout(() => res.end('slow'), 50); }
  else { res.statusCode = 404; res.end('no'); }
}).listen(0, '127.0.0.1', async () => {
  const base = `http://127.0.0.1:${server.address().port}`;
  console.log(await (await fetch(base + '/json')).json());
  const r = await fetch(base + '/post', { method: 'POST', body: 'hello' }); console.log(r.status, await r.text());
  const q = await fetch(base + '/redirect'); console.log(q.redirected, q.url.endsWith('/json'), await q.text());
  const n = await fetch(base + '/nothing'); console.log(n.status, n.ok, n.statusText, await n.text());
  try { await fetch(base + '/slow', { signal: AbortSignal.timeout(5) }); } catch (e) { console.log(e.name); }
  try { await fetch('http://127.0.0.1:1/'); } catch (e) { console.log(e.name, e.message, e.cause?.code); }
  console.log(await go(() => { let sum = 0; for (let i = 0; i < 3; i++) { sleep(1); sum += i; } return sum; }));
  const s2 = serve({ port: 0 }, async (req) => new Response('hi ' + new URL(req.url).pathname + ' ' + await req.text(), { headers: { 'x-a': 'b' } }));
  const a2 = s2.address(); const z = await fetch(`http://127.0.0.1:${a2.port}/p`, { method: 'PUT', body: 'B' }); console.log(z.headers.get('x-a'), await z.text());
  s2.close(); server.close(() => console.log('closed'));
});
