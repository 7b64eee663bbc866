// fetch() without a network: data URLs, refusals, arguments, aborting.
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

const facts = async (r) => JSON.stringify([r.type, r.url, r.redirected, r.status, r.ok, r.statusText, [...r.headers],
    await r.text()]);

async function data() {
    const urls = ['data:,hi', 'data:text/html,<p>', 'data:text/html;base64,aGk=', 'data:text/html;base64,aGk',
        'data:;base64,aGk=',
        'data:;charset=utf-8,%C3%A9', 'data:,a%20b%zz%4', 'data:text/plain;x=Y;q="a b",z#frag', 'data:bad,x',
            'data:A/B ; BASE64,aGk=',
        'data:text/plain;base64, a G k = ', 'data:,', 'data:a/b;c,d,e', 'data:text/plain;base64,aGk%3D'];
    for (const url of urls) {
        await attempt(url, async () => facts(await fetch(url)));
    }
    for (const url of ['data:', 'data:x', 'data:x;base64,%', 'data:;base64,a', 'data:;base64,a=bc']) {
        await attempt(url, () => fetch(url));
    }
    await attempt('head', async () => facts(await fetch('data:,x', { method: 'HEAD' })));
    await attempt('post', async () => facts(await fetch('data:,x', { method: 'POST', body: 'b' })));
    await attempt('request', async () => facts(await fetch(new Request('data:text/x,y'))));
    await attempt('url', async () => facts(await fetch(new URL('data:,u'))));
    const response = await fetch('data:,x');
    await attempt('immutable', () => response.headers.set('a', 'b'));
    await attempt('clone', async () => facts(response.clone()));
    await attempt('json', async () => (await fetch('data:application/json,{"a":1}')).json());
    await attempt('blob', async () => (await (await fetch('data:image/png;base64,AAEC')).blob()).type);
    await attempt('stream', async () => String((await (await fetch('data:,ab')).body.getReader().read()).value));
}

async function blobs() {
    const url = URL.createObjectURL(new Blob(['he', 'y'], { type: 'a/b' }));
    await attempt('blob', async () => (await facts(await fetch(url))).replace(url, 'URL'));
    await attempt('fragment', async () => (await fetch(url + '#x')).text());
    await attempt('no type', async () => [...(await fetch(URL.createObjectURL(new Blob(['q'])))).headers]);
    await attempt('post', () => fetch(url, { method: 'POST', body: 'x' }));
    await attempt('head', () => fetch(url, { method: 'HEAD' }));
    URL.revokeObjectURL(url);
    await attempt('revoked', () => fetch(url));
}

async function refusals() {
    await attempt('none', () => fetch());
    for (const url of ['x', '', 'ftp://x', 'about:blank', 'xx:y', 'http://127.0.0.1:1/',
        'http://127.0.0.1:22/',
        'http://u:p@h/', 'blob:x']) {
        await attempt(url, () => fetch(url));
    }
    await fetch('file:///etc/passwd').catch((error) => console.log('file', error.name, error.message));
    await attempt('method', () => fetch('data:,x', { method: 'a b' }));
    await attempt('body', () => fetch('data:,x', { body: 'x' }));
    await attempt('mode', () => fetch('data:,x', { mode: 'q' }));
    const promise = fetch('x');
    console.log(promise instanceof Promise);
    await promise.catch((e) => console.log(e instanceof TypeError, e.cause instanceof Error));
    console.log(fetch.name, fetch.length);
    await attempt('cause', async () => {
        try {
            await fetch('xx:y');
        } catch (e) {
            return `${e.cause.name} ${e.cause.message}`;
        }
        return 'none';
    });
}

async function aborting() {
    await attempt('aborted', () => fetch('http://a', { signal: AbortSignal.abort() }));
    await attempt('reason', () => fetch('http://a', { signal: AbortSignal.abort('mine') }));
    await attempt('error reason', () => fetch('http://a', { signal: AbortSignal.abort(new RangeError('own')) }));
    const error = await fetch('data:,x', { signal: AbortSignal.abort() }).catch((e) => e);
    console.log(error instanceof DOMException, error.name, error.code);
    const controller = new AbortController();
    const request = new Request('data:,x', { signal: controller.signal });
    controller.abort();
    await attempt('request', () => fetch(request));
    const stream = new ReadableStream({ cancel(reason) { console.log('body cancelled', reason); } });
    await attempt('stream body', () => fetch('http://a', { method: 'POST', body: stream, duplex: 'half',
        signal: AbortSignal.abort('r') }));
    const used = new Request('data:,x', { method: 'POST', body: 'b' });
    await fetch(used);
    console.log(used.bodyUsed);
    await attempt('used', () => fetch(used));
}

data().then(blobs).then(refusals).then(aborting).then(() => console.log('end'));
