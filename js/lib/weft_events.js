// SPDX-License-Identifier: MIT
// js/lib/weft_events.js - weft:events: generational events: something that happens once, and whether it went well.
// host: eventsOpen(name, isShared, maxPending, reasons, isStrict, firstGeneration), eventsShutdown(system, code, text),
//       eventsStats(system), eventCode(), eventCreate(system), eventCreateWaiting(system, milliseconds), eventTrigger(system, event),
//       eventPoison(system, event, code, text), eventPoll(system, event), eventReason(system, event),
//       eventWait(system, event, milliseconds), eventOwn(system, event), eventDisown(system, event),
//       eventMerge(system, events, policy, quorum), eventAfter(system, event, other), eventQueueNew(system),
//       eventQueueAdd(queue, event, number), eventQueuePop(queue, most, milliseconds)
//
// An event is a number, in a system. Why it was poisoned is kept by weft as a code and a text; the value that JavaScript gave is
// here, under the code, for as long as weft keeps the code.
(function (host, need) {
    'use strict';
    const { abortable, timeLimit } = need('abortable');
    const { asCase, kinds } = need('select_case');
    const { withCode } = need('errors');
    const verdicts = ['pending', 'ready', 'poisoned', 'expired'];
    const policies = { all: 0, allSettled: 1, any: 2, quorum: 3 };
    const defaultReasons = 4096;
    const errorCodes = { '-130': 'EOWNERDEAD', '-61': 'ENODATA' }; // of what weft poisons, and of reasons that are lost

    // Why an event was poisoned, when nobody has said or nobody here knows more than the text.
    class PoisonError extends Error {
        constructor(message = 'The event was poisoned', code = 'EPOISON') {
            super(message);
            this.code = code;
        }
    }
    Object.defineProperty(PoisonError.prototype, 'name', { value: 'PoisonError', configurable: true, writable: true });

    function textOf(reason) {
        try {
            return reason instanceof Error ? `${reason.name}: ${reason.message}` : String(reason);
        } catch {
            return 'a value without a text';
        }
    }

    // Of one system: values by code, the oldest first.
    class Reasons {
        #values = new Map();
        #most;

        constructor(most) {
            this.#most = most;
        }

        add(value) {
            const code = host.eventCode();
            this.#values.set(code, value);
            if (this.#values.size > this.#most)
                this.#values.delete(this.#values.keys().next().value);
            return code;
        }

        remove(code) {
            this.#values.delete(code);
        }

        get([code, text]) {
            return this.#values.has(code) ? this.#values.get(code) : new PoisonError(text, errorCodes[code]);
        }
    }

    const secret = Symbol('weft.events');
    let partsOf; // [handle of the system, number]

    class WeftEvent {
        #system;
        #handle; // of the system
        #reasons; // of the system
        #bits;

        constructor(key, system, handle, reasons, bits) {
            if (key !== secret)
                throw new TypeError('Events are made by their system: system.create()');
            this.#system = system;
            this.#handle = handle;
            this.#reasons = reasons;
            this.#bits = bits;
        }

        static {
            partsOf = (event) => {
                if (typeof event !== 'object' || event === null || !(#bits in event))
                    throw new TypeError('An event of weft:events is needed');
                return [event.#handle, event.#bits];
            };
        }

        get system() {
            return this.#system;
        }

        // A number that means this event, and no other, in every instance that shares the system.
        get handle() {
            return this.#bits;
        }

        // 'pending', 'ready', 'poisoned', or 'expired': it has completed, how is no longer kept.
        get status() {
            return verdicts[host.eventPoll(this.#handle, this.#bits)];
        }

        // Why it was poisoned; undefined: it was not.
        get reason() {
            const poison = host.eventReason(this.#handle, this.#bits);
            return poison && this.#reasons.get(poison);
        }

        // It is ready. Whether this call has done that: the first one that completes an event decides.
        trigger() {
            return host.eventTrigger(this.#handle, this.#bits);
        }

        // It has failed, with a reason that all get who wait for it. Whether this call has done that.
        poison(reason = new PoisonError()) {
            const code = this.#reasons.add(reason);
            let isDone = false;
            try {
                isDone = host.eventPoison(this.#handle, this.#bits, code, textOf(reason));
            } finally {
                if (!isDone)
                    this.#reasons.remove(code);
            }
            return isDone;
        }

        // Waits until it is complete. If it is poisoned, the reason is thrown.
        wait(options) {
            const limit = timeLimit(options);
            const result = abortable(options?.signal, () => host.eventWait(this.#handle, this.#bits, limit));
            const throwPoison = (poison) => {
                if (poison)
                    throw this.#reasons.get(poison);
            };
            return result instanceof Promise ? result.then(throwPoison) : throwPoison(result);
        }

        // It completes as the other one does. Whether it was pending.
        after(other) {
            return host.eventAfter(this.#handle, this.#bits, partsOf(other)[1]);
        }

        // The fiber that calls owns it: if that ends while it is pending, it is poisoned. Whether it was pending.
        own() {
            return host.eventOwn(this.#handle, this.#bits);
        }

        // Nobody owns it any more. Whether somebody did.
        disown() {
            return host.eventDisown(this.#handle, this.#bits);
        }

        [asCase](key) {
            const throwPoison = (poison) => {
                if (poison)
                    throw this.#reasons.get(poison);
            };
            return key === 'event' ? [kinds.event, this.#handle, throwPoison, this.#bits] : undefined;
        }
    }

    function checkNumber(value, name, most) {
        if (value !== undefined && !(Number.isInteger(value) && value >= 1 && value <= most))
            throw new RangeError(`${name} is a whole number from 1 to ${most}`);
        return value ?? 0;
    }

    const sharedSystems = new Map(); // name -> a weak reference to what this instance has of it

    class EventSystem {
        #handle;
        #reasons;
        #name;

        constructor(options = {}, isShared = undefined) {
            const { name = '', maxPending, reasons, strict = false, firstGeneration } = options;
            this.#name = String(name);
            this.#handle = host.eventsOpen(this.#name, isShared === secret, checkNumber(maxPending, 'maxPending', 16777215),
                checkNumber(reasons, 'reasons', 1048576), Boolean(strict), checkNumber(firstGeneration, 'firstGeneration', 4294967295));
            this.#reasons = new Reasons(reasons ?? defaultReasons);
        }

        // The system with that name, which is the same in all instances of the process; options count when it is made.
        static shared(name, options = {}) {
            if (typeof name !== 'string' || name === '')
                throw new TypeError('A shared event system has a name');
            const known = sharedSystems.get(name)?.deref();
            if (known)
                return known;
            const system = new EventSystem({ ...options, name }, secret);
            sharedSystems.set(name, new WeakRef(system));
            return system;
        }

        get name() {
            return this.#name;
        }

        #make(bits) {
            return new WeftEvent(secret, this, this.#handle, this.#reasons, bits);
        }

        // A pending event. An error when maxPending are.
        create() {
            return this.#make(host.eventCreate(this.#handle));
        }

        // The same, but it waits until there is room.
        createWaiting(options) {
            const limit = timeLimit(options);
            const bits = abortable(options?.signal, () => host.eventCreateWaiting(this.#handle, limit));
            return bits instanceof Promise ? bits.then((number) => this.#make(number)) : this.#make(bits);
        }

        // The event that a number means.
        event(handle) {
            if (typeof handle !== 'bigint')
                throw new TypeError('The handle of an event is a BigInt');
            host.eventPoll(this.#handle, handle);
            return this.#make(handle);
        }

        #merge(events, policy, quorum) {
            const numbers = [...events].map((event) => partsOf(event)[1]);
            if (quorum > numbers.length)
                throw new RangeError(`${quorum} of ${numbers.length} events can never be ready`);
            return this.#make(host.eventMerge(this.#handle, numbers, policies[policy], quorum));
        }

        // Events made of others: ready when all are; when all are complete, however; when one is; when so many are. Poisoned, with
        // the reason of the one that made it so, as soon as that cannot happen any more.
        all(events) {
            return this.#merge(events, 'all', 0);
        }

        allSettled(events) {
            return this.#merge(events, 'allSettled', 0);
        }

        any(events) {
            return this.#merge(events, 'any', 1);
        }

        quorum(events, count) {
            if (!Number.isInteger(count) || count < 0)
                throw new RangeError('A quorum is a whole number, 0 or more');
            return this.#merge(events, 'quorum', count);
        }

        queue() {
            return new EventQueue(secret, this.#handle, this.#reasons);
        }

        // Poisons all that is pending; no event can be made any more. Whether this call has done that.
        shutdown(reason = withCode(new Error('The event system has been shut down'), 'ESHUTDOWN')) {
            const code = this.#reasons.add(reason);
            const isFirst = host.eventsShutdown(this.#handle, code, textOf(reason));
            if (!isFirst)
                this.#reasons.remove(code);
            return isFirst;
        }

        [Symbol.dispose]() {
            this.shutdown();
        }

        stats() {
            const [created, triggered, poisoned, pending, wakes, expired, lost, slots, quarantined, retired] =
                host.eventsStats(this.#handle);
            return { created, triggered, poisoned, pending, wakes, expired, lost, slots, quarantined, retired };
        }
    }

    // Any number of events, and one place to wait for all of them.
    class EventQueue {
        #queue;
        #system;
        #reasons;
        #added = new Map(); // number -> [event, tag]
        #next = 0;

        constructor(key, system, reasons) {
            if (key !== secret)
                throw new TypeError('Queues are made by their system: system.queue()');
            this.#system = system;
            this.#reasons = reasons;
            this.#queue = host.eventQueueNew(system);
        }

        // How many were added and not taken out.
        get size() {
            return this.#added.size;
        }

        // It is answered once it is complete.
        add(event, tag) {
            const number = this.#next;
            this.#next = (number + 1) >>> 0;
            host.eventQueueAdd(this.#queue, partsOf(event)[1], number);
            this.#added.set(number, [event, tag]);
            return this;
        }

        // The next that is complete, or a list of them: { event, tag, status, reason }.
        pop(options) {
            const list = this.popMany(1, options);
            return list instanceof Promise ? list.then(([first]) => first) : list[0];
        }

        popMany(most, options) {
            if (!Number.isInteger(most) || most < 1)
                throw new RangeError('The most to be taken is a whole number, 1 or more');
            const limit = timeLimit(options);
            const flat = abortable(options?.signal, () => host.eventQueuePop(this.#queue, most, limit));
            return flat instanceof Promise ? flat.then((list) => this.#completions(list)) : this.#completions(flat);
        }

        #completions(flat) {
            const list = [];
            for (let i = 0; i < flat.length; i += 4) {
                const [number, verdict, code, text] = flat.slice(i, i + 4);
                const [event, tag] = this.#added.get(number);
                this.#added.delete(number);
                const status = verdicts[verdict];
                list.push({ event, tag, status, reason: status === 'poisoned' ? this.#reasons.get([code, text]) : undefined });
            }
            return list;
        }

        // Until nothing is left in it.
        * [Symbol.iterator]() {
            while (this.#added.size > 0)
                yield this.pop();
        }

        async * [Symbol.asyncIterator]() {
            while (this.#added.size > 0)
                yield await this.pop();
        }
    }

    // For programs that need only one system.
    let ownSystem;
    const own = () => ownSystem ??= new EventSystem({ name: 'default' });
    const exported = {
        EventSystem, WeftEvent, EventQueue, PoisonError,
        create: () => own().create(),
        all: (events) => own().all(events),
        allSettled: (events) => own().allSettled(events),
        any: (events) => own().any(events),
        quorum: (events, count) => own().quorum(events, count),
        queue: () => own().queue(),
    };
    return { ...exported, default: exported };
})
