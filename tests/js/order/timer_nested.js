// Timers set by timers come in later rounds.
const log = (text) => console.log(text);
function nest(name, depth, delay) {
    setTimeout(() => { log(`${name} ${depth}`); if (depth < 4) nest(name, depth + 1, delay); else ended(); }, delay);
}
const last = setTimeout(() => log('never'), 1e6);
let chains = 3;
function ended() {
    if (--chains === 0) { log('last'); clearTimeout(last); }
}
nest('a', 1, 1);
nest('b', 1, 1);
setTimeout(() => nest('c', 1, 1), 0);
