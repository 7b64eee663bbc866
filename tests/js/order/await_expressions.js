// Operands are evaluated from left to right, across awaits.
const log = (text) => console.log(text);
const v = (value) => { log(`v ${value}`); return value; };
(async () => {
    let x = 1;
    const sum = x + await v(10) + (x = 5) + x;
    log(`sum ${sum}`);
    const o = { [await v('key')]: await v('value'), later: v('later') };
    log(JSON.stringify(o));
    const list = [v(1), await v(2), v(3)];
    log(list.join());
    log(`${await v('a')}${v('b')}${await v('c')}`);
    const f = (...args) => args.join('+');
    log(f(v('x'), await v('y'), ...(await v([7, 8]))));
    let total = 0;
    const add = async (n) => { total += await n; };
    await Promise.all([add(1), add(2), add(3)]);
    log(`the last one wins: ${total}`);
    log(`${await null ?? await v('fallback')} ${(await v(0)) || (await v('or'))}`);
    const [a = await v('default'), b] = [undefined, await v('given')];
    log(a + b);
    o.later = await v('assigned');
    x += await Promise.resolve(x = 100);
    log(`x ${x}`);
})();
Promise.resolve().then(() => log('turn 1')).then(() => log('turn 2')).then(() => log('turn 3'));
log('end');
