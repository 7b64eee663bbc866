// An async beforeExit listener: awaits of nothing do not bring it back, awaits of timers do.
const log = (text) => console.log(text);
let n = 0;
process.on('beforeExit', async () => {
    const mine = ++n;
    log(`begin ${mine}`);
    if (mine < 3) await new Promise((resolve) => setTimeout(resolve, 1));
    else await null;
    log(`end ${mine}`);
});
process.on('exit', () => log('exit'));
