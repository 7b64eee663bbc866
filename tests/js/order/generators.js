// Plain generators: next, return, throw, finally, yield*, closing by destructuring and spreads.
const log = (text) => console.log(text);
function* g(name) {
    try {
        log(`${name} begins`);
        const x = yield 1;
        log(`${name} got ${x}`);
        yield 2;
    } catch (error) { log(`${name} caught ${error}`); yield 'c'; } finally { log(`${name} finally`); }
    return 'end';
}
const show = (r) => log(JSON.stringify(r));
let a = g('a'); show(a.next('lost')); show(a.next('x')); show(a.next()); show(a.next());
a = g('b'); show(a.next()); show(a.throw('t')); show(a.return('r')); show(a.next());
a = g('c'); show(a.return('early')); show(a.next());
a = g('d'); try { a.throw(new Error('early')); } catch (error) { log(error.message); } show(a.next());
const [first] = g('e'); log(first);
for (const value of g('f')) { log(value); break; }
try { for (const value of g('h')) { log(value); throw 'body'; } } catch (error) { log(`outside ${error}`); }
log([...g('i')].join());
function* outer() { const result = yield* g('inner'); log(`result ${result}`); return yield* [5, 6]; }
a = outer(); show(a.next()); show(a.throw('through')); show(a.next()); show(a.next()); show(a.next()); show(a.next());
function* self() { try { it.next(); } catch (error) { log(error.name); } yield 1; }
const it = self(); show(it.next());
function* blocks() { try { yield 1; } finally { return 'finally wins'; } }
a = blocks(); a.next(); show(a.return('mine')); a = blocks(); a.next(); show(a.throw('mine'));
