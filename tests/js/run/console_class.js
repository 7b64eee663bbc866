// SPDX-License-Identifier: MIT
// The Console class with streams of its own.
const c = console;
const out = [];
const mk = (tag) => ({ write(s) {
    out.push(tag + JSON.stringify(s));
}, on() {}, once() {}, removeListener() {}, listenerCount() { return 0; } });
const k = new c.Console(mk('O'), mk('E'));
k.log('a', 1);
k.error('b');
k.warn('%s', 'c');
k.assert(false);
k.assert(false, 'x');
k.assert(false, 'x %s', 'y');
k.assert(false, { a: 1 });
k.assert(0, 'a', 'b');
k.assert(1, 'n');
k.group('g');
k.error('in');
k.groupEnd();
k.count();
k.table([[1]]);
const k2 = new c.Console({ stdout: mk('P'), groupIndentation: 4, inspectOptions: { depth: 0 } });
k2.group('g');
k2.log({ a: { b: 1 } });
k2.error('e');
k2.dir({ a: { b: 1 } });
k.trace('tr %s', 'x');
out.push(out.pop().split('\\n')[0]);
k.trace();
out.push(out.pop().split('\\n')[0]);
k.time('t');
k.timeLog('t', 1, { a: 1 });
k.timeEnd('t');
k.time();
k.timeEnd();
c.log(out.join('\n').replace(/\d+(\.\d+)?(ms|s)/g, 'TIME'));
try { new c.Console(); } catch (e) { c.log(e.code, e.message); }
try { new c.Console({ stdout: {} }); } catch (e) { c.log(e.code, e.message); }
try { c.table([], 5); } catch (e) { c.log(e.code); }
c.log(c.Console.name, c.Console.length, Object.keys(k).length);
const k3 = c.Console(mk('Q'));
k3.log('called without new');
c.log(out.at(-1), k3 instanceof c.Console);
const log2 = [];
process.on('warning', (w) => { c.log(w.name, w.message); });
c.timeEnd('nope');
c.timeLog('nope2');
c.countReset('nope3');
c.time('dup');
c.time('dup');
