// Deep recursion through promises does not use the stack.
let n = 0;
const step = () => (++n < 50000 ? Promise.resolve().then(step) : 'deep');
step().then((value) => console.log(`${value} ${n}`));
async function down(k) { if (k > 0) { await null; return down(k - 1); } return 'bottom'; }
down(3000).then((value) => console.log(value));
(function over() { try { over(); } catch (error) { if (error instanceof RangeError) globalThis.overflow = true; } })();
console.log(globalThis.overflow);
