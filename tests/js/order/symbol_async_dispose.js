// Disposing by hand, as "await using" would do it: last in, first out, errors kept.
const log = (text) => console.log(text);
const resource = (name, fails) => ({ async [Symbol.asyncDispose]() {
    log(`${name} closing`);
    await null;
    log(`${name} closed`);
    if (fails) throw name;
} });
async function withAll(list, body) {
    let failure;
    try { return await body(); } catch (error) { failure = [error]; } finally {
        for (const each of list.reverse()) try { await each[Symbol.asyncDispose](); } catch (error) {
            failure = [error, ...(failure ?? [])];
        }
        if (failure) log(`failures ${failure}`);
    }
}
withAll([resource('a'), resource('b', true), resource('c')], async () => {
    log('body');
    await null;
    throw 'body failed';
}).then(() => log('out'));
Promise.resolve().then(() => log('turn 1')).then(() => log('turn 2')).then(() => log('turn 3')).then(() => log('turn 4'));
