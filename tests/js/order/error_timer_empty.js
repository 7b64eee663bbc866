// A timer that throws and has put off nothing takes nothing from the one behind it.
process.on('uncaughtException', (error) => console.log('uncaught', error.message));
setTimeout(() => { throw new Error('a'); }, 1);
setTimeout(() => {
    console.log('b');
    Promise.resolve().then(() => console.log('job of b'));
    process.nextTick(() => console.log('tick of b'));
}, 1);
setTimeout(() => console.log('c'), 1);
const end = Date.now() + 5;
while (Date.now() < end);
