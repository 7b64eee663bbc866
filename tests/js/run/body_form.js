// FormData, its multipart form and back.
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

const describe = (form) => JSON.stringify([...form].map(([k, v]) => [k, typeof v === 'string' ? v : [v.name, v.type,
    v.size]]));

async function methods() {
    await attempt('form 1', () => new FormData(1));
    await attempt('form null', () => new FormData(null));
    console.log([...new FormData(undefined)].length);
    const form = new FormData();
    for (const key of ['append', 'delete', 'get', 'getAll', 'has', 'set', 'forEach']) {
        await attempt(key, () => form[key]());
    }
    await attempt('append 1', () => form.append('a'));
    await attempt('append name', () => form.append('a', 'text', 'file'));
    await attempt('set name', () => form.set('a', 'text', 'file'));
    await attempt('symbol', () => form.append('a', Symbol('s')), true);
    form.append('a', 1);
    form.append('b', null);
    form.append('a', undefined);
    form.append('\ud800', '\udc00');
    console.log(describe(form), form.get('a'), form.getAll('a').join(), form.has('b'), form.has('c'), form.get('c'));
    form.set('a', 'new');
    form.set('z', 'last');
    console.log(describe(form));
    form.delete('b');
    form.delete('absent');
    console.log(describe(form));
    const file = new File(['x'], 'name', { type: 'a/b', lastModified: 3 });
    form.append('f', file);
    form.append('g', file, 'other');
    form.append('h', new Blob(['yy'], { type: 'c/d' }));
    form.append('h', new Blob(['zz']), 'given');
    console.log(form.get('f') === file, form.get('g') === file, form.get('g').lastModified, form.get('h') instanceof File);
    console.log(describe(form));
    console.log([...form.keys()].join(), [...form.values()].length, Object.prototype.toString.call(form.entries()));
    const seen = [];
    form.forEach((value, key, all) => seen.push(key, typeof value, all === form));
    console.log(seen.join());
    await attempt('brand', () => FormData.prototype.get.call({}, 'a'));
    for (const key of Object.getOwnPropertyNames(FormData.prototype).sort()) {
        const d = Object.getOwnPropertyDescriptor(FormData.prototype, key);
        console.log(key, d.value.length, d.enumerable, d.writable, d.configurable);
    }
    console.log(FormData.length, FormData.name, FormData.prototype[Symbol.iterator] === FormData.prototype.entries,
        String(form));
    const live = new FormData();
    live.append('1', 'x');
    for (const [key] of live) {
        if (key.length < 4) {
            live.append(key + '1', 'x');
        }
    }
    console.log(describe(live));
}

async function encoding() {
    const form = new FormData();
    form.append('a"b\r\n', 'x\ny\rz');
    form.append('f', new Blob(['data'], { type: 'q/r' }), 'na"me\r.txt');
    form.append('g', new File([''], 'é'));
    const response = new Response(form);
    const type = response.headers.get('content-type');
    console.log(/^multipart\/form-data; boundary=----formdata-[a-z]+-\d+$/.test(type));
    const boundary = type.split('=')[1];
    const text = await response.clone().text();
    console.log(JSON.stringify(text.replaceAll(boundary, 'BOUNDARY')));
    console.log(describe(await response.formData()));
    const empty = new Response(new FormData());
    console.log(JSON.stringify((await empty.text()).replace(/formdata-[a-z]+-\d+/, 'B')));
}

async function parsing() {
    const typed = (text, type) => new Response(text, { headers: { 'content-type': type } }).formData();
    const parse = async (text, boundary = 'X') => describe(await typed(text, 'multipart/form-data; boundary=' + boundary));
    const part = (head, body = 'hi') => `--X\r\n${head}\r\n\r\n${body}\r\n`;
    const good = 'Content-Disposition: form-data; name="a"';
    const cases = {
        one: part(good) + '--X--\r\n',
        file: part(good + '; filename="f"') + '--X--\r\n',
        typed: part(good + '; filename="f"\r\nContent-Type: image/png') + '--X--\r\n',
        two: part(good) + part('content-disposition: form-data; name="b"', '') + '--X--',
        escaped: part('Content-Disposition: form-data; name="a%22%0D%0A"') + '--X--\r\n',
        lines: part(good, 'one\r\ntwo\r\n-') + '--X--\r\n',
        nothing: '--X--\r\n',
        'nothing, no line end': '--X--',
        empty: '',
        junk: 'junk\r\n' + part(good) + '--X--\r\n',
        'no end': part(good),
        token: part('Content-Disposition: form-data; name=a') + '--X--\r\n',
        attachment: part('Content-Disposition: attachment; name="a"') + '--X--\r\n',
        'no disposition': part('Content-Type: a') + '--X--\r\n',
        'no colon': part('nonsense') + '--X--\r\n',
        'bare lines': `--X\n${good}\n\nhi\n--X--\n`,
        trailing: part(good) + '--X--\r\ntrailing',
        base64: part(good + '; filename="q"\r\nContent-Transfer-Encoding: base64', 'aGk=') + '--X--\r\n',
    };
    for (const name of Object.keys(cases)) {
        await attempt(name, () => parse(cases[name]));
    }
    await attempt('quoted boundary', () => parse((part(good) + '--X--').replaceAll('--X', '--X Y'), '"X Y"'));
    await attempt('no boundary', () => new Response('x', { headers: { 'content-type': 'multipart/form-data' } }).formData());
    await attempt('no type', () => new Response('x').formData());
    const coded = (text) => typed(text, 'application/x-www-form-urlencoded');
    for (const text of ['a=1&b=%20+', '', 'a', '=b', 'a=b=c', '%E9=%zz', 'a=%F0%9F%98%80&a=2']) {
        await attempt('coded', async () => describe(await coded(text)));
    }
    await attempt('params', async () => describe(await new Response(new URLSearchParams('q=1&r=é')).formData()));
}

methods().then(encoding).then(parsing).then(() => console.log('end'));
