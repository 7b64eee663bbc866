// SPDX-License-Identifier: MIT
// Event, EventTarget and CustomEvent.
const attempt = (f) => {
    try {
        return String(f());
    } catch (error) {
        return `throws ${error.name}`;
    }
};
const log = (...parts) => console.log(parts.join(' '));

// Construction.
const e = new Event('hello', { bubbles: 1, cancelable: 'yes', composed: 0 });
log(e.type, e.bubbles, e.cancelable, e.composed, e.target, e.currentTarget, e.srcElement, e.eventPhase);
log(e.defaultPrevented, e.returnValue, e.cancelBubble, e.isTrusted, typeof e.timeStamp, e.composedPath().length);
log(new Event(undefined).type, new Event(null).type, new Event(12).type, new Event({ toString: () => 'obj' }).type);
log(attempt(() => new Event()), attempt(() => Event('x')), attempt(() => new Event(Symbol('x'))),
    attempt(() => new Event('x', 1)));
log(new Event('x', null).bubbles, new Event('x', undefined).bubbles, new Event('x', {}).cancelable);
const order = [];
const options = {};
for (const name of ['composed', 'cancelable', 'bubbles', 'detail']) {
    Object.defineProperty(options, name, { get() { order.push(name); return true; } });
}
new Event('x', options);
log(order.slice().sort().join());
log(Event.NONE, Event.CAPTURING_PHASE, Event.AT_TARGET, Event.BUBBLING_PHASE);
log(Object.prototype.toString.call(e), Object.prototype.toString.call(new EventTarget()));
log(Event.length, Event.name, EventTarget.length, EventTarget.name);
const trusted = Object.getOwnPropertyDescriptor(Event.prototype, 'isTrusted') ?? Object.getOwnPropertyDescriptor(e,
    'isTrusted');
log(typeof trusted.get, trusted.set, trusted.enumerable);
for (const name of ['type', 'target', 'eventPhase', 'cancelBubble', 'defaultPrevented']) {
    const d = Object.getOwnPropertyDescriptor(Event.prototype, name);
    log(name, typeof d.get, typeof d.set, d.enumerable, d.configurable, attempt(() => d.get.call({})));
}
for (const name of ['preventDefault', 'stopPropagation', 'stopImmediatePropagation', 'composedPath']) {
    const d = Object.getOwnPropertyDescriptor(Event.prototype, name);
    log(name, d.enumerable, d.writable, d.configurable, d.value.length, attempt(() => d.value.call({})));
}
for (const name of ['addEventListener', 'removeEventListener', 'dispatchEvent']) {
    const d = Object.getOwnPropertyDescriptor(EventTarget.prototype, name);
    log(name, d.enumerable, d.writable, d.configurable, d.value.length, attempt(() => d.value.call({}, 'a', () => {})));
}

// Dispatch: state during and after.
const target = new EventTarget();
target.addEventListener('a', function (event) {
    log('during', this === target, event.target === target, event.currentTarget === target, event.eventPhase,
        event.composedPath().length, event.composedPath()[0] === target, event.srcElement === target);
});
const a = new Event('a');
log(target.dispatchEvent(a), a.target === target, a.currentTarget === null, a.eventPhase, a.composedPath().length);
log(target.dispatchEvent(a));

// Order, duplicates and capture.
const list = new EventTarget();
const make = (name) => () => log('called', name);
const one = make('one');
const two = make('two');
list.addEventListener('x', one);
list.addEventListener('x', two);
list.addEventListener('x', one);
list.addEventListener('x', one, { passive: true });
list.dispatchEvent(new Event('x'));
list.addEventListener('x', one, true);
list.removeEventListener('x', one);
list.removeEventListener('x', two);
list.addEventListener('x', two);
list.dispatchEvent(new Event('x'));
list.removeEventListener('x', one, { capture: true });
list.removeEventListener('x', two, { capture: false });
log('nothing', list.dispatchEvent(new Event('x')));

// Null and wrong listeners.
log(attempt(() => list.addEventListener('x', null)), attempt(() => list.addEventListener('x', undefined)));
log(attempt(() => list.removeEventListener('x', null)), attempt(() => list.addEventListener('x')));
log(attempt(() => list.addEventListener('x', 1)), attempt(() => list.addEventListener('x', 'f')));
log(attempt(() => list.dispatchEvent()), attempt(() => list.dispatchEvent({ type: 'x' })),
    attempt(() => list.dispatchEvent(null)));

// An object with handleEvent, looked up when the event comes.
const object = {
    handleEvent(event) {
        log('object', this === object, event.type);
    },
};
list.addEventListener('y', object);
list.dispatchEvent(new Event('y'));
object.handleEvent = () => log('replaced');
list.dispatchEvent(new Event('y'));
list.removeEventListener('y', object);
log(list.dispatchEvent(new Event('y')));

// once; a listener that adds and removes listeners.
const changes = new EventTarget();
changes.addEventListener('x', (event) => {
    log('once');
    changes.dispatchEvent(new Event('x'));
}, { once: true });
changes.dispatchEvent(new Event('x'));
const removed = make('removed');
changes.addEventListener('z', () => {
    changes.removeEventListener('z', removed);
}, { once: true });
changes.addEventListener('z', removed);
changes.dispatchEvent(new Event('z'));
log('again');
changes.dispatchEvent(new Event('z'));

// Stopping.
const stop = new EventTarget();
stop.addEventListener('s', (event) => event.stopPropagation());
stop.addEventListener('s', (event) => {
    log('after stopPropagation', event.cancelBubble);
    event.stopImmediatePropagation();
});
stop.addEventListener('s', () => log('never'));
stop.dispatchEvent(new Event('s'));

// Cancelling.
const cancel = new EventTarget();
cancel.addEventListener('c', (event) => event.preventDefault());
const c = new Event('c', { cancelable: true });
log(cancel.dispatchEvent(c), c.defaultPrevented, c.returnValue);
log(cancel.dispatchEvent(new Event('c')));
const passive = new EventTarget();
passive.addEventListener('c', (event) => event.preventDefault(), { passive: true });
const p = new Event('c', { cancelable: true });
passive.dispatchEvent(p);
const outside = new Event('c', { cancelable: true });
outside.preventDefault();
log(outside.defaultPrevented, passive.dispatchEvent(outside));

// Dispatching an event that is being dispatched.
const twice = new EventTarget();
twice.addEventListener('t', (event) => {
    let thrown = false;
    try {
        twice.dispatchEvent(event);
    } catch {
        thrown = true;
    }
    log('nested dispatch refused', thrown);
});
twice.dispatchEvent(new Event('t'));

// Signals.
const controller = new AbortController();
const signalled = new EventTarget();
signalled.addEventListener('g', make('with signal'), { signal: controller.signal });
signalled.dispatchEvent(new Event('g'));
controller.abort();
signalled.dispatchEvent(new Event('g'));
signalled.addEventListener('g', make('never'), { signal: controller.signal });
signalled.dispatchEvent(new Event('g'));
log(attempt(() => signalled.addEventListener('g', make('x'), { signal: {} })), attempt(() =>
    signalled.addEventListener('g', make('x'), { signal: null })));

// A subclass.
class Chat extends EventTarget {
    say(text) {
        return this.dispatchEvent(new CustomEvent('say', { detail: text }));
    }
}
const chat = new Chat();
chat.addEventListener('say', (event) => log('heard', event.detail));
log(chat.say('hi'), chat instanceof EventTarget);

// CustomEvent.
const custom = new CustomEvent('k', { detail: { a: 1 }, cancelable: true });
log(custom.detail.a, custom.cancelable, custom instanceof Event, Object.prototype.toString.call(custom));
log(new CustomEvent('k').detail, new CustomEvent('k', {}).detail, new CustomEvent('k', { detail: 0 }).detail);
log(attempt(() => new CustomEvent()), CustomEvent.length, attempt(() =>
    Object.getOwnPropertyDescriptor(CustomEvent.prototype, 'detail').get.call(new Event('x'))));

// MessageEvent.
const message = new MessageEvent('message', { data: [1], origin: 'o', lastEventId: 'i' });
log(message.data[0], message.origin, message.lastEventId, message.source, message.ports.length, message instanceof Event);
log(new MessageEvent('m').data, new MessageEvent('m').origin === '', new MessageEvent('m').lastEventId === '');

// initEvent begins anew.
const initial = new Event('first', { cancelable: true });
initial.preventDefault();
initial.initEvent('second', true, false);
log(initial.type, initial.bubbles, initial.cancelable);
