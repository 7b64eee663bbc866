// Response and the methods that read bodies.
const shown = (value) => (value !== null && typeof value === 'object' ? JSON.stringify(value) : String(value));

// Runs something and prints what it gave, or its error; brief leaves the message out.
async function attempt(label, run, brief) {
    try {
        console.log(`${label}: ${shown(await run())}`);
    } catch (error) {
        const text = error instanceof Error ? `${error.name} ${error.code}` : `value ${String(error)}`;
        const cause = error && error.cause instanceof Error ? ` <- ${error.cause.message}` : '';
        console.log(`${label}: ${text}${brief || !(error instanceof Error) ? '' : ' ' + error.message + cause}`);
    }
}

const facts = (r) => JSON.stringify([r.type, r.url, r.redirected, r.status, r.ok, r.statusText, [...r.headers], r.bodyUsed]);

async function construct() {
    console.log(facts(new Response()), new Response().body);
    const odd = new Response('x', { status: 201.9, statusText: 'Fine \u00e9\t', headers: [['a', 'b']] });
    console.log(facts(odd));
    for (const status of [199, 600, 'abc', 0, 65736, -1, 204, 205, 304, 101]) {
        await attempt('status ' + status, () => new Response('x', { status }).status);
    }
    for (const status of [204, 205, 304]) {
        await attempt('null body ' + status, () => new Response(null, { status }).body);
    }
    await attempt('text', () => new Response('', { statusText: '\n' }));
    await attempt('text wide', () => new Response('', { statusText: '\u0100' }));
    await attempt('init', () => new Response('', 1), true);
    await attempt('no new', () => Response(), true);
    const bodies = ['x', '', new URLSearchParams('a=b&c=é'), new Blob(['x'], { type: 'T/y; Q=r' }), new Blob(['y']),
        new ArrayBuffer(1),
        new Uint8Array([104, 105]), new DataView(new Uint8Array([97, 98, 99]).buffer, 1),
            new ReadableStream({ start(c) { c.close(); } }),
        {}, 1, true, null, undefined];
    for (const body of bodies) {
        const response = new Response(body);
        console.log(response.headers.get('content-type'), response.body === null, JSON.stringify(await response.text()));
    }
    console.log(new Response('x', { headers: { 'Content-Type': 'own/type' } }).headers.get('content-type'));
}

async function reading() {
    const r = new Response('{"a":[1,"é"]}');
    console.log(r.bodyUsed);
    const promise = r.json();
    console.log(r.bodyUsed, JSON.stringify(await promise));
    for (const key of ['text', 'json', 'arrayBuffer', 'blob', 'bytes', 'formData']) {
        await attempt('again ' + key, () => r[key]());
    }
    await attempt('clone used', () => r.clone());
    await attempt('json bad', () => new Response('{').json(), true);
    await attempt('json empty', () => new Response('').json(), true);
    await attempt('json null', () => new Response().json(), true);
    const empty = new Response();
    console.log(await empty.text() === '', empty.bodyUsed, await empty.text() === '');
    const buffer = await new Response('hi').arrayBuffer();
    console.log(buffer.constructor.name, buffer.byteLength);
    const bytes = await new Response('hi').bytes();
    console.log(bytes.constructor.name, String(bytes));
    console.log((await new Response('\ufeffx').text()).length, (await new Response('\ufeff{}').json()) instanceof Object);
    for (const type of ['A/B ; Charset=UTF-8', 'bad', 'text/html;x="a b"', 'a/b, c/d', '*/*', 'a/b;;c=d;c=e']) {
        const blob = await new Response('x', { headers: { 'content-type': type } }).blob();
        console.log(type, '->', blob.type, blob.size);
    }
    console.log(JSON.stringify((await new Response(new Uint8Array(2)).blob()).type));
}

async function streams() {
    const r = new Response('abc');
    console.log(r.body === r.body, r.body instanceof ReadableStream, r.body.locked, r.bodyUsed);
    const reader = r.body.getReader();
    await attempt('locked', () => r.text());
    await attempt('clone locked', () => r.clone());
    console.log(r.bodyUsed, r.body.locked);
    const { value, done } = await reader.read();
    console.log(value.constructor.name, String(value), done, r.bodyUsed, (await reader.read()).done);
    await attempt('response of used', () => new Response(r.body));
    const made = new Response(new ReadableStream({
        start(c) { c.enqueue(new Uint8Array([104])); c.enqueue(new Uint8Array([105])); c.close(); },
    }));
    console.log(made.headers.get('content-type'), await made.text(), made.bodyUsed, made.body.locked);
    await attempt('text chunks', () => new Response(new ReadableStream({ start(c) { c.enqueue('x'); c.close(); } })).text());
    await attempt('stream error', () => new Response(new ReadableStream({ start(c) { c.error(new RangeError('lost'));
        } })).text());
    const spent = new Response('x');
    await spent.text();
    console.log(spent.body.locked, spent.bodyUsed);
    const cancelled = new Response('x');
    await cancelled.body.cancel();
    console.log(cancelled.bodyUsed);
    await attempt('cancelled', () => cancelled.text());
    let all = '';
    for await (const chunk of new Response('iterate').body.pipeThrough(new TextDecoderStream())) {
        all += chunk;
    }
    console.log(all);
    async function* parts() {
        yield new Uint8Array([97]);
        yield new Uint8Array([98]);
    }
    console.log(await new Response(parts()).text());
    for await (const chunk of new Response('').body) {
        console.log('never', chunk);
    }
    const byob = new Response('xyz').body.getReader({ mode: 'byob' });
    console.log(String((await byob.read(new Uint8Array(2))).value));
}

async function cloning() {
    const r = new Response('both', { status: 202, statusText: 'S', headers: { a: 'b' } });
    const c = r.clone();
    c.headers.set('a', 'c');
    console.log(facts(r), facts(c), await r.text(), c.bodyUsed, await c.text());
    const s = new Response(new ReadableStream({ start(k) { k.enqueue(new Uint8Array([120])); k.close(); } }));
    const before = s.body;
    const t = s.clone();
    console.log(before === s.body, before.locked, await s.text(), await t.text());
    console.log(new Response().clone().body);
}

async function statics() {
    console.log(facts(Response.error()), Response.error().body);
    const json = Response.json({ a: 1 }, { status: 201, headers: { x: 'y' } });
    console.log(facts(json), await json.text());
    console.log(facts(Response.json(null, { headers: { 'content-type': 'own' } })));
    await attempt('json none', () => Response.json());
    for (const value of [undefined, Symbol('s'), () => 1]) {
        await attempt('json', () => Response.json(value));
    }
    await attempt('json 204', () => Response.json(1, { status: 204 }));
    const circle = {};
    circle.circle = circle;
    await attempt('json circle', () => Response.json(circle), true);
    await attempt('json bigint', () => Response.json(1n), true);
    await attempt('redirect none', () => Response.redirect());
    await attempt('redirect bad', () => Response.redirect('x'));
    await attempt('redirect 200', () => Response.redirect('http://a/', 200));
    for (const status of [301, 302, 303, 307, 308]) {
        console.log(facts(Response.redirect('http://a/é?b#c', status)));
    }
    await attempt('redirect headers', () => Response.redirect('http://a/').headers.set('a', 'b'));
}

async function shapes() {
    console.log(Response.length, Response.name, String(new Response()), Object.keys(Response).sort().join());
    for (const key of Object.getOwnPropertyNames(Response.prototype).sort()) {
        const d = Object.getOwnPropertyDescriptor(Response.prototype, key);
        console.log(key, d.get ? `get ${d.get.name} ${typeof d.set}` : d.value.length, d.enumerable, d.configurable);
        if (d.get) {
            await attempt('  brand', () => d.get.call({}));
        } else if (key !== 'constructor') {
            await attempt('  brand', () => d.value.call({}));
        }
    }
}

construct().then(reading).then(streams).then(cloning).then(statics).then(shapes).then(() => console.log('end'));
