// Sleepers of different lengths, awaited in turn and together.
const log = (text) => console.log(text);
const sleep = (ms, value) => new Promise((resolve) => setTimeout(resolve, ms, value));
(async () => {
    log(await sleep(1, 'one'));
    const [a, b, c] = await Promise.all([sleep(30, 'a'), sleep(2, 'b'), sleep(15, 'c')]);
    log(a + b + c);
    log(await Promise.race([sleep(60, 'slow'), sleep(2, 'quick')]));
    for await (const value of [sleep(20, 'x'), sleep(1, 'y')]) log(value);
    const order = [];
    await Promise.all([50, 1, 25].map(async (ms) => { await sleep(ms); order.push(ms); }));
    log(order.join());
})();
