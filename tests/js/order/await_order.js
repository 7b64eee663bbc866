// Async functions among each other.
const log = (text) => console.log(text);
async function inner(name) { log(`${name} inner begins`); await null; log(`${name} inner ends`); return name; }
async function outer(name) {
    log(`${name} begins`);
    const value = await inner(name);
    log(`${name} got ${value}`);
    await undefined;
    log(`${name} ends`);
}
log('script begins');
setTimeout(() => log('timeout'), 0);
outer('a').then(() => log('a done'));
outer('b').then(() => log('b done'));
new Promise((resolve) => { log('executor'); resolve(); })
    .then(() => log('then 1')).then(() => log('then 2')).then(() => log('then 3'));
process.nextTick(() => log('tick'));
log('script ends');
