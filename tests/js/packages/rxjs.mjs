// SPDX-License-Identifier: MIT
// rxjs: streams of events, operators, timers, virtual time.
import { of, from, interval, Subject, BehaviorSubject, ReplaySubject, merge, concat, combineLatest, forkJoin, throwError, timer,
    firstValueFrom, lastValueFrom, asapScheduler, asyncScheduler, EMPTY } from 'rxjs';
import { map, filter, scan, take, mergeMap, switchMap, catchError, retry, debounceTime, toArray, bufferCount, distinctUntilChanged,
    observeOn, tap, share, finalize, withLatestFrom, reduce, delay, takeUntil, groupBy } from 'rxjs/operators';
import { TestScheduler } from 'rxjs/testing';

const show = (name) => ({
    next: (value) => console.log(name, JSON.stringify(value)),
    error: (error) => console.log(name, 'error', error.message),
    complete: () => console.log(name, 'complete'),
});
of(1, 2, 3, 4).pipe(filter((n) => n % 2 === 0), map((n) => n * n), scan((a, n) => a + n, 0)).subscribe(show('sums'));
from([1, 1, 2, 2, 1]).pipe(distinctUntilChanged(), bufferCount(2)).subscribe(show('pairs'));
let tries = 0;
throwError(() => new Error(`try ${++tries}`)).pipe(retry(2), catchError((error) => of(error.message))).subscribe(show('retry'));
const subject = new Subject();
const state = new BehaviorSubject('a');
const replay = new ReplaySubject(2);
subject.pipe(withLatestFrom(state)).subscribe(show('latest'));
subject.subscribe(replay);
subject.next(1);
state.next('b');
subject.next(2);
subject.next(3);
subject.complete();
replay.subscribe(show('replay'));
from(['a', 'bb', 'c']).pipe(groupBy((text) => text.length), mergeMap((group) => group.pipe(toArray()))).subscribe(show('group'));
console.log('before');
of('asap').pipe(observeOn(asapScheduler)).subscribe(show('asap'));
console.log('after');
console.log('last', await lastValueFrom(interval(1).pipe(take(3), reduce((a, n) => a + n, 0))));
console.log('fork', JSON.stringify(await lastValueFrom(forkJoin([Promise.resolve(1), timer(2).pipe(map(() => 2))]))));
console.log('switch', JSON.stringify(await lastValueFrom(
    of(1, 2, 3).pipe(switchMap((n) => of(n * 10).pipe(delay(1))), toArray()))));
await lastValueFrom(combineLatest([of(1, 2), of('x')]).pipe(tap(show('combined')), finalize(() => console.log('final'))));
console.log('first', await firstValueFrom(concat(EMPTY, of(7))));
for await (const text of (async function* () { yield 'iterated'; })())
    from(text).pipe(take(2), toArray()).subscribe(show('iterable'));
const scheduler = new TestScheduler((actual, expected) => console.log('marbles', JSON.stringify(actual) === JSON.stringify(expected)));
scheduler.run(({ cold, hot, expectObservable }) => {
    expectObservable(cold('a-b-(cd)--|').pipe(debounceTime(2))).toBe('------d---|');
    expectObservable(merge(cold('a--|'), cold('-b|'))).toBe('ab-|');
    expectObservable(hot('-a-b-c-').pipe(takeUntil(cold('----x')), share())).toBe('-a-b|');
});
const handle = asyncScheduler.schedule(() => console.log('never'), 1);
handle.unsubscribe();
