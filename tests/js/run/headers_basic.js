// Headers: construction, methods, order, guards, errors.
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

const list = (headers) => JSON.stringify([...headers]);

async function construct() {
    const cases = [undefined, {}, [], { a: 'b', C: 'd' }, [['x', 'y'], ['X', 'z']], new Headers({ q: '1' }),
        new Map([['m', 'n']]),
        [new Set(['s', 't'])], { a: 1, b: null, c: undefined, d: true, e: [1, 2] }, Object.create({ inherited: 'no' })];
    for (const init of cases) {
        await attempt('new', () => list(new Headers(init)));
    }
    const bad = [1, null, 'text', true, [['a']], [1], ['ab'], [['a', 'b', 'c']], { 'a b': 'c' }, { '': 'x' }, { a: 'x\ny' },
        { a: '\u0100' }, { '\u0100': 'a' }, { a: Symbol('s') }, { [Symbol('k')]: 'v' }, [[]]];
    for (const init of bad) {
        await attempt('bad', () => list(new Headers(init)));
    }
    await attempt('symbol', () => new Headers(Symbol('s')));
    await attempt('no new', () => Headers(), true);
    const order = [];
    new Headers({
        get b() { order.push('b'); return { toString() { order.push('b text'); return '1'; } }; },
        get a() { order.push('a'); return '2'; },
    });
    console.log(order.join());
}

async function methods() {
    const h = new Headers();
    for (const key of ['append', 'delete', 'get', 'has', 'set', 'forEach']) {
        await attempt(key, () => h[key]());
    }
    await attempt('append 1', () => h.append('a'));
    await attempt('set 1', () => h.set('a'));
    for (const name of ['', 'a b', '(', 'é', 'a:', 'a\n']) {
        await attempt('append', () => h.append(name, 'v'));
        await attempt('get', () => h.get(name));
        await attempt('has', () => h.has(name));
        await attempt('set', () => h.set(name, 'v'));
        await attempt('delete', () => h.delete(name));
    }
    for (const value of ['\u0100', 'a\0b', 'a\rb', 'a\nb']) {
        await attempt('append', () => h.append('n', value), true);
        await attempt('set', () => h.set('n', value), true);
    }
    h.append('Accept', 'a');
    h.append('ACCEPT', ' b\t');
    h.append('accept', '');
    console.log(h.get('aCCept'), h.has('accept'), list(h));
    h.set('accept', '\r\n x y \t');
    console.log(JSON.stringify(h.get('accept')));
    h.delete('Accept');
    h.delete('absent');
    console.log(h.get('accept'), h.has('accept'), h.append('u', undefined), h.get('u'));
    h.set('latin', '\u00e9\u00ff');
    console.log(h.get('latin').length, h.get('latin').charCodeAt(1));
    h.append('cookie', 'a=1');
    h.append('cookie', 'b=2');
    console.log(h.get('cookie'));
}

function cookies() {
    const h = new Headers([['Set-Cookie', 'a=1'], ['x', 'y'], ['set-cookie', 'b=2, c']]);
    console.log(JSON.stringify(h.getSetCookie()), h.get('set-cookie'), list(h));
    h.append('SET-COOKIE', 'd=3');
    console.log(JSON.stringify(h.getSetCookie()), list(h));
    const copy = new Headers(h);
    console.log(JSON.stringify(copy.getSetCookie()));
    h.set('set-cookie', 'only');
    console.log(JSON.stringify(h.getSetCookie()));
    h.delete('set-cookie');
    console.log(JSON.stringify(h.getSetCookie()), list(h), list(copy));
}

async function iteration() {
    const h = new Headers([['zeta', '1'], ['Alpha', '2'], ['mid', '3'], ['mid', '4'], ['a-b', '5'], ['a_b', '6']]);
    console.log([...h.keys()].join(), [...h.values()].join('|'), list(h.entries()));
    const seen = [];
    const self = {};
    h.forEach(function (value, key, all) { seen.push(key, value, all === h, this === self); }, self);
    console.log(seen.join());
    await attempt('forEach 1', () => h.forEach(1));
    const it = h.entries();
    const prototype = Object.getPrototypeOf(it);
    console.log(Object.prototype.toString.call(it), Object.keys(prototype).join(), it[Symbol.iterator]() === it);
    console.log(Object.getPrototypeOf(prototype) === Object.getPrototypeOf(Object.getPrototypeOf([][Symbol.iterator]())));
    await attempt('next', () => prototype.next.call({}));
    console.log(Headers.prototype[Symbol.iterator] === Headers.prototype.entries);
    console.log(JSON.stringify(it.next()), JSON.stringify([...it]), JSON.stringify(it.next()));
    for (const key of ['append', 'get', 'entries', 'keys', 'values', 'forEach', 'getSetCookie']) {
        await attempt('brand ' + key, () => Headers.prototype[key].call({}, 'a', 'b'));
    }
    const names = Object.getOwnPropertyNames(Headers.prototype).sort();
    console.log(names.join(), Headers.length, Headers.name);
    for (const name of names) {
        const d = Object.getOwnPropertyDescriptor(Headers.prototype, name);
        console.log(name, d.value.length, d.value.name === name || name === 'constructor', d.enumerable, d.writable,
            d.configurable);
    }
    console.log(String(h));
}

async function guards() {
    const fixed = Response.error().headers;
    await attempt('append', () => fixed.append('a', 'b'));
    await attempt('set', () => fixed.set('a', 'b'));
    await attempt('delete', () => fixed.delete('a'));
    await attempt('bad name first', () => fixed.set('(', 'b'));
    await attempt('get', () => fixed.get('a'));
    const request = new Request('http://a/', { headers: { Host: 'x', Cookie: 'c', 'Content-Length': '4', Origin: 'o' } });
    console.log(list(request.headers), request.headers === request.headers);
    const response = new Response(null, { headers: { 'set-cookie': 'a' } });
    console.log(list(response.headers));
}

construct().then(methods).then(cookies).then(iteration).then(guards).then(() => console.log('end'));
