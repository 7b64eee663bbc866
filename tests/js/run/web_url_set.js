// SPDX-License-Identifier: MIT
// URL: setters, statics, the shape of the class.
const attempt = (f) => {
    try {
        return String(f());
    } catch (error) {
        return `throws ${error.name}`;
    }
};
const log = (...parts) => console.log(parts.join(' '));
const starts = ['http://h/p?q#f', 'https://u:p@h:8/p/q', 'file:///C:/a', 'file://h/a', 'foo://h:1/a', 'foo:/a',
    'foo:opaque?q#f', 'data:x y', 'ws://h/'];
const set = (name, values, from = starts) => {
    for (const start of from) {
        for (const value of values) {
            const url = new URL(start);
            let note = '';
            try {
                url[name] = value;
            } catch (error) {
                note = `${error.name} ${error.code}`;
            }
            log(start, name, JSON.stringify(value), '->', url.href, note);
        }
    }
};
set('protocol', ['https', 'https:', 'HTTP:x', 'ftp', 'ws', 'file', 'bar', 'bar:baz', '', ':', '1a', 'a-+.1', 'h\tttp',
    'é']);
set('username', ['', 'me', 'a:b', 'a@b/c', 'é', ' ']);
set('password', ['', 'pw', 'a:b', 'a@b/c', 'é', ' ']);
set('host', ['n', 'N:9', 'n:80', 'n:443', 'n/x', 'n?x', 'n#x', 'a b', '[::1]:5', '[::1', '1.2', 'n:65536', 'n:9a',
    'n:09', 'u@n', 'x%41', 'localhost']
    , starts.filter((start) => !start.startsWith('foo:/a')));
set('hostname', ['n', 'N', 'n:9', 'n/x', 'n\\x', 'n?x', 'n#x', 'a b', '[::1]', '1.2', 'xn--zca', 'ü', 'localhost'],
    starts.filter((start) => !start.startsWith('foo:/a')));
set('host', [''], ['http://h/p', 'https://u:p@h:8/', 'file://h/a', 'foo:opaque']);
set('hostname', ['', ':', ':80'], ['http://h/p', 'https://u:p@h:8/', 'file://h/a', 'foo:opaque']);
set('port', ['', '9', '80', '443', '65535', '65536', '9a', '0', '007', '9/x', '1\t2', 8080, 3.7]);
set('pathname', ['', '/', 'x', '/x/../y', '//x', '/a?b', '/a#b', 'a\\b', '%2e%2e/z', 'é ', '/C|/x', '..', null],
    starts.filter((start) => !start.startsWith('foo:/a') && !start.startsWith('foo://')));
set('pathname', ['/', 'x', '/x/../y', '//x', '/a?b', '/a#b', 'a\\b', '/C|/x'], ['foo://h:1/a', 'foo:/a']);
set('search', ['', '?', 'x', '?x', '??x', 'a b', '#', 'a=b&c', '\'"<>', 'é']);
set('hash', ['', '#', 'x', '#x', '##x', 'a b', '?', '"<>`', 'é']);
set('href', ['http://new/', 'nope', '', 'foo:bar', 'HTTP://X:80'], ['http://h/p?q#f']);
const readOnly = new URL('http://h/');
readOnly.origin = 'x';
const params = readOnly.searchParams;
readOnly.searchParams = 'a=b';
log(readOnly.href, readOnly.searchParams === params);

// Statics.
log(URL.canParse('http://h'), URL.canParse('x'), URL.canParse('x', 'http://h'), URL.canParse('x', 'y'),
    URL.canParse('http://h', 'y'));
log(attempt(() => URL.canParse()), URL.canParse(undefined), URL.canParse('a:b', undefined));
log(URL.parse('x'), URL.parse('x', 'http://h/').href, URL.parse('http://h') instanceof URL, URL.parse('x', 'y'));

// The class.
const url = new URL('http://h/a?b=c#d');
log(Object.prototype.toString.call(url), String(url), url.toString(), url.toJSON(), JSON.stringify({ url }),
    `${url}`, url + '');
log(URL.length, URL.name, URL.canParse.length, attempt(() => URL('http://h')), attempt(() => new URL()));
for (const name of ['href', 'origin', 'protocol', 'username', 'password', 'host', 'hostname', 'port', 'pathname',
    'search', 'searchParams', 'hash']) {
    const d = Object.getOwnPropertyDescriptor(URL.prototype, name);
    log(name, typeof d.get, typeof d.set, d.enumerable, d.configurable, attempt(() => d.get.call({})));
}
for (const name of ['toString', 'toJSON']) {
    const d = Object.getOwnPropertyDescriptor(URL.prototype, name);
    log(name, d.enumerable, d.writable, d.configurable, d.value.length, attempt(() => d.value.call({})));
}
try {
    new URL('nope', 'also nope');
} catch (error) {
    log(error.name, error.message, error.code, error.input, error.base, error instanceof TypeError);
}
try {
    new URL('nope');
} catch (error) {
    log(error.message, error.input, 'base' in error);
}

// The search parameters and their URL.
log(url.searchParams === url.searchParams, url.searchParams.get('b'));
url.searchParams.append('é', 'x y');
log(url.href, url.search);
url.search = '?n=1&n=2';
log(url.searchParams.getAll('n').join(), url.searchParams.size);
url.searchParams.delete('n');
log(url.href, JSON.stringify(url.search));
url.href = 'http://other/?z=9';
log(url.searchParams.get('z'));
url.searchParams.set('z', '&=+%');
log(url.href);
url.searchParams.sort();
url.hash = '';
log(url.href);
url.search = '';
log(url.href, url.searchParams.size);
url.searchParams.append('', '');
log(url.href);
const quote = new URL('http://h/?a=\'~(b)*c\'');
log(quote.href);
quote.searchParams.append('d', '\'~()*!');
log(quote.href);
const spaces = new URL('data:x y  ?q#f');
spaces.hash = '';
log(JSON.stringify(spaces.href));
spaces.search = '';
log(JSON.stringify(spaces.href));
