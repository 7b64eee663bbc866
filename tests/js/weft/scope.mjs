// Scopes and cancellation: signals, first failures, bodies on fibers and elsewhere; promises that a fiber waits for.
import { chan, go, scope, sleep, wait } from 'weft:go';

console.log(await go(() => wait(new Promise((resolve) => setTimeout(resolve, 2, 'waited')))));
console.log(await wait('no promise'), await go(() => wait('no promise')));
try {
    await go(() => wait(Promise.reject(new Error('rejected'))));
} catch (error) {
    console.log(error.message);
}

const controller = new AbortController();
const stuck = go.with({ signal: controller.signal }, () => {
    const never = chan();
    try {
        never.recv();
    } catch (error) {
        console.log('inside', error.code);
        throw error;
    }
});
go(() => controller.abort(new Error('enough'))); // begins after the other, which waits by then
try {
    await stuck;
} catch (error) {
    console.log(error.message);
}
try {
    await go.with({ signal: AbortSignal.abort() }, () => console.log('never'));
} catch (error) {
    console.log(error.name);
}
console.log(await go.with({ signal: new AbortController().signal }, (value) => value * 2, 21));
console.log(await go.with({}, () => 'without a signal'));

const log = [];
try {
    await scope(async (children) => {
        children.go(() => {
            sleep(1);
            throw new Error('first failure');
        });
        children.go(() => {
            try {
                sleep(100000);
            } catch (error) {
                log.push(error.code);
            }
        });
        await null;
        log.push('body ends');
    });
} catch (error) {
    log.push(error.message);
}
console.log(log.join(', '));

console.log(await go(() => {
    let sum = 0;
    const result = scope((children) => {
        for (let i = 0; i < 10; i++)
            children.go(() => {
                sleep(i % 3);
                sum += i;
            });
        return 'result';
    });
    return `${result} ${sum}`;
}));

try {
    await go(() => scope((children) => {
        children.go(() => sleep(100000));
        throw new Error('of the body');
    }));
} catch (error) {
    console.log(error.message);
}
