// refresh begins a timer anew, also after it has fired; not after it was cleared.
const log = (text) => console.log(text);
const spin = (ms) => { const until = Date.now() + ms; while (Date.now() < until); };
const cleared = setTimeout(() => log('never'), 5);
clearTimeout(cleared);
log(cleared.refresh() === cleared);
let times = 0;
const again = setTimeout(() => { log(`again ${++times}`); if (times < 3) again.refresh(); else moved(); }, 2);
log(again.hasRef());
log(again.refresh() === again);
function moved() {
    const early = setTimeout(() => { log('was early, is late'); fired(); }, 150);
    setTimeout(() => log('in between'), 200);
    spin(100);
    early.refresh();
}
function fired() {
    let count = 0;
    const timer = setTimeout(() => log(`fired ${++count}`), 1);
    setTimeout(() => { log('refresh of one that has fired'); timer.refresh(); }, 60);
}
