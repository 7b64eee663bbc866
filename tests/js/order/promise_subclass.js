// Subclasses: constructors called by then, catch, finally, all; await and async functions know only the first.
const log = (text) => console.log(text);
let count = 0;
class Sub extends Promise {
    constructor(executor) { super(executor); this.number = ++count; log(`new ${this.number}`); }
    then(a, b) { log(`then of ${this.number}`); return super.then(a, b); }
}
const p = Sub.resolve(1);
const q = p.then((value) => { log(`value ${value}`); return value + 1; });
log(q instanceof Sub);
log(p.finally(() => log('finally')) instanceof Sub);
log(Sub.all([p, q]) instanceof Sub);
log(Sub.resolve(p) === p, Promise.resolve(p) === p);
(async () => {
    log('await a Sub');
    log(`awaited ${await p}`);
    class Plain extends Promise {
        static get [Symbol.species]() { log('species'); return Promise; }
    }
    const r = Plain.resolve(3);
    log(r.then(() => {}) instanceof Plain);
    log(r.catch(() => {}).constructor === Promise);
    log(`awaited ${await r}`);
    const f = (async () => r)();
    log(f.constructor === Promise);
    log(`awaited ${await f}`);
})();
log('end');
