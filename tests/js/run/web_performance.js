// SPDX-License-Identifier: MIT
// performance: the clock, marks and measures.
const attempt = (f) => {
    try {
        return String(f());
    } catch (error) {
        return `throws ${error.name}`;
    }
};
const log = (...parts) => console.log(parts.join(' '));

const before = performance.now();
const after = performance.now();
log(typeof before, before >= 0, after >= before, before < 60000);
log(typeof performance.timeOrigin, Math.abs(performance.timeOrigin + performance.now() - Date.now()) < 5000);
log(Object.prototype.toString.call(performance), performance instanceof EventTarget,
    typeof performance.toJSON().timeOrigin);
log(attempt(() => new Performance()), attempt(() => new PerformanceEntry()), attempt(() => new PerformanceMeasure()));

// Marks.
const mark = performance.mark('one');
log(mark.name, mark.entryType, mark.duration, mark.detail, mark.startTime >= after, mark instanceof PerformanceMark,
    mark instanceof PerformanceEntry);
const early = performance.mark('early', { startTime: 1, detail: { a: [1] } });
log(early.startTime, JSON.stringify(early), Object.prototype.toString.call(early));
const detail = { shared: true };
log(performance.mark('cloned', { detail, startTime: 2 }).detail !== detail, performance.mark('n', { detail: null,
    startTime: 3 }).detail,
    performance.mark('z', { detail: 0, startTime: 3 }).detail);
log(performance.mark(5).name, performance.mark(null).name, performance.mark(undefined).name);
log(attempt(() => performance.mark()), attempt(() => performance.mark('x', { startTime: -1 })),
    attempt(() => performance.mark(Symbol('x'))),
    attempt(() => performance.mark('x', { detail: () => 1 })));
const own = new PerformanceMark('own', { startTime: 7 });
log(own.name, own.startTime, performance.getEntriesByName('own').length, attempt(() => new PerformanceMark()));

// Measures.
performance.clearMarks();
performance.mark('a', { startTime: 10 });
performance.mark('b', { startTime: 25 });
const measures = [
    () => performance.measure('m1', 'a', 'b'),
    () => performance.measure('m2', { start: 'a', end: 'b', detail: { x: 1 } }),
    () => performance.measure('m3', { start: 5, duration: 6 }),
    () => performance.measure('m4', { end: 'b', duration: 5 }),
    () => performance.measure('m5', { start: 3, end: 4 }),
    () => performance.measure('m6', undefined, 'b'),
    () => performance.measure('m7', { start: 'b', end: 'a' }),
    () => performance.measure('m8', {}, 'a'),
];
for (const make of measures) {
    const measure = make();
    log(measure.name, measure.entryType, measure.startTime, measure.duration, JSON.stringify(measure.detail));
}
log(JSON.stringify(performance.measure('json', { start: 1, end: 2 })), performance.measure('now').startTime,
    performance.measure('now').duration > 0,
    performance.measure('since', 'a').startTime);
try {
    performance.measure('x', 'missing');
} catch (error) {
    log(error.name, error.message, error.code, error instanceof DOMException);
}
log(attempt(() => performance.measure()), attempt(() => performance.measure('x', 'a', 'missing')),
    attempt(() => performance.measure('x', { start: 1 }, 'b')),
    attempt(() => performance.measure('x', { duration: 1 })), attempt(() => performance.measure('x', { start: 1,
        end: 2, duration: 1 })),
    attempt(() => performance.measure('x', { detail: 1 })), attempt(() => performance.measure('x', { start: -1, end: 2 })));

// The timeline.
performance.clearMarks();
performance.clearMeasures();
log(performance.getEntriesByType('mark').length, performance.getEntriesByType('measure').length);
performance.mark('late', { startTime: 300 });
performance.mark('soon', { startTime: 100 });
performance.mark('soon', { startTime: 400 });
performance.measure('soon', { start: 200, end: 210 });
log(performance.getEntries().filter((e) => /late|soon/.test(e.name))
    .map((e) => `${e.name}/${e.entryType}/${e.startTime}`).join());
log(performance.getEntriesByName('soon').map((e) => e.startTime).join(), performance.getEntriesByName('soon',
    'mark').length,
    performance.getEntriesByName('soon', 'measure').length, performance.getEntriesByName('none').length);
log(performance.getEntriesByType('mark').map((e) => e.name).join(), performance.getEntriesByType('nothing').length);
log(attempt(() => performance.getEntriesByName()), attempt(() => performance.getEntriesByType()));
log(performance.measure('last', 'soon', 'late').startTime, performance.measure('last', 'soon', 'late').duration);
performance.clearMarks('soon');
performance.clearMeasures('last');
log(performance.getEntriesByType('mark').map((e) => e.name).join(),
    performance.getEntriesByType('measure').map((e) => e.name).join());
log(attempt(() => performance.measure('x', 'soon')));

// The shape.
for (const name of ['now', 'mark', 'measure', 'getEntries', 'getEntriesByName', 'getEntriesByType', 'clearMarks',
    'clearMeasures', 'toJSON']) {
    log(name, typeof performance[name], attempt(() => Performance.prototype[name].call({}, 'a')));
}
for (const name of ['name', 'entryType', 'startTime', 'duration']) {
    const d = Object.getOwnPropertyDescriptor(PerformanceEntry.prototype, name);
    log(name, typeof d.get, d.set, d.enumerable, d.configurable, attempt(() => d.get.call({})));
}
