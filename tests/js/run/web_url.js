// SPDX-License-Identifier: MIT
// URL: parsing, with and without a base.
const show = (url) => [url.href, url.origin, url.protocol, url.username, url.password, url.host, url.hostname,
    url.port, url.pathname,
    url.search, url.hash].map((part) => JSON.stringify(part)).join(' ');
const parse = (input, base) => {
    let line;
    try {
        line = show(base === undefined ? new URL(input) : new URL(input, base));
    } catch (error) {
        line = `${error.name} ${error.message} ${error.code}`;
    }
    console.log(`${JSON.stringify(input)} ${base === undefined ? '' : JSON.stringify(base)} -> ${line}`);
};

// Whole URLs.
for (const input of ['http://example.com', 'HTTP://EXAMPLE.COM:80/A/b?C#D', 'https://user:pass@host:8443/p?q#f',
    'http://user@host', 'http://:pw@host/',
    'http://user:@host/', 'http://u:p:q@host/', 'http://a@b@c/', 'http://@host/', 'http://u:p@/x', 'http:///a',
    'http:a', 'http:/a', 'http:\\\\a\\b',
    'http://a\\b@c', 'ws://h:80', 'wss://h:443', 'ftp://h:21/', 'ftp://h:22/', 'http://h:443', 'https://h:80',
    'http://h:0', 'http://h:00080',
    'http://h:65535', 'http://h:65536', 'http://h:', 'http://h:8a', 'http://h:-1', 'http://h: 80', 'mailto:a@b',
    'data:text/plain,x y  ', 'data:a?b#c d',
    'javascript:alert(1)', 'about:blank', 'urn:isbn:123', 'foo:', 'foo:/', 'foo://', 'foo:///', 'foo://h',
    'foo://h:80/', 'foo://H/', 'foo://u:p@h/',
    'foo:/a/../b', 'foo:/..//b', 'foo:a/../b', 'foo://a b/', 'foo://a%20b/', 'foo://é/', 'foo://[::1]/', 'foo:// /',
    '', ' ', 'x', '//h', '/p', '?q',
    '#f', '1http://h', 'ht-tp+1.x://h', 'h ttp://h', ':', '://h', 'http', 'http:', 'http://', 'http://?q',
    'http://#f', 'https:/\\/h', '  http://h/ \n', '\0http://h\x1f',
    'ht\ntp://h/a\tb', 'http://h/ a b ', 'http://h/?a b', 'http://h/#a b',
    'http://h/a"b<c>d`e{f}g|h', 'http://h/?a"b<c>d`e{f}g|h\'i', 'foo://h/?a\'b',
    'http://h/#a"b<c>d`e{f}g|h', 'http://h/%', 'http://h/%zz%41%c3', 'http://h/é€😀?é#é', 'http://h/\ud800',
    'http://us er:p w@h/', 'http://u;=[]^|/:p@h',
    'http://é:ü@h/', 'blob:https://h:8/x', 'blob:http://h', 'blob:foo', 'blob:', 'file:', 'file:/', 'file://',
    'file:///', 'file:a', 'file:/a', 'file://a',
    'file://h/p', 'file:///C:/a', 'file:///C|/a', 'file:C|/a', 'file:/C|/a', 'file://C|/a', 'file:///C:/..',
    'file:///C:/../..', 'file:///c|', 'file:///CC|/',
    'file://localhost/p', 'file://LOCALHOST', 'file:\\\\h\\p', 'file:///a/b/../c', 'file:?q', 'file:#f',
    'file://h:80/', 'file://u@h/',
    'http://h/a/./b', 'http://h/a/../b', 'http://h/a/b/..', 'http://h/a/b/.', 'http://h/..', 'http://h/../../x',
    'http://h/%2e', 'http://h/a/%2E%2e/b', 'http://h/a/.%2e',
    'http://h/...', 'http://h/a//../b', 'http://h/a/..//b', 'http://h//', 'http://h/a\\b\\..\\c', 'http://h?a\\b',
    'http://h#\\', 'http://h/;a=b,c@d:e', 'http://h/~!$&()*+']) {
    parse(input);
}

// Hosts.
for (const host of ['EXAMPLE', 'a.b.', 'a..b', '.', '..', '.a', 'a_b', '-a-', 'a~b', 'a!b', 'a$b', 'a&b', 'a\'b',
    'a(b)', 'a*b', 'a+b', 'a,b', 'a;b', 'a=b', 'a"b', 'a`b', 'a{b}',
    'a b', 'a%b', 'a%20b', 'a%41b', 'a%2eb', 'a%zzb', 'a<b', 'a>b', 'a^b', 'a|b', 'a[b', 'a]b', 'a\x7fb', 'a\x01b',
    '%00', '1.2.3.4', '1.2.3.4.', '1.2.3', '1.2', '1', '0', '0.0.0.0',
    '256', '65536', '4294967295', '4294967296', '1.2.3.256', '256.1.1.1', '1.256', '1.2.65535', '1.2.65536',
    '1.16777215', '1.16777216', '0x7f.1', '0X7F000001', '0x', '0x.0x.0',
    '017.1', '08', '09.1', '1.08', '00', '0000000001', '1.2.3.4.5', '1..2', '.1', '1.a', 'a.1', 'a.0x1', 'a.0xg',
    'a.1.', 'a.1..', '0x100000000', '1e3', '+1', '1.2.3.0x', '192.168.0.257',
    '%31%2e2', '１.２.３.４', '[::]', '[::1]', '[1::]', '[1:2:3:4:5:6:7:8]', '[1:2:3:4:5:6:7]', '[1:2:3:4:5:6:7:8:9]',
    '[1:2:3:4:5:6:7::]', '[::2:3:4:5:6:7:8]', '[1::8]', '[1:0:0:2:0:0:0:3]',
    '[0:0:1:0:0:1:0:0]', '[1:0:2:0:3:0:4:0]', '[0001:00AB::]', '[12345::]', '[g::]', '[:]', '[:1]', '[1:]', '[:::]',
    '[1::2::3]', '[::1.2.3.4]', '[::ffff:1.2.3.4]', '[1:2:3:4:5:6:1.2.3.4]',
    '[1:2:3:4:5:6:7:1.2.3.4]', '[::1.2.3]', '[::1.2.3.4.5]', '[::1.2.3.256]', '[::01.2.3.4]', '[::1.2.3.]',
    '[::.1.2.3]', '[1.2.3.4::]', '[1.2.3.4]', '[::1%25eth0]', '[::1]x', '[]', '[', ']', '[::1',
    'xn--', 'xn--zca', 'XN--ZCA', 'xn--a', 'xn--fiqs8s', 'a.xn--n3h', 'faß.de', 'FAẞ.de', 'münchen.de', 'MÜNCHEN.de',
    'mu\u0308nchen.de', '日本語。jp', '日本．jp', '☃.net',
    '😀.la', 'ﬁ.com', 'ａｂｃ.com', 'a\u00adb', 'a\u200bb', 'a\u2060b', '\u00ad', '\ufeffa', '\u0301a', 'ΒΌΛΟΣ', 'βόλος',
    'İ', 'ı', 'ſ', 'K', 'Å', 'א', 'عرب', 'हिन्दी', 'ไทย', '한국', '©', '①',
    '\ud800', '\ufffd', '\u{e000}', '\u2028', '\u200e', '%e2%98%83', '%C3%9F', '%ff', 'xn--ls8h.la',
    'xn--bcher-kva.example', 'xn--bcher-kva8445foa', 'bücher.example', 'a'.repeat(64), 'ü'.repeat(70)]) {
    let line;
    try {
        line = new URL(`http://${host}/`).host;
    } catch (error) {
        line = error.message;
    }
    console.log(`host ${JSON.stringify(host)} -> ${line}`);
}

// With a base.
for (const base of ['http://h:8/a/b/c?q#f', 'https://u:p@h', 'file:///C:/d/e', 'file://host/a/b', 'file:///a',
    'foo://h/a/b', 'foo:/a/b', 'foo:opaque', 'mailto:x']) {
    for (const input of ['', '.', '..', '../..', '../../../x', './y', 'x', 'x/', 'x/../y', '/', '/x', '//', '//n',
        '//n/x', '///n', '\\x', '\\\\n\\x', '?', '?z', '#', '#z', '?z#y', 'x?z', 'x:y', 'http:x', 'http:/x',
        'http:', 'https:x', 'file:x', 'file:', 'file:///x', 'foo:x', 'foo:', 'foo:?z', 'C:', 'C|/x', '/C:/x', '/D|',
            '../C:/', 'x\\y', ' x ', 'é', '%2e%2e/x', ';x', '@x', ':x', ':80']) {
        // Node 20 loses the slash of these two.
        if (input === '../..' && base.startsWith('foo:')) {
            continue;
        }
        if (/^foo:opaque|^mailto/.test(base) && !/^[#:]|^[a-zA-Z]+:/.test(input)) {
            continue;
        }
        parse(input, base);
    }
}
parse('x', 'nope');
parse('http://h', 'nope');
parse('http://h', undefined);
parse('x', null);
parse(null, 'http://h/');
parse(undefined, 'http://h/');
parse(12, 'http://h/');
parse({ toString: () => 'obj' }, { toString: () => 'http://base/' });
parse(new URL('http://h/x'), new URL('http://other/'));
