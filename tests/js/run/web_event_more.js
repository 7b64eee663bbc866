// SPDX-License-Identifier: MIT
// The event classes that Node 20 does not have as globals: a check of our own that prints only what is wrong.
const wrong = [];
const check = (name, is, should) => {
    if (!Object.is(is, should)) {
        wrong.push(`${name}: ${String(is)} instead of ${String(should)}`);
    }
};
if (typeof ErrorEvent === 'function') {
    const error = new RangeError('x');
    const e = new ErrorEvent('error', { message: 'm', filename: 'f', lineno: -1, colno: 3.7, error, cancelable: true });
    check('message', e.message, 'm');
    check('filename', e.filename, 'f');
    check('lineno', e.lineno, 4294967295);
    check('colno', e.colno, 3);
    check('error', e.error, error);
    check('cancelable', e.cancelable, true);
    check('default message', new ErrorEvent('e').message, '');
    check('default error', new ErrorEvent('e').error, undefined);
    check('tag', Object.prototype.toString.call(e), '[object ErrorEvent]');
    check('event', e instanceof Event, true);
}
if (typeof CloseEvent === 'function') {
    const e = new CloseEvent('close', { wasClean: 1, code: 65536 + 1000, reason: 'r' });
    check('wasClean', e.wasClean, true);
    check('code', e.code, 1000);
    check('reason', e.reason, 'r');
    check('default code', new CloseEvent('c').code, 0);
    check('default reason', new CloseEvent('c').reason, '');
    check('tag', Object.prototype.toString.call(e), '[object CloseEvent]');
}
if (typeof ProgressEvent === 'function') {
    const e = new ProgressEvent('progress', { lengthComputable: true, loaded: 5, total: 10 });
    check('lengthComputable', e.lengthComputable, true);
    check('loaded', e.loaded, 5);
    check('total', e.total, 10);
    check('default', new ProgressEvent('p').loaded, 0);
    check('tag', Object.prototype.toString.call(e), '[object ProgressEvent]');
}

// What the standard says and Node 20 does otherwise.
if (typeof ErrorEvent === 'function') {
    const seen = [];
    const target = new EventTarget();
    target.addEventListener('x', () => seen.push('bubble'));
    target.addEventListener('x', () => seen.push('capture'), true);
    target.addEventListener('x', () => target.addEventListener('x', () => seen.push('late')), { once: true });
    const event = new Event('x', { cancelable: true });
    target.dispatchEvent(event);
    check('order', seen.join(), 'capture,bubble');
    event.returnValue = false;
    check('returnValue', event.defaultPrevented, true);
    const stopped = new Event('x');
    stopped.stopPropagation();
    check('stopped before', target.dispatchEvent(stopped), true);
    check('nothing called', seen.length, 2);
    check('flag after', stopped.cancelBubble, false);
    const capturing = new EventTarget();
    capturing.addEventListener('x', () => seen.push('never'));
    capturing.addEventListener('x', (e) => e.stopPropagation(), true);
    capturing.dispatchEvent(new Event('x'));
    check('stopped by capture', seen.length, 2);
    const passive = new EventTarget();
    passive.addEventListener('x', (e) => e.preventDefault(), { passive: true });
    check('passive', passive.dispatchEvent(new Event('x', { cancelable: true })), true);
    let name;
    passive.addEventListener('again', (e) => {
        try {
            passive.dispatchEvent(e);
        } catch (error) {
            name = error.name;
        }
    });
    passive.dispatchEvent(new Event('again'));
    check('recursion', name, 'InvalidStateError');
    const source = new AbortController();
    const follower = AbortSignal.any([source.signal]);
    let during;
    source.signal.addEventListener('abort', () => { during = follower.aborted; });
    source.abort();
    check('follower is aborted first', during, true);
    source.signal.onabort = 5;
    check('onabort of a number', source.signal.onabort, null);
    for (const value of [-1, 2 ** 53, NaN, Infinity, undefined]) {
        let kind;
        try {
            AbortSignal.timeout(value);
        } catch (error) {
            kind = error.name;
        }
        check(`timeout ${value}`, kind, 'TypeError');
    }
    check('timeout of text', AbortSignal.timeout('1').aborted, false);
}
for (const line of wrong) {
    console.log(line);
}
console.log(wrong.length === 0 ? 'all right' : 'wrong');
