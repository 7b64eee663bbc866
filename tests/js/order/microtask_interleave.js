// Three loops of awaits of different kinds share the turns.
const log = [];
const note = (text) => log.push(text);
(async () => { for (let i = 0; i < 6; i++) { note(`a${i}`); await i; } })();
(async () => { for (let i = 0; i < 6; i++) { note(`b${i}`); await { then(done) { done(); } }; } })();
(async () => { for (let i = 0; i < 6; i++) { note(`c${i}`); await (async () => Promise.resolve())(); } })();
(async () => { for await (const i of (async function* () { for (let k = 0; k < 6; k++) yield k; })()) note(`d${i}`); })();
(async () => { for await (const i of [0, 1, 2, 3, 4, 5]) note(`e${i}`); })();
Promise.all([0, 1, 2].map((i) => Promise.resolve(i).then(() => note(`f${i}`)))).then(() => note('f'));
(async () => { await Promise.race([new Promise(() => {}), Promise.resolve()]); note('g'); })();
(async () => { await Promise.allSettled([Promise.reject(), Promise.resolve()]); note('h'); })();
(async () => { try { await Promise.any([Promise.reject()]); } catch { note('i'); } })();
setImmediate(() => console.log(log.join(' ')));
