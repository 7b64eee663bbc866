// Thenables: when then is read, when it is called, what counts.
const log = (text) => console.log(text);
function thenable(name, body) {
    return { get then() { log(`${name}: then is read`); return body; } };
}
const p1 = Promise.resolve(thenable('one', (done) => { log('one: called'); done(1); done(2); throw new Error('late'); }));
p1.then((value) => log(`one: ${value}`));
const p2 = Promise.resolve(thenable('two', () => { log('two: called'); throw new Error('early'); }));
p2.catch((error) => log(`two: ${error.message}`));
Promise.resolve({ get then() {
    log('three: read');
    throw new Error('getter');
} }).catch((error) => log(`three: ${error.message}`));
Promise.resolve(thenable('four', 42)).then((value) => log(`four: ${typeof value.then}`));
const p5 = Promise.resolve(thenable('five', function (done, fail) {
    log(`five: ${typeof this.then} ${done.length} ${fail.length}`);
    fail(new Error('failed'));
    done('too late');
}));
p5.then(() => log('never'), (error) => log(`five: ${error.message}`));
(async () => {
    const value = await thenable('six', (done) => done('awaited'));
    log(`six: ${value}`);
    try {
        await thenable('seven', (_, fail) => fail('refused'));
    } catch (error) {
        log(`seven: ${error}`);
    }
    try {
        await { then() { throw 'thrown'; } };
    } catch (error) {
        log(`eight: ${error}`);
    }
})();
queueMicrotask(() => log('micro'));
Object.prototype.then = undefined;
Promise.resolve({}).then(() => log('nine: no then'));
delete Object.prototype.then;
const fn = () => {};
fn.then = (done) => done('of a function');
Promise.resolve(fn).then(log);
Number.prototype.then = (done) => done('never');
Promise.resolve(5).then((value) => { log(`a number stays ${value}`); delete Number.prototype.then; });
log('end');
