// for await inside of each other, of try and of generators: whoever is left is closed, from the inside out, and waited for.
const log = (...parts) => console.log(parts.join(' '));
function source(name, count = 3, options = {}) {
    let i = 0;
    return {
        [Symbol.asyncIterator]() { return this; },
        next() {
            if (options.nextThrows === i) throw `${name}: next threw`;
            if (options.nextRejects === i) { i++; return Promise.reject(`${name}: next rejected`); }
            return Promise.resolve(i < count ? { value: options.pair ? [i++] : i++, done: false } : { value: undefined, done: true });
        },
        return(value) {
            log(name, 'return', value);
            if (options.returnRejects) return Promise.reject(`${name}: return rejected`);
            return Promise.resolve().then(() => { log(name, 'returned'); return {}; });
        },
    };
}
const bare = (count) => {
    let i = 0;
    return { [Symbol.asyncIterator]: () => ({ next: async () => ({ value: i, done: i++ >= count }) }) };
};
async function run(name, fn) {
    try {
        log(name, '->', await fn());
    } catch (error) {
        log(name, 'x', error);
    }
}
const tests = {
    async 'inner throws'() {
        for await (const a of source('A')) for await (const b of source('B')) { log(a, b); throw 'inner'; }
    },
    async 'outer break by label'() {
        outer: for await (const a of source('A')) for await (const b of source('B')) { log(a, b); if (b === 1) break outer; }
        return 'after';
    },
    async 'outer continue by label'() {
        outer: for await (const a of source('A', 2)) for await (const b of source('B')) { log(a, b); if (b === 1) continue outer; }
        return 'after';
    },
    async 'continue'() {
        const seen = [];
        for await (const a of source('A')) { if (a === 1) continue; seen.push(a); }
        return seen;
    },
    async 'return from two, with finally'() {
        try {
            for await (const a of source('A')) {
                try {
                    for await (const b of source('B')) { log(a, b); return 'value'; }
                } finally { log('inner finally'); }
            }
        } finally { log('outer finally'); }
    },
    async 'throw into a catch inside'() {
        for await (const a of source('A', 2)) {
            try { throw a; } catch (error) { log('caught', error); }
        }
        return 'end';
    },
    async 'throw from catch and finally'() {
        for await (const a of source('A', 2)) {
            try { throw a; } catch (error) { throw `again ${error}`; } finally { log('finally'); }
        }
    },
    async 'sync loop around'() {
        function* numbers() { try { yield 1; yield 2; } finally { log('numbers closed'); } }
        for (const n of numbers()) for await (const a of source('A')) { log(n, a); throw 'out of both'; }
    },
    async 'sync loop inside'() {
        function* numbers() { try { yield 1; yield 2; } finally { log('numbers closed'); } }
        for await (const a of source('A')) for (const n of numbers()) { log(n, a); throw 'out of both'; }
    },
    async 'next throws'() { for await (const a of source('A', 3, { nextThrows: 1 })) log(a); },
    async 'next rejects'() { for await (const a of source('A', 3, { nextRejects: 1 })) log(a); },
    async 'next of the inner one rejects'() {
        for await (const a of source('A')) for await (const b of source('B', 3, { nextRejects: 1 })) log(a, b);
    },
    async 'return rejects after break'() { for await (const a of source('A', 3, { returnRejects: true })) { log(a); break; } },
    async 'return rejects after throw'() { for await (const a of source('A', 3, { returnRejects: true })) throw `body ${a}`; },
    async 'no return'() { for await (const a of bare(3)) throw `body ${a}`; },
    async 'no return, break'() { for await (const a of bare(3)) { log(a); break; } return 'ok'; },
    async 'default of a pattern throws'() { for await (const [a, b = (() => { throw 'default'; })()] of source('A', 2, { pair: true })) log(a, b); },
    async 'target throws'() {
        const target = { set a(value) { throw `set ${value}`; } };
        for await (target.a of source('A')) log('never');
    },
    async 'closures'() {
        const functions = [];
        for await (const a of source('A', 3)) functions.push(() => a);
        return functions.map((fn) => fn());
    },
    async 'await in the body'() {
        for await (const a of source('A')) { await null; log(a); if (a === 1) await Promise.reject('awaited'); }
    },
    async 'empty'() { for await (const a of source('A', 0)) log(a); return 'nothing'; },
    async 'switch'() {
        for await (const a of source('A')) {
            switch (a) { case 0: continue; case 1: break; default: return `at ${a}`; }
            log('after switch', a);
        }
    },
    async 'body of one statement'() { let sum = 0; for await (const a of source('A', 4)) sum += a; return sum; },
    async 'array of promises'() {
        const out = [];
        for await (const a of [Promise.resolve(1), 2, Promise.resolve(3)]) out.push(a);
        return out;
    },
};
async function* through(name) {
    try {
        for await (const a of source(name)) yield `${name}${a}`;
    } finally { log(name, 'generator finally'); }
}
Object.assign(tests, {
    async 'generator is left'() { for await (const a of through('G')) { log(a); break; } return 'left'; },
    async 'generator is thrown out of'() { for await (const a of through('G')) { log(a); throw 'user'; } },
    async 'throw into a generator'() {
        const generator = through('G');
        log((await generator.next()).value);
        return generator.throw('thrown in').catch((error) => `came out: ${error}`);
    },
    async 'return of a generator'() {
        const generator = through('G');
        log((await generator.next()).value);
        const [one, two] = await Promise.all([generator.return('r'), generator.next()]);
        return JSON.stringify([one, two]);
    },
    async 'two generators'() {
        async function* outer() { for await (const a of through('H')) yield* through(a); }
        const seen = [];
        for await (const a of outer()) { seen.push(a); if (seen.length === 4) break; }
        return seen;
    },
    async 'many rounds'() {
        async function* count(n) { for (let i = 0; i < n; i++) yield i; }
        let sum = 0;
        for await (const a of count(1000)) { if (a % 3 === 0) continue; try { if (a % 5 === 0) throw a; sum += a; } catch (value) { sum -= value; } }
        return sum;
    },
});
(async () => {
    for (const name of Object.keys(tests))
        await run(name, tests[name]);
})();
