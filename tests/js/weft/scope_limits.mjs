// Scopes with limits of time and of children, signals, bodies that are cancelled, scopes inside each other; options of go.
import { chan, go, scope, sleep, wait } from 'weft:go';

async function thrown(what) {
    try {
        return `no error, but ${JSON.stringify(await what())}`;
    } catch (error) {
        return `${error.name} ${error.code ?? ''} ${error.message}`;
    }
}
const log = [];
const flush = (name) => console.log(name, log.splice(0).join(' '));
let staying = 0;
const stay = () => {
    staying++;
    try {
        sleep(1e6);
    } catch (error) {
        log.push(error.code);
        throw error;
    } finally {
        staying--;
    }
};
// The time may be over before a child has begun; nobody stays in any case.
const gone = (name) => console.log(name, staying, log.splice(0).every((code) => code === 'ECANCELED'));

// A limit of time cancels children and body.
console.log(await thrown(() => go(() => scope((children) => {
    children.go(stay);
    stay();
}, { timeout: 20 }))));
gone('time, on a fiber');
console.log(await thrown(() => scope(async (children) => {
    children.go(stay);
    await new Promise((resolve) => children.signal.addEventListener('abort', resolve));
}, { timeout: 20 })));
gone('time, elsewhere');
console.log(await scope(() => 'in time', { timeout: 1e6 }), await go(() => scope(() => 'in time', { timeout: 1e6 })));

// So does a signal.
const controller = new AbortController();
const stopped = thrown(() => go(() => scope((children) => {
    children.go(stay);
    stay();
}, { signal: controller.signal })));
await go(() => {});
controller.abort(new Error('enough'));
console.log(await stopped);
flush('signal');
for (const run of [(fn) => fn(), go])
    console.log(await thrown(() => run(() => scope(() => console.log('never'), { signal: AbortSignal.abort(new Error('long ago')) }))));

// A child that fails ends the wait of the body, which may clean up, and wait while it does.
console.log(await thrown(() => go(() => scope((children) => {
    children.go(() => {
        throw new Error('of a child');
    });
    try {
        chan().recv();
    } finally {
        log.push('cleans up');
    }
}))));
flush('body');
console.log(await go(() => {
    const result = thrown(() => scope((children) => {
        children.go(() => {
            throw new Error('of a child');
        });
        stay();
    }));
    sleep(1); // the scope is over: this fiber waits as before
    return wait(result);
}));
flush('after');

// Its own end: cancel is no failure, but other errors are.
console.log(await go(() => scope((children) => {
    children.go(stay);
    const first = children.go(() => 'first');
    const result = wait(first);
    children.cancel();
    return result;
})));
flush('cancel');
console.log(await thrown(() => go(() => scope((children) => {
    children.cancel(new Error('the reason'));
    throw new Error('something else');
}))));
console.log(await thrown(() => go(() => scope((children) => {
    children.cancel(new Error('the reason'));
    wait(thrown(() => children.go(() => {}))); // it does not begin
}))));

// Inside each other: cancelled from outside in, and over from inside out.
const outer = new AbortController();
const nested = thrown(() => go.with({ signal: outer.signal }, () => scope((a) => {
    a.go(() => scope((b) => {
        b.go(() => {
            try {
                stay();
            } finally {
                log.push('inner child');
            }
        });
        try {
            stay();
        } finally {
            log.push('inner body');
        }
    }));
    a.go(() => {
        try {
            stay();
        } finally {
            log.push('outer child');
        }
    });
})));
await go(() => {});
await go(() => {});
outer.abort(new Error('from outside'));
console.log(await nested);
console.log(log.splice(0).filter((text) => text !== 'ECANCELED').sort().join(', '));

// At most so many at the same time.
for (const run of [(fn) => fn(), go]) {
    let running = 0, most = 0;
    await run(() => scope((children) => {
        for (let i = 0; i < 30; i++)
            children.go(() => {
                most = Math.max(most, ++running);
                sleep(1);
                running--;
            });
        log.push(running <= 3);
    }, { max: 3 }));
    log.push(most, running);
}
flush('most');
console.log(await thrown(() => go(() => scope((children) => {
    children.go(stay);
    children.go(() => 'waits for room, and never begins');
}, { max: 1, timeout: 20 }))));
gone('no room');
for (const wrong of [() => scope(), () => scope(() => {}, { max: 0 }), () => scope(() => {}, { timeout: -1 }),
    () => scope(() => {}, { signal: {} })])
    console.log(await thrown(wrong));

// ---- Options of go ----
function deep(n) {
    return n === 0 ? 0 : 1 + deep(n - 1);
}
const depth = (stack) => go.with({ stack, name: 'deep' }, () => {
    let n = 1000;
    try {
        for (;; n += 1000)
            deep(n);
    } catch {
        return n;
    }
});
console.log(await depth(256 * 1024) < await depth(4 << 20));
for (const wrong of [() => go.with({ stack: 1 }, () => {}), () => go.with({ stack: 'x' }, () => {}), () => go.with({ signal: {} }, () => {}),
    () => go.with({}), () => go.with({ name: Symbol('x') }, () => 'named'), () => go('x')])
    console.log(await thrown(wrong));
console.log(await go.with({ name: 'x'.repeat(100) }, () => 'long name'));
