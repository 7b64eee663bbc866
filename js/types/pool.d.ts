// SPDX-License-Identifier: MIT
// weft:pool - works, which are functions of this instance, and who runs which of them when.
declare module 'weft:pool' {
    import type { Waited, WaitOptions } from 'weft:go';

    export type WorkStatus = 'pending' | 'succeeded' | 'failed' | 'cancelled' | 'stopped' | 'force-stopped' | 'timed-out';
    export type TimeoutAction = 'stop' | 'force' | 'tell';

    export interface WorkOptions {
        /** By which it can be found, and others can come after it; nobody else may have it until it is over. */
        id?: string | number;
        /** Higher ones begin first; 0. */
        priority?: number;
        group?: WorkGroup;
        /** Works, or ids, also of works to come, that have to succeed first. If one does not, this one fails with the code
         *  EDEPENDENCY, and the error of that one as its cause. */
        after?: Iterable<Work<any> | string | number>;
        /** What happens when it throws: at once, or at the end of the queue. */
        retry?: 'never' | 'immediate' | 'requeue';
        /** 3; Infinity. */
        maxRetries?: number;
        /** Milliseconds from its first start, over all attempts. */
        timeout?: number;
        /** What a timeout or deadline does to a work that runs: ask it to stop, stop it by force, or nothing. */
        timeoutAction?: TimeoutAction;
        /** Milliseconds from now: if it is not over by then, it never begins, or is stopped. */
        deadline?: number;
        /** Milliseconds that the submit itself may wait, for a pool whose rejection is `block`. */
        submitTimeout?: number;
        /** Ends the wait of the submit, not the work. */
        signal?: AbortSignal;
    }

    export interface WorkResult<T> {
        status: Exclude<WorkStatus, 'pending'>;
        value: T | undefined;
        /** What was thrown, or a WorkError. */
        error: unknown;
        /** Times it was begun. */
        attempts: number;
        /** As by performance.now(), when the pool measures. */
        submitted: number | undefined;
        started: number | undefined;
        ended: number | undefined;
    }

    /** Made by its pool. */
    export class Work<T = unknown> {
        private constructor();
        readonly pool: Pool;
        readonly id: string | number | undefined;
        readonly status: WorkStatus;
        /** What came of it; undefined until it is over. */
        readonly result: WorkResult<T> | undefined;
        /** Its value, when it is over; or its error is thrown. */
        wait(options?: WaitOptions): Waited<T>;
        /** A promise of that, also on a fiber. */
        readonly promise: Promise<T>;
        /** Each says whether it could be done. cancel: it has not begun, and never will. */
        cancel(): boolean;
        /** As cancel; or, if it has begun, it is asked to: see current.stopPoint. */
        stop(): boolean;
        /** And its waits are errors, with the code ECANCELED, from now on. After the pool's grace it is given up. */
        forceStop(): boolean;
        /** At its next pause point. */
        pause(): boolean;
        resume(): boolean;
        /** It is not tried again. */
        stopRetry(): boolean;
    }

    /** What became of a work that neither returned nor threw by itself: ECANCELED, ETIMEDOUT, EDEPENDENCY. */
    export class WorkError extends Error {
        status: WorkStatus;
        code: string;
    }

    export interface PoolEvent {
        type: 'started' | 'idled' | 'running-changed' | 'work-started' | 'work-ended' | 'work-stopped' | 'work-cancelled'
            | 'work-timed-out' | 'timed-out' | 'work-rejected' | 'work-discarded' | 'error' | 'stuck' | 'tick';
        work: Work | undefined;
        status: WorkStatus;
        error: number;
        running: number;
        /** Milliseconds. */
        duration: number;
    }

    export interface PoolOptions {
        name?: string;
        /** Works that may have begun and not be over, those that wait included; any number. */
        concurrency?: number;
        /** Works that may be queued; any number. */
        maxQueued?: number;
        /** What happens to a submit for which there is no room. `abort`: an error with the code EAGAIN. `caller-runs`: who submits it
         *  runs it. `discard`: it is cancelled. `discard-queued`: the queued work of the lowest priority is. `block`: the submit waits. */
        rejection?: 'abort' | 'caller-runs' | 'discard' | 'discard-queued' | 'block';
        /** Of works of the same priority: which begins first. */
        discipline?: 'fifo' | 'lifo';
        /** Nothing begins before start(). */
        suspended?: boolean;
        /** Results and stats have times. */
        measure?: boolean;
        /** Milliseconds that the pool may be busy at a stretch. */
        timeout?: number;
        timeoutAction?: TimeoutAction;
        /** For works without their own. */
        workTimeout?: number;
        workTimeoutAction?: TimeoutAction;
        /** Milliseconds that a work which is stopped by force may take before it is given up; 1000. */
        grace?: number;
        /** Milliseconds between two events of type `tick` while the pool is busy. */
        tick?: number;
        onEvent?(event: PoolEvent): void;
    }

    export interface PoolStats {
        idle: boolean;
        stopping: boolean;
        suspended: boolean;
        paused: boolean;
        disposed: boolean;
        queued: number;
        held: number;
        running: number;
        submitted: number;
        succeeded: number;
        failed: number;
        cancelled: number;
        stopped: number;
        forceStopped: number;
        timedOut: number;
        rejected: number;
        discarded: number;
        retried: number;
        abandoned: number;
        generation: number;
        /** Milliseconds that it was busy; and, when it measures, that works were queued, and ran. */
        runtime: number;
        queueTime: number;
        runTime: number;
    }

    /** Works are functions of this instance: they run as fibers do, one at a time between two waits. */
    export class Pool implements AsyncDisposable {
        constructor(options?: PoolOptions);
        readonly name: string;
        /** Works that are not over. */
        readonly works: Work[];
        /** On a pool whose rejection is `block` or `caller-runs`, a promise elsewhere than on a fiber. */
        submit<A extends unknown[], R>(fn: (...values: A) => R, ...values: A): Work<Awaited<R>> & Promise<Work<Awaited<R>>>;
        submitWith<A extends unknown[], R>(options: WorkOptions, fn: (...values: A) => R, ...values: A):
            Work<Awaited<R>> & Promise<Work<Awaited<R>>>;
        /** What a work returns. */
        run<A extends unknown[], R>(fn: (...values: A) => R, ...values: A): Waited<Awaited<R>>;
        runWith<A extends unknown[], R>(options: WorkOptions, fn: (...values: A) => R, ...values: A): Waited<Awaited<R>>;
        find(id: string | number): Work | undefined;
        group(name?: string): WorkGroup;
        /** Lets a suspended pool go. Whether it was. */
        start(): boolean;
        /** What has not begun is cancelled: how many those were. */
        cancel(): number;
        /** And what has begun is asked to stop, or stopped by force. What is submitted meanwhile begins when that is over. */
        stop(): boolean;
        forceStop(): boolean;
        /** Works wait at their pause points. */
        pause(): boolean;
        resume(): boolean;
        /** Until nothing is left to do. EDEADLK: all that is left comes after works that were never submitted. */
        wait(options?: WaitOptions): Waited<void>;
        /** And takes nothing more, but from works of its own. */
        drain(options?: WaitOptions): Waited<void>;
        /** Lets everything end, and then the pool. */
        close(options?: WaitOptions): Waited<void>;
        /** Ends everything: what has not begun is cancelled, what has is stopped by force. */
        dispose(): Waited<void>;
        stats(): PoolStats;
        [Symbol.asyncDispose](): Promise<void>;
    }

    /** Works, and groups below. What is done to it is done to all of them. */
    export class WorkGroup {
        private constructor();
        readonly name: string | undefined;
        /** Those in it and below it that are not over. */
        readonly works: Work[];
        /** Each says whether that has changed something. */
        add(work: Work<any>): boolean;
        remove(work: Work<any>): boolean;
        /** The other group stands below this one; ELOOP when that would close a circle. */
        join(group: WorkGroup): boolean;
        part(group: WorkGroup): boolean;
        /** Until no work is left in it. */
        wait(options?: WaitOptions): Waited<void>;
        /** As those of works; how many could not be. */
        cancel(): number;
        stop(): number;
        forceStop(): number;
        pause(): number;
        resume(): number;
    }

    /** Inside a work: itself, and what was asked of it. */
    export const current: {
        /** undefined: the caller is inside no work. */
        readonly work: Work | undefined;
        /** From 1. */
        readonly attempt: number;
        /** Whether it was asked to stop. */
        readonly stopping: boolean;
        /** Whether it was, and so is to clean up and return. A hook that returns false says no: then the work goes on as if nothing had
         *  been asked. */
        stopPoint(hook?: () => boolean | void): boolean;
        /** Waits while it is paused. */
        pausePoint(): Waited<void>;
    };

    const everything: typeof import('weft:pool');
    export default everything;
}

declare module 'weft:go' {
    interface Cases {
        /** Comes when it is over; select throws its error. */
        work: { work: import('weft:pool').Work<any> };
    }
}
