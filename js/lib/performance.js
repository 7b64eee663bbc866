// SPDX-License-Identifier: MIT
// js/lib/performance.js - performance.now, marks and measures.
(function (host, need) {
    'use strict';

    const idl = need('idl');
    const clock = need('clock');
    const { EventTarget } = need('event_target');
    const token = Symbol('token');

    let marks = [];
    let measures = [];
    // The last mark of each name, for the measures that begin or end there.
    const lastMarks = new Map();

    class PerformanceEntry {
        #name;
        #type;
        #start;
        #duration;
        static #of(value) {
            if (typeof value !== 'object' || value === null || !(#name in value)) {
                throw idl.illegalInvocation();
            }
            return value;
        }
        constructor(key = undefined, name = '', type = '', start = 0, duration = 0) {
            if (key !== token) {
                throw new TypeError('Illegal constructor');
            }
            this.#name = name;
            this.#type = type;
            this.#start = start;
            this.#duration = duration;
        }
        get name() {
            return PerformanceEntry.#of(this).#name;
        }
        get entryType() {
            return PerformanceEntry.#of(this).#type;
        }
        get startTime() {
            return PerformanceEntry.#of(this).#start;
        }
        get duration() {
            return PerformanceEntry.#of(this).#duration;
        }
        toJSON() {
            const self = PerformanceEntry.#of(this);
            return { name: self.#name, entryType: self.#type, startTime: self.#start, duration: self.#duration };
        }
    }
    idl.define(PerformanceEntry);
    idl.inspectAs(PerformanceEntry, (entry) => [entry.constructor.name, entry.toJSON()]);

    function cloneDetail(detail) {
        return detail === undefined || detail === null ? null : need('clone').structuredClone(detail);
    }

    class PerformanceMark extends PerformanceEntry {
        #detail;
        constructor(name, options = {}) {
            idl.needArguments('PerformanceMark constructor', arguments.length, 1);
            name = idl.toDOMString(name);
            const init = idl.toDictionary(options, 'The options of a mark');
            const detail = init?.detail;
            const given = init?.startTime;
            let start;
            if (given === undefined) {
                start = clock.now();
            } else {
                start = idl.toDouble(given, 'The start time of a mark');
                if (start < 0) {
                    throw new TypeError(`${start} is not a valid timestamp`);
                }
            }
            super(token, name, 'mark', start, 0);
            this.#detail = cloneDetail(detail);
        }
        get detail() {
            if (typeof this !== 'object' || this === null || !(#detail in this)) {
                throw idl.illegalInvocation();
            }
            return this.#detail;
        }
        toJSON() {
            return { ...super.toJSON(), detail: this.detail };
        }
    }
    idl.define(PerformanceMark);

    class PerformanceMeasure extends PerformanceEntry {
        #detail;
        constructor(key = undefined, name = '', start = 0, duration = 0, detail = null) {
            super(key, name, 'measure', start, duration);
            this.#detail = detail;
        }
        get detail() {
            if (typeof this !== 'object' || this === null || !(#detail in this)) {
                throw idl.illegalInvocation();
            }
            return this.#detail;
        }
        toJSON() {
            return { ...super.toJSON(), detail: this.detail };
        }
    }
    idl.define(PerformanceMeasure);

    // A place in time is a number or the name of a mark.
    function toPlace(value) {
        return typeof value === 'number' ? idl.toDouble(value, 'A timestamp') : idl.toDOMString(value);
    }

    function timeOf(place) {
        if (typeof place === 'number') {
            if (place < 0) {
                throw new TypeError(`${place} is not a valid timestamp`);
            }
            return place;
        }
        const time = lastMarks.get(place);
        if (time === undefined) {
            const { DOMException } = need('dom_exception');
            throw new DOMException(`The "${place}" performance mark has not been set`, 'SyntaxError');
        }
        return time;
    }

    // Reads the options of measure() in the order of their names.
    function readOptions(options) {
        const detail = options.detail;
        const duration = options.duration === undefined ? undefined : idl.toDouble(options.duration, 'The duration');
        const end = options.end === undefined ? undefined : toPlace(options.end);
        const start = options.start === undefined ? undefined : toPlace(options.start);
        return { detail, duration, end, start };
    }

    function isEmpty({ detail, duration, end, start }) {
        return detail === undefined && duration === undefined && end === undefined && start === undefined;
    }

    // The standard also wants a start or an end; Node does without, and so do programs.
    function checkOptions({ duration, end, start }, endGiven) {
        if (endGiven) {
            throw new TypeError('The end of a measure is either an argument or an option');
        }
        if (start !== undefined && end !== undefined && duration !== undefined) {
            throw new TypeError('The options of a measure cannot have start, end and duration together');
        }
    }

    function makeMeasure(name, startOrOptions, endMark) {
        let options = { detail: undefined, duration: undefined, end: undefined, start: undefined };
        if (idl.isObject(startOrOptions)) {
            options = readOptions(startOrOptions);
            if (!isEmpty(options)) {
                checkOptions(options, endMark !== undefined);
            }
        } else if (startOrOptions !== undefined && startOrOptions !== null) {
            options.start = idl.toDOMString(startOrOptions);
        }
        let end;
        if (endMark !== undefined) {
            end = timeOf(idl.toDOMString(endMark));
        } else if (options.end !== undefined) {
            end = timeOf(options.end);
        } else if (options.start !== undefined && options.duration !== undefined) {
            end = timeOf(options.start) + options.duration;
        } else {
            end = clock.now();
        }
        let start = 0;
        if (options.start !== undefined) {
            start = timeOf(options.start);
        } else if (options.duration !== undefined) {
            start = end - options.duration;
        }
        return new PerformanceMeasure(token, name, start, end - start, cloneDetail(options.detail));
    }

    function sorted(list) {
        return list.sort((a, b) => a.startTime - b.startTime);
    }

    class Performance extends EventTarget {
        #brand = true;
        static #check(value) {
            if (typeof value !== 'object' || value === null || !(#brand in value)) {
                throw idl.illegalInvocation();
            }
        }
        constructor(key = undefined) {
            if (key !== token) {
                throw new TypeError('Illegal constructor');
            }
            super();
        }
        now() {
            Performance.#check(this);
            return clock.now();
        }
        get timeOrigin() {
            Performance.#check(this);
            return clock.timeOrigin;
        }
        mark(name, options = {}) {
            Performance.#check(this);
            idl.needArguments('mark', arguments.length, 1);
            const mark = new PerformanceMark(name, options);
            marks.push(mark);
            lastMarks.set(mark.name, mark.startTime);
            return mark;
        }
        measure(name, startOrOptions = {}, endMark = undefined) {
            Performance.#check(this);
            idl.needArguments('measure', arguments.length, 1);
            const measure = makeMeasure(idl.toDOMString(name), startOrOptions, endMark);
            measures.push(measure);
            return measure;
        }
        clearMarks(name = undefined) {
            Performance.#check(this);
            if (name === undefined) {
                marks = [];
                lastMarks.clear();
                return;
            }
            name = idl.toDOMString(name);
            marks = marks.filter((mark) => mark.name !== name);
            lastMarks.delete(name);
        }
        clearMeasures(name = undefined) {
            Performance.#check(this);
            if (name === undefined) {
                measures = [];
                return;
            }
            name = idl.toDOMString(name);
            measures = measures.filter((measure) => measure.name !== name);
        }
        getEntries() {
            Performance.#check(this);
            return sorted([...marks, ...measures]);
        }
        getEntriesByName(name, type = undefined) {
            Performance.#check(this);
            idl.needArguments('getEntriesByName', arguments.length, 1);
            name = idl.toDOMString(name);
            type = type === undefined ? undefined : idl.toDOMString(type);
            return sorted([...marks, ...measures].filter((entry) =>
                entry.name === name && (type === undefined || entry.entryType === type)));
        }
        getEntriesByType(type) {
            Performance.#check(this);
            idl.needArguments('getEntriesByType', arguments.length, 1);
            type = idl.toDOMString(type);
            return sorted(type === 'mark' ? [...marks] : type === 'measure' ? [...measures] : []);
        }
        toJSON() {
            Performance.#check(this);
            return { timeOrigin: clock.timeOrigin };
        }
    }
    idl.define(Performance);
    idl.inspectAs(Performance, (performance) => ['Performance', performance.toJSON()]);

    return { Performance, PerformanceEntry, PerformanceMark, PerformanceMeasure, performance: new Performance(token) };
})
