// SPDX-License-Identifier: MIT
// AbortController and AbortSignal.
const attempt = (f) => {
    try {
        return String(f());
    } catch (error) {
        return `throws ${error?.name ?? error}`;
    }
};
const log = (...parts) => console.log(parts.join(' '));

const controller = new AbortController();
const { signal } = controller;
log(signal.aborted, signal.reason, signal.onabort, controller.signal === signal);
log(Object.prototype.toString.call(controller), Object.prototype.toString.call(signal));
log(signal instanceof AbortSignal, signal instanceof EventTarget, AbortController.length, AbortSignal.name);
log(attempt(() => new AbortSignal()), attempt(() => AbortController()), attempt(() => signal.throwIfAborted()));
signal.onabort = function (event) {
    log('onabort', this === signal, event.type, event.isTrusted, event.target === signal, event.bubbles, event.cancelable);
};
signal.addEventListener('abort', () => log('listener', signal.aborted));
controller.abort();
log(signal.aborted, signal.reason.name, signal.reason.message, signal.reason.code, signal.reason instanceof DOMException);
const first = signal.reason;
controller.abort('other');
log(signal.reason === first);
log(attempt(() => signal.throwIfAborted()));

// Reasons.
for (const reason of ['text', null, 0, false, { name: 'Own' }]) {
    const c = new AbortController();
    c.abort(reason);
    log(typeof reason, c.signal.reason === reason, attempt(() => c.signal.throwIfAborted()));
}
const plain = new AbortController();
plain.abort(undefined);
log(plain.signal.reason.name);

// abort().
const aborted = AbortSignal.abort();
log(aborted.aborted, aborted.reason.name, aborted.reason.code, AbortSignal.abort(7).reason, AbortSignal.abort(null).reason);
aborted.addEventListener('abort', () => log('never'));
aborted.onabort = () => log('never');

// onabort: values and order.
const handlers = new AbortController();
handlers.signal.onabort = () => log('handler one');
handlers.signal.addEventListener('abort', () => log('listener two'));
handlers.signal.onabort = () => log('handler replaced');
handlers.abort();
const none = new AbortController();
none.signal.onabort = () => {};
log(typeof none.signal.onabort);
none.signal.onabort = null;
log(none.signal.onabort);
none.abort();

// any().
const one = new AbortController();
const two = new AbortController();
const any = AbortSignal.any([one.signal, two.signal]);
const nested = AbortSignal.any([any]);
log(any.aborted, nested.aborted, any instanceof AbortSignal);
one.signal.addEventListener('abort', () => log('source'));
any.addEventListener('abort', (event) => log('any', event.isTrusted));
nested.addEventListener('abort', () => log('nested'));
one.abort('why');
two.abort('late');
log(any.reason, nested.reason);
log(AbortSignal.any([]).aborted, AbortSignal.any([AbortSignal.abort(1), AbortSignal.abort(2)]).reason);
log(AbortSignal.any([one.signal, new AbortController().signal]).reason);
log(attempt(() => AbortSignal.any()), attempt(() => AbortSignal.any(1)), attempt(() => AbortSignal.any([1])),
    attempt(() => AbortSignal.any([{}])), attempt(() => AbortSignal.any(null)));
const same = new AbortController();
const doubled = AbortSignal.any([same.signal, same.signal]);
doubled.addEventListener('abort', () => log('once only'));
same.abort();

// Brand checks and descriptors.
for (const name of ['aborted', 'onabort']) {
    const d = Object.getOwnPropertyDescriptor(AbortSignal.prototype, name);
    log(name, typeof d.get, typeof d.set, d.enumerable, d.configurable);
}
for (const name of ['aborted', 'reason']) {
    log(attempt(() => Object.getOwnPropertyDescriptor(AbortSignal.prototype, name).get.call(new EventTarget())));
}
log(Object.getOwnPropertyDescriptor(AbortController.prototype, 'signal').enumerable, AbortController.prototype.abort.length,
    attempt(() => AbortController.prototype.abort.call({})));
for (const name of ['abort', 'timeout', 'any']) {
    const d = Object.getOwnPropertyDescriptor(AbortSignal, name);
    log(name, d.writable, d.configurable);
}

// timeout().
log(attempt(() => AbortSignal.timeout()), attempt(() => AbortSignal.timeout(NaN) && 'made').startsWith('throws'),
    attempt(() => AbortSignal.timeout(-1)).startsWith('throws'),
        attempt(() => AbortSignal.timeout(Infinity)).startsWith('throws'));
const timeout = AbortSignal.timeout(10);
log(timeout.aborted);
timeout.onabort = () => log('timeout', timeout.reason.name, timeout.reason.message, timeout.reason.code);
const follows = AbortSignal.any([timeout]);
follows.addEventListener('abort', () => log('follows', follows.reason === timeout.reason));
setTimeout(() => log('end', timeout.aborted), 200);
