// A timer may clear itself, and set itself anew; close, refresh and ref on what is over do no harm.
const log = (text) => console.log(text);
const a = setTimeout(() => { log('a'); clearTimeout(a); a.close(); log(a.ref() === a && a.unref() === a); next(); }, 1);
function next() {
    const b = setTimeout(() => { log('b'); b.refresh(); clearTimeout(b); after(); }, 1);
}
function after() {
    let n = 0;
    const c = setInterval(() => { log(`c ${++n}`); if (n === 1) c.refresh(); if (n === 2) c.unref(); }, 5);
    const stop = setInterval(() => {
        if (n < 4) return;
        clearInterval(c);
        clearInterval(stop);
        log('stopped');
        c.ref();
        c.close();
        end();
    }, 1);
}
function end() {
    const d = setTimeout((x) => { log(`d ${x}`); }, 1, 'kept');
    setTimeout(() => { d.refresh(); setTimeout(() => log('end'), 30); }, 30);
}
