// SPDX-License-Identifier: MIT
// weft:go - functions on fibers of their own, and what they meet at.
declare module 'weft:go' {
    /** On a fiber the value itself, elsewhere a promise of it: it can be used as either, and `await` is never wrong. */
    export type Waited<T> = (T & Promise<T>) | Extract<T, null | undefined>;

    /** Of everything that waits. Aborted: the signal's reason is thrown. Too late: an error with the code ETIMEDOUT. */
    export interface WaitOptions {
        signal?: AbortSignal;
        /** Milliseconds; 0 only asks. */
        timeout?: number;
    }

    export interface GoOptions {
        /** The fiber is cancelled with it: whatever it waits for, then or later, is an error with the code ECANCELED. */
        signal?: AbortSignal;
        /** For reports; else the function's. At most 31 bytes are kept. */
        name?: string;
        /** Bytes of stack, from 256 KiB to 1 GiB; 1 MiB. */
        stack?: number;
        /** A script in which only such fibers wait is over; others would be a deadlock. */
        background?: boolean;
    }

    /** Runs the function on a fiber of its own, in which calls that wait return what they waited for. */
    export function go<A extends unknown[], R>(fn: (...values: A) => R, ...values: A): Promise<Awaited<R>>;
    export namespace go {
        /** The same with options. */
        function with_<A extends unknown[], R>(options: GoOptions, fn: (...values: A) => R, ...values: A): Promise<Awaited<R>>;
        export { with_ as with };
    }

    /** Whether the caller is on a fiber. */
    export function isFiber(): boolean;
    export function sleep(milliseconds: number, options?: { signal?: AbortSignal }): Waited<void>;
    /** What a promise becomes: on a fiber it is waited for, elsewhere it is the promise. */
    export function wait<T>(promise: T): Waited<Awaited<T>>;

    /** Between fibers. Without capacity a send waits for its receiver. */
    export class Channel<T = unknown> {
        constructor(capacity?: number);
        /** Waits until somebody takes it, or there is room. On a closed channel: a TypeError. `transfer`: what goes with the value, of
         *  a channel that instances share. */
        send(value: T, options?: WaitOptions & { transfer?: unknown[] }): Waited<void>;
        /** The next value; undefined once it is closed and empty. */
        recv(options?: WaitOptions): Waited<T | undefined>;
        /** Nothing more can be sent. Whether it was open. */
        close(): boolean;
        /** Values in it. */
        readonly length: number;
        readonly capacity: number;
        readonly closed: boolean;
        /** On a fiber: until it is closed. */
        [Symbol.iterator](): Generator<T, void, void>;
        [Symbol.asyncIterator](): AsyncGenerator<T, void, void>;
    }
    export function chan<T = unknown>(capacity?: number): Channel<T>;

    /** A channel that gets the time, as by performance.now(), once; then it is closed. */
    export function after(milliseconds: number): Channel<number>;
    /** A channel that gets the time again and again, until it is stopped. Who is too slow misses some. */
    export class Ticker extends Channel<number> implements Disposable {
        constructor(milliseconds: number);
        /** From now on in that distance. */
        reset(milliseconds: number): void;
        stop(): void;
        [Symbol.dispose](): void;
    }
    export function ticker(milliseconds: number): Ticker;

    /** What select can wait for. Other modules add cases: `exit` and `signal` of weft:process, `event` of weft:events, `work` of
     *  weft:pool. */
    export interface Cases {
        recv: { recv: Channel<any> };
        send: { send: Channel<any>; value?: unknown };
        /** Milliseconds. */
        after: { after: number };
        /** The case comes when it is settled; if it is rejected, select throws. */
        promise: { promise: unknown };
    }
    export type Case = Cases[keyof Cases];
    export interface Chosen<T = any> {
        /** Of the case; -1: nothing came within the limit of time. */
        index: number;
        value: T;
        /** The channel was closed. */
        closed: boolean;
    }
    /** Whichever comes first, and only that. Of several that are ready, any. */
    export function select(cases: Iterable<Case>, options?: WaitOptions): Waited<Chosen>;

    export interface ScopeOptions {
        /** Milliseconds after which everything in it is cancelled: a TimeoutError. */
        timeout?: number;
        signal?: AbortSignal;
        /** Children at the same time: `go` waits for room, or elsewhere than on a fiber begins the child later. */
        max?: number;
    }
    export interface Scope {
        /** Aborted when the scope is cancelled. */
        readonly signal: AbortSignal;
        /** Starts a child. */
        go<A extends unknown[], R>(fn: (...values: A) => R, ...values: A): Promise<Awaited<R>>;
        /** Ends what runs in it. That is no failure. */
        cancel(reason?: unknown): void;
    }
    /** A block that does not end before what it has started. The first failure, of a child or of the body, cancels all others, and
     *  is the block's. */
    export function scope<R>(body: (children: Scope) => R, options?: ScopeOptions): Waited<Awaited<R>>;

    /** What ends with a block: `using held = mutex.hold()`. */
    export interface Hold extends Disposable {
        release(): void;
    }

    /** One at a time, in the order in which they came. */
    export class Mutex {
        readonly locked: boolean;
        lock(options?: WaitOptions): Waited<void>;
        /** Whether it was to be had at once. */
        tryLock(): boolean;
        /** Only by its holder: the fiber that has locked it, or code that is on none. */
        unlock(): void;
        /** Whoever has the hold may release it. */
        hold(options?: WaitOptions): Waited<Hold>;
        /** Holds it while the function runs, whatever that waits for. */
        run<R>(fn: () => R, options?: WaitOptions): Waited<Awaited<R>>;
    }

    /** Many readers or one writer. Who comes while others wait, waits behind them. */
    export class RWLock {
        readonly readers: number;
        readonly writing: boolean;
        read(options?: WaitOptions): Waited<void>;
        write(options?: WaitOptions): Waited<void>;
        /** Ends one read, or the write, of the caller. */
        unlock(): void;
        holdRead(options?: WaitOptions): Waited<Hold>;
        holdWrite(options?: WaitOptions): Waited<Hold>;
        runRead<R>(fn: () => R, options?: WaitOptions): Waited<Awaited<R>>;
        runWrite<R>(fn: () => R, options?: WaitOptions): Waited<Awaited<R>>;
    }

    /** Waiting for something that a mutex guards. */
    export class Cond {
        /** Unlocks the mutex, waits for a signal, and locks it again, whatever comes of the wait. */
        wait(mutex: Mutex, options?: WaitOptions): Waited<void>;
        /** Lets one, or all, of those through who wait now; how many those were. */
        signal(): number;
        broadcast(): number;
    }

    /** A number of permits. Who wants many is not overtaken by those who want few. */
    export class Semaphore {
        constructor(permits?: number);
        readonly permits: number;
        acquire(count?: number, options?: WaitOptions): Waited<void>;
        tryAcquire(count?: number): boolean;
        release(count?: number): void;
        /** Has one permit while the function runs. */
        run<R>(fn: () => R, options?: WaitOptions): Waited<Awaited<R>>;
    }

    /** Waiting until a number of things is done. */
    export class WaitGroup {
        readonly count: number;
        add(count?: number): void;
        done(): void;
        wait(options?: WaitOptions): Waited<void>;
        /** As go; it counts until the fiber has ended. */
        go<A extends unknown[], R>(fn: (...values: A) => R, ...values: A): Promise<Awaited<R>>;
    }

    /** Something that is done once; others who come meanwhile wait for it. If it fails, the next one tries again. */
    export class Once<T = unknown> {
        readonly done: boolean;
        run(fn: () => T | Promise<T>, options?: WaitOptions): Waited<T>;
    }

    /** A meeting of a fixed number of parties, again and again. */
    export class Barrier {
        constructor(parties: number);
        readonly parties: number;
        readonly arrived: number;
        /** True for the last that came. Who gives up has not come. */
        wait(options?: WaitOptions): Waited<boolean>;
    }

    export { parallel, spawn } from 'weft:parallel';

    const everything: typeof import('weft:go');
    export default everything;
}
