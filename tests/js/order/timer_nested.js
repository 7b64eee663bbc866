// Timers set by timers come in later rounds.
const log = (text) => console.log(text);
function nest(name, depth, delay) {
    setTimeout(() => { log(`${name} ${depth}`); if (depth < 4) nest(name, depth + 1, delay); }, delay);
}
nest('slow', 1, 100);
setTimeout(() => nest('fast', 1, 1), 0);
setTimeout(() => log('between'), 60);
setTimeout(() => log('last'), 700);
