// A delay counts from the call, not from the beginning of the turn.
const log = (text) => console.log(text);
const spin = (ms) => { const until = Date.now() + ms; while (Date.now() < until); };
setTimeout(() => log('20, set first'), 20);
spin(40);
setTimeout(() => log('5, set later'), 5);
setImmediate(() => {
    setTimeout(() => log('from the immediate, 150'), 150);
    spin(200);
    setTimeout(() => { log('from the immediate, 2'); inTimer(); }, 2);
});
function inTimer() {
    setTimeout(() => log('in a timer, 50'), 50);
    spin(100);
    setTimeout(() => log('in a timer, 3'), 3);
}
