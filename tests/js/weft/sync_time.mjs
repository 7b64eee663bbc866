// Time as channels: after, ticker; select over them.
import { after, chan, Channel, go, select, Ticker, ticker } from 'weft:go';

async function thrown(what) {
    try {
        return `no error, but ${await what()}`;
    } catch (error) {
        return `${error.name} ${error.message}`;
    }
}

const soon = after(1);
console.log(typeof await soon.recv(), await soon.recv(), soon.closed);
console.log(await go(() => select([{ recv: chan() }, { recv: after(1) }]).index));
const ticks = ticker(1);
console.log(ticks instanceof Ticker, ticks instanceof Channel);
console.log(await go(() => {
    let last = 0, grows = true;
    for (let i = 0; i < 5; i++) {
        const now = ticks.recv();
        grows &&= now > last;
        last = now;
    }
    return grows;
}));
// Who is slow misses some.
await new Promise((resolve) => setTimeout(resolve, 20));
console.log(ticks.length);
ticks.reset(2);
await ticks.recv();
let count = 0;
for await (const _ of ticks)
    if (++count === 3)
        ticks.stop();
console.log(ticks.closed, ticks.close(), count, await thrown(() => ticks.reset(1)));
{
    using brief = ticker(1000);
    console.log(brief.closed);
}
for (const wrong of [() => ticker(0), () => ticker('x'), () => after(-1), () => after(), () => ticker(2 ** 31)])
    console.log(await thrown(wrong));
