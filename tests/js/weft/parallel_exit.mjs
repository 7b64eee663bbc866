// The end of the main instance is the end of all, whatever they do.
import { parallel, spawn, channel } from 'weft:parallel';

const here = channel(), never = channel();
const end = () => {};
spawn((to) => { to.send(1); for (;;); }, here).catch(end);
spawn((to, other) => { to.send(1); other.recv(); }, here, never).catch(end);
spawn(async (to) => {
    process.on('exit', () => console.log('not told'));
    await to.send(1);
    await new Promise(() => setInterval(() => {}, 1));
}, here).catch(end);
parallel.map((to) => { to.send(1); for (;;); }, [here], { chunk: 1 }).catch(end);
never.recv().catch(end);
for (let i = 0; i < 4; i++)
    await here.recv();
process.on('exit', (code) => console.log('the end', code));
spawn(() => { for (;;); }).catch(end);
process.exit(5);
