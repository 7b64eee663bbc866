// SPDX-License-Identifier: MIT
// atob and btoa: the forgiving decoder, padding, white space and errors.
const attempt = (f) => {
    try {
        return JSON.stringify(f());
    } catch (error) {
        return `throws ${error.name} ${error.code === 5 ? 5 : ''}`.trim();
    }
};
for (const text of ['', 'a', 'ab', 'abc', 'abcd', '\0\x01\xfe\xff', 'Hello, world', 1234, null, true, [1, 2], 'é']) {
    console.log(JSON.stringify(text), attempt(() => btoa(text)), attempt(() => atob(btoa(text))));
}
for (const text of ['\u0100', 'aa\u0100', 'a\u0100a', '\ud800', 'abc\u20acdef']) {
    console.log(JSON.stringify(text), attempt(() => btoa(text)));
}
for (const text of ['', 'YQ==', 'YQ', 'YWI=', 'YWI', 'YWJj', ' Y W\tJ\nj\r\f', 'Y', 'YQ=', 'YQ===', '=', '==', '====',
    'YW=j', 'Y=Qa',
    'YWJj=', 'YWJjZ', 'YR', 'YR==', '-_-_', '+/+/', 'é', 'YQ\u00a0==', 'YQ\x0b==', 'ab\0c', 12, 'null', null, undefined,
    'YW Jj IA = =', 'AAAA', '////', 'abcd====']) {
    console.log(JSON.stringify(text), attempt(() => atob(text)));
}
console.log(attempt(() => atob()), attempt(() => btoa()));
console.log(attempt(() => btoa(Symbol('x'))), attempt(() => atob(Symbol('x'))));
console.log(attempt(() => btoa({ toString() { return 'obj'; } })));
let all = '';
for (let i = 0; i < 256; i++) {
    all += String.fromCharCode(i);
}
console.log(btoa(all));
console.log(atob(btoa(all)) === all);
const long = all.repeat(64);
console.log(btoa(long).length, atob(btoa(long)) === long);
console.log(typeof atob, atob.name, btoa.name);
