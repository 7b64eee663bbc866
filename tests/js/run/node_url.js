// The old functions of node:url: parse, format and resolve, by hand and by chance (one sum each; with an argument all of it).
'use strict';
const url = require('node:url');
const attempt = (fn) => {
    try {
        const result = fn();
        return typeof result === 'string' ? result : JSON.stringify(result);
    } catch (error) {
        return `${error.name} ${error.code}`;
    }
};
for (const text of ['http://user:pass@Host.com:8080/p/a/t/h?query=string#hash', '/path?a=1', '//host/path', 'mailto:a@b.c', 'javascript:alert(1)', 'x y', '',
    'http://[::1]:80/', 'file:///etc/passwd', 'HTTP://EXAMPLE.com', 'http://a.com?x', 'http://b\u00fccher.de/\u00fc', 'http://a:b@c:d@e/', 'http://host:abc/'])
    console.log(text, attempt(() => url.parse(text)), attempt(() => url.parse(text, true).query));
console.log(attempt(() => url.parse('//host/path', false, true)), attempt(() => url.parse(5)), attempt(() => url.parse('http://a b/')));
for (const [from, to] of [['/one/two/three', 'four'], ['http://example.com/', '/one'], ['http://example.com/one', '/two'], ['http://a/b/c/d', '../e'],
    ['http://a/b/c/d', '../../../../e'], ['/a', '//b/c'], ['http://a/b?c#d', '?e'], ['http://a/b?c#d', '#f'], ['http://a', 'https://b'], ['mailto:a@b', 'c@d'], ['', 'x'], ['a/b', '']])
    console.log(from, to, attempt(() => url.resolve(from, to)));
console.log(url.format({ protocol: 'http', hostname: 'h', port: 80, pathname: 'p', query: { a: 1, b: [2, 3] }, hash: 'x' }),
    url.format(new URL('http://u:p@xn--g6w251d/?a#b'), { auth: false, fragment: false, search: false }), attempt(() => url.format(5)));
console.log(url.urlToHttpOptions(new URL('http://u:p@[::1]:81/a?b#c')).hostname, url.urlToHttpOptions(new URL('http://u:p@h:81/a?b#c')).auth, url.domainToASCII('b\u00fccher.de'), url.domainToASCII('xn--i\u00f1valid.com'));
console.log(url.fileURLToPath('file:///a%20b'), url.pathToFileURL('/a b#c').href, Object.keys(url).sort().join());

let seed = 11;
const random = (limit) => {
    seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff;
    return (seed >>> 8) % limit;
};
const bits = ['http:', 'https:', 'ftp:', 'file:', 'javascript:', 'mailto:', 'foo:', 'HTTP:', '', '', '//', '//', '/', '///', 'user@', 'user:pass@', 'a:b@c:d@', 'example.com', 'EXAMPLE.com',
    '[::1]', '[fe80::1]:80', ':80', ':', ':8080', 'localhost', '/path', '/a/b/c', '/./x/../y', '?q=1', '?a=b&c=d', '?', '#frag', '#', ' ', '%20', '"', '\'', '<', '\\', '\u00fc', '\u4e2d', '*', 'x y',
    '..', '../..', './z', 'a', 'b/', ';p', '{}', '^', '|', '`', '@', '&', '=', '\t', 'example.org:', '%', '_x'];
const text = (most) => Array.from({ length: 1 + random(most) }, () => bits[random(bits.length)]).join('');
for (let i = 0; i < 60; i++) {
    let sum = 7, all = '';
    for (let k = 0; k < 20; k++) {
        const one = text(7), two = text(4);
        const line = [JSON.stringify(one), attempt(() => url.parse(one, random(2) === 0, random(3) === 0)), attempt(() => url.format(one)), attempt(() => url.resolve(one, two))].join(' ');
        all += `${line}\n`;
        for (const character of line)
            sum = (Math.imul(sum, 31) + character.codePointAt(0)) >>> 0;
    }
    console.log(process.argv[2] ? all : `${i} ${sum}`);
}
