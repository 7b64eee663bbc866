// The events of a child, and what comes between them.
const { spawn } = require('child_process');

const log = (text) => console.log(text);
const around = (name) => {
    process.nextTick(() => log(`${name} tick`));
    Promise.resolve().then(() => log(`${name} job`));
};
const child = spawn('true', { stdio: 'ignore' });
for (const name of ['spawn', 'exit', 'close']) {
    child.on(name, (...told) => {
        log(`${name} ${told.join()}`);
        around(name);
        if (name === 'exit')
            setImmediate(() => log('immediate of exit'));
        if (name === 'close')
            setTimeout(missing, 5);
    });
}
around('spawned');
log('end of script');

function missing() {
    const none = spawn('no-such-program', { stdio: 'ignore' });
    for (const name of ['spawn', 'error', 'exit', 'close']) {
        none.on(name, (...told) => {
            log(`${name} ${told.map((value) => value?.code ?? value).join()}`);
            around(name);
        });
    }
    around('missing');
    setImmediate(() => log('immediate'));
    log('end of missing');
}
