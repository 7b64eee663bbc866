// SPDX-License-Identifier: MIT
// js/lib/event_kinds.js - the classes derived from Event: CustomEvent, MessageEvent, ErrorEvent, CloseEvent, ProgressEvent.
(function (host, need) {
    'use strict';

    const idl = need('idl');
    const { Event, isEventTarget, initialize } = need('event_target');

    // What a constructor of an event gets: the fields are read after those of Event, in the order of their names.
    function fieldsOf(options) {
        return options === undefined || options === null ? {} : options;
    }

    function toStringOr(value, fallback) {
        return value === undefined ? fallback : idl.toDOMString(value);
    }

    class CustomEvent extends Event {
        #detail = null;
        static #of(value) {
            if (typeof value !== 'object' || value === null || !(#detail in value)) {
                throw idl.illegalInvocation();
            }
            return value;
        }
        constructor(type, options = undefined) {
            idl.needArguments('CustomEvent constructor', arguments.length, 1);
            super(type, options);
            this.#detail = fieldsOf(options).detail ?? null;
        }
        get detail() {
            return CustomEvent.#of(this).#detail;
        }
        initCustomEvent(type, bubbles = false, cancelable = false, detail = null) {
            const event = CustomEvent.#of(this);
            idl.needArguments('initCustomEvent', arguments.length, 1);
            if (initialize(event, idl.toDOMString(type), !!bubbles, !!cancelable)) {
                event.#detail = detail;
            }
        }
    }
    idl.define(CustomEvent);

    function toSource(value) {
        if (value === undefined || value === null) {
            return null;
        }
        if (!isEventTarget(value)) {
            throw new TypeError('The source of a MessageEvent must be a MessagePort');
        }
        return value;
    }

    function toPorts(value) {
        if (value === undefined) {
            return Object.freeze([]);
        }
        return Object.freeze(idl.toSequence(value, 'The ports of a MessageEvent', (port) => {
            if (!isEventTarget(port)) {
                throw new TypeError('The ports of a MessageEvent must be MessagePorts');
            }
            return port;
        }));
    }

    class MessageEvent extends Event {
        #data = null;
        #origin = '';
        #lastEventId = '';
        #source = null;
        #ports;
        static #of(value) {
            if (typeof value !== 'object' || value === null || !(#data in value)) {
                throw idl.illegalInvocation();
            }
            return value;
        }
        constructor(type, options = undefined) {
            idl.needArguments('MessageEvent constructor', arguments.length, 1);
            super(type, options);
            const init = fieldsOf(options);
            const data = init.data;
            this.#data = data === undefined ? null : data;
            this.#lastEventId = toStringOr(init.lastEventId, '');
            const origin = init.origin;
            this.#origin = origin === undefined ? '' : idl.toUSVString(origin);
            this.#ports = toPorts(init.ports);
            this.#source = toSource(init.source);
        }
        get data() {
            return MessageEvent.#of(this).#data;
        }
        get origin() {
            return MessageEvent.#of(this).#origin;
        }
        get lastEventId() {
            return MessageEvent.#of(this).#lastEventId;
        }
        get source() {
            return MessageEvent.#of(this).#source;
        }
        get ports() {
            return MessageEvent.#of(this).#ports;
        }
        initMessageEvent(type, bubbles = false, cancelable = false, data = null, origin = '', lastEventId = '',
            source = null, ports = []) {
            const event = MessageEvent.#of(this);
            idl.needArguments('initMessageEvent', arguments.length, 1);
            type = idl.toDOMString(type);
            origin = idl.toUSVString(origin);
            lastEventId = idl.toDOMString(lastEventId);
            source = toSource(source);
            ports = toPorts(ports);
            if (initialize(event, type, !!bubbles, !!cancelable)) {
                event.#data = data;
                event.#origin = origin;
                event.#lastEventId = lastEventId;
                event.#source = source;
                event.#ports = ports;
            }
        }
    }
    idl.define(MessageEvent);

    class ErrorEvent extends Event {
        #message = '';
        #filename = '';
        #lineno = 0;
        #colno = 0;
        #error = undefined;
        static #of(value) {
            if (typeof value !== 'object' || value === null || !(#message in value)) {
                throw idl.illegalInvocation();
            }
            return value;
        }
        constructor(type, options = undefined) {
            idl.needArguments('ErrorEvent constructor', arguments.length, 1);
            super(type, options);
            const init = fieldsOf(options);
            this.#colno = idl.toInteger(init.colno ?? 0, 32, false);
            this.#error = init.error;
            const filename = init.filename;
            this.#filename = filename === undefined ? '' : idl.toUSVString(filename);
            this.#lineno = idl.toInteger(init.lineno ?? 0, 32, false);
            this.#message = toStringOr(init.message, '');
        }
        get message() {
            return ErrorEvent.#of(this).#message;
        }
        get filename() {
            return ErrorEvent.#of(this).#filename;
        }
        get lineno() {
            return ErrorEvent.#of(this).#lineno;
        }
        get colno() {
            return ErrorEvent.#of(this).#colno;
        }
        get error() {
            return ErrorEvent.#of(this).#error;
        }
    }
    idl.define(ErrorEvent);

    class CloseEvent extends Event {
        #wasClean = false;
        #code = 0;
        #reason = '';
        static #of(value) {
            if (typeof value !== 'object' || value === null || !(#wasClean in value)) {
                throw idl.illegalInvocation();
            }
            return value;
        }
        constructor(type, options = undefined) {
            idl.needArguments('CloseEvent constructor', arguments.length, 1);
            super(type, options);
            const init = fieldsOf(options);
            this.#code = idl.toInteger(init.code ?? 0, 16, false);
            const reason = init.reason;
            this.#reason = reason === undefined ? '' : idl.toUSVString(reason);
            this.#wasClean = !!init.wasClean;
        }
        get wasClean() {
            return CloseEvent.#of(this).#wasClean;
        }
        get code() {
            return CloseEvent.#of(this).#code;
        }
        get reason() {
            return CloseEvent.#of(this).#reason;
        }
    }
    idl.define(CloseEvent);

    function toAmount(value, what) {
        return value === undefined ? 0 : idl.toDouble(value, what);
    }

    class ProgressEvent extends Event {
        #lengthComputable = false;
        #loaded = 0;
        #total = 0;
        static #of(value) {
            if (typeof value !== 'object' || value === null || !(#loaded in value)) {
                throw idl.illegalInvocation();
            }
            return value;
        }
        constructor(type, options = undefined) {
            idl.needArguments('ProgressEvent constructor', arguments.length, 1);
            super(type, options);
            const init = fieldsOf(options);
            this.#lengthComputable = !!init.lengthComputable;
            this.#loaded = toAmount(init.loaded, 'loaded');
            this.#total = toAmount(init.total, 'total');
        }
        get lengthComputable() {
            return ProgressEvent.#of(this).#lengthComputable;
        }
        get loaded() {
            return ProgressEvent.#of(this).#loaded;
        }
        get total() {
            return ProgressEvent.#of(this).#total;
        }
    }
    idl.define(ProgressEvent);

    return { CustomEvent, MessageEvent, ErrorEvent, CloseEvent, ProgressEvent };
})
