// Request.
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

const keys = ['method', 'url', 'destination', 'referrer', 'referrerPolicy', 'mode', 'credentials', 'cache', 'redirect',
    'integrity',
    'keepalive', 'isReloadNavigation', 'isHistoryNavigation', 'bodyUsed', 'duplex'];
const facts = (r) => JSON.stringify([...keys.map((key) => r[key]), [...r.headers]]);
const make = (init) => new Request('http://host/path', init);

async function construct() {
    console.log(facts(new Request('http://host/p?q#f')), new Request('http://host/').body);
    console.log(facts(new Request(new URL('HTTP://HOST:80/a/../b'))));
    console.log(facts(make({
        method: 'post', headers: { a: 'b' }, body: 'text', referrer: 'http://other/', referrerPolicy: 'origin',
            mode: 'same-origin',
        credentials: 'include', cache: 'no-store', redirect: 'manual', integrity: 'sha256-x', keepalive: 1, window: null,
        duplex: 'half', signal: null,
    })));
    for (const method of ['get', 'Put', 'delete', 'HEAD', 'options', 'Custom', 'QUERY']) {
        await attempt('method', () => make({ method }).method);
    }
    await attempt('none', () => new Request());
    await attempt('no new', () => Request('http://a'), true);
    for (const url of ['x', '', '/path', 'http://', 'http://u:p@a/', 'http://u@a/']) {
        await attempt('url ' + url, () => new Request(url));
    }
    const bad = [{ method: 'a b' }, { method: '' }, { method: 'TRACE' }, { method: 'connect' }, { method: 'Track' },
        { body: 'x' },
        { method: 'HEAD', body: '' }, { method: 'POST', body: new ReadableStream() }, { mode: 'navigate' }, { mode: 'x' },
        { credentials: 'x' }, { cache: 'x' }, { redirect: 'x' }, { referrer: 'x' }, { referrerPolicy: 'x' }, { window: 1 },
        { cache: 'only-if-cached' }, { duplex: 'full' }, { mode: 'no-cors', method: 'PUT' }, { headers: 1 },
            { headers: { '(': 'x' } }];
    for (const init of bad) {
        await attempt('bad ' + Object.keys(init).join(), () => make(init));
    }
    await attempt('bad signal', () => make({ signal: 1 }), true);
    await attempt('bad init', () => make(1));
    await attempt('referrer none', () => JSON.stringify(make({ referrer: '' }).referrer));
    await attempt('referrer client', () => make({ referrer: 'about:client' }).referrer);
    await attempt('cached', () => make({ cache: 'only-if-cached', mode: 'same-origin' }).cache);
    await attempt('null body', () => String(make({ method: 'POST', body: null }).body));
}

async function copies() {
    const first = make({ method: 'POST', body: 'abc', headers: { x: 'y' }, credentials: 'omit' });
    const second = new Request(first);
    console.log(first.bodyUsed, second.bodyUsed, facts(second), await second.text());
    await attempt('of used', () => new Request(first));
    await attempt('of used with body', async () => new Request(first, { body: 'new' }).text());
    const third = make({ method: 'POST', body: 'abc' });
    const fourth = new Request(third, { body: 'other', headers: { z: '1' } });
    console.log(third.bodyUsed, await third.text(), await fourth.text(), JSON.stringify([...fourth.headers]));
    const fifth = new Request(make({ headers: { keep: '1' } }), { method: 'DELETE' });
    console.log(facts(fifth));
    await attempt('get of post', () => new Request(make({ method: 'POST', body: 'x' }), { method: 'GET' }));
    const stream = make({ method: 'POST', duplex: 'half', body: new ReadableStream({
        start(c) { c.enqueue(new Uint8Array([65])); c.close(); } }) });
    console.log(stream.headers.get('content-type'), await new Request(stream).text(), stream.bodyUsed);
    const original = make({ method: 'PUT', body: 'twice', headers: { h: '1' } });
    const copy = original.clone();
    copy.headers.append('h', '2');
    console.log(await original.text(), await copy.text(), original.headers.get('h'), copy.headers.get('h'));
    await attempt('clone used', () => original.clone());
    console.log(facts(make({ headers: new Headers({ n: 'm' }) })), make().clone().body);
}

async function signals() {
    const controller = new AbortController();
    const request = make({ signal: controller.signal });
    const copy = request.clone();
    const derived = new Request(request);
    const apart = new Request(request, { signal: null });
    console.log(request.signal === controller.signal, request.signal instanceof AbortSignal,
        request.signal === request.signal);
    request.signal.addEventListener('abort', () => console.log('request aborted', request.signal.reason));
    controller.abort('why');
    console.log(request.signal.aborted, copy.signal.aborted, derived.signal.aborted, apart.signal.aborted,
        copy.signal.reason);
    console.log(make({ signal: AbortSignal.abort('early') }).signal.reason, make().signal.aborted);
}

async function bodies() {
    const types = ['x', new URLSearchParams('a=b'), new Blob(['x'], { type: 'a/b' }), new Uint8Array(1)];
    for (const body of types) {
        console.log(make({ method: 'POST', body }).headers.get('content-type'));
    }
    const json = make({ method: 'POST', body: JSON.stringify({ a: 1 }), headers: { 'Content-Type': 'application/json' } });
    console.log(json.headers.get('content-type'), JSON.stringify(await json.json()), json.bodyUsed);
    await attempt('again', () => json.text());
    const form = make({ method: 'POST', body: new URLSearchParams({ k: 'v w' }) });
    console.log(JSON.stringify([...await form.formData()]));
    console.log((await make({ method: 'POST', body: 'é' }).arrayBuffer()).byteLength, String(await make({ method: 'POST',
        body: 'hi' }).bytes()));
    console.log((await make({ method: 'POST', body: 'x', headers: { 'content-type': 'q/r' } }).blob()).type);
    console.log(Request.length, Request.name, String(make()));
    for (const key of [...keys, 'headers', 'signal', 'body', 'clone', 'text', 'json', 'blob', 'arrayBuffer', 'bytes',
        'formData']) {
        const d = Object.getOwnPropertyDescriptor(Request.prototype, key);
        console.log(key, d.get ? `get ${d.get.name} ${typeof d.set}` : d.value.length, d.enumerable, d.configurable);
        if (key !== 'credentials') {
            await attempt('  brand', () => (d.get || d.value).call({}));
        }
    }
}

construct().then(copies).then(signals).then(bodies).then(() => console.log('end'));
