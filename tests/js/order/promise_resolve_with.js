// How many turns it takes to be resolved with a promise, a thenable, or a value.
const log = (text) => console.log(text);
function ruler(name, count = 8) {
    let chain = Promise.resolve();
    for (let i = 1; i <= count; i++)
        chain = chain.then(() => log(`${name} ${i}`));
}
ruler('turn');
new Promise((resolve) => resolve(1)).then(() => log('a value'));
new Promise((resolve) => resolve(Promise.resolve(1))).then(() => log('a promise'));
new Promise((resolve) => resolve({ then(done) { done(1); } })).then(() => log('a thenable'));
Promise.resolve().then(() => Promise.resolve(1)).then(() => log('a promise, returned'));
Promise.resolve().then(() => ({ then(done) { done(1); } })).then(() => log('a thenable, returned'));
(async () => 1)().then(() => log('async, a value'));
(async () => Promise.resolve(1))().then(() => log('async, a promise'));
(async () => await Promise.resolve(1))().then(() => log('async, an awaited promise'));
(async () => ({ then(done) { done(1); } }))().then(() => log('async, a thenable'));
Promise.resolve(Promise.resolve(1)).then(() => log('Promise.resolve of a promise'));
new Promise((resolve) => resolve(Promise.reject(1))).catch(() => log('a rejected promise'));
const inner = new Promise((resolve) => resolve({ then(done) { done({ then(again) { again(2); } }); } }));
inner.then((value) => log(`a thenable of a thenable: ${value}`));
const itself = new Promise((resolve) => setTimeout(() => resolve(itself)));
itself.catch((error) => log(`itself: ${error.name}`));
