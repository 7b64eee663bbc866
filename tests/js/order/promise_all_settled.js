// allSettled, any and race with values, thenables, and nothing.
const log = (text) => console.log(text);
const settle = (name, promise) => promise.then((value) => log(`${name}: ${JSON.stringify(value)}`),
    (error) => log(`${name} failed: ${error.name} ${error.errors ? JSON.stringify(error.errors) : error.message}`));
const thenable = (value) => ({ then(done) { log(`called ${value}`); done(value); } });
const refusing = (value) => ({ then(_, fail) { log(`called ${value}`); fail(value); } });
settle('settled', Promise.allSettled([1, Promise.reject(2), thenable(3), refusing(4), Promise.resolve(5)]));
settle('settled, none', Promise.allSettled([]));
settle('any', Promise.any([Promise.reject(1), refusing(2), thenable(3), Promise.resolve(4)]));
settle('any, none', Promise.any([]));
settle('any, all rejected', Promise.any([Promise.reject(1), refusing(2)]));
settle('race', Promise.race([new Promise(() => {}), thenable('slow'), 'plain', Promise.resolve('promise')]));
settle('race, rejected', Promise.race([Promise.reject(new Error('lost')), 'plain']));
let raced = false;
Promise.race([]).then(() => { raced = true; });
setTimeout(() => log(`race of none: ${raced}`), 2);
const getter = [0, 1].map((i) => ({ get then() { log(`get ${i}`); return (done) => done(i); } }));
settle('all with getters', Promise.all(getter));
settle('race with getters', Promise.race(getter));
settle('settled with getters', Promise.allSettled(getter));
settle('any with getters', Promise.any(getter));
log('end');
