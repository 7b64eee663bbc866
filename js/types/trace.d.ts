// SPDX-License-Identifier: MIT
// weft:trace - looking at the runtime, and at this instance, from inside.
declare module 'weft:trace' {
    /** A call on the stack of a fiber: of JavaScript, with its place, or of a native function. */
    export interface Place {
        /** The function's name; empty for one without. */
        function: string;
        native?: true;
        file?: string;
        line?: number;
        column?: number;
    }

    export interface FiberInfo {
        /** From 1, in the order in which `go` was called. */
        number: number;
        /** As given to `go.with`, else the name of the function; at most 31 bytes. */
        name: string;
        /** `new`: it has not begun; `ready`: what it waited for has come. */
        state: 'new' | 'running' | 'waiting' | 'ready';
        /** The function that it waits in: `recv`, `sleep`, `select`, ... */
        waitsFor?: string;
        /** When it began to wait, in milliseconds, as of `performance.now()`. */
        since?: number;
        /** From the function that it waits in on, a line for each call, as in `Error.stack`. */
        stack?: string;
        places?: Place[];
    }

    export interface Stats {
        /** Of the whole process: counters since its start, and levels. */
        runtime: {
            workers: number; workersIdle: number; fibers: number; fibersStarted: number; fibersEnded: number;
            switches: number; parks: number; wakes: number; steals: number; polls: number;
            timersArmed: number; timersFired: number; stacks: number; panics: number;
        };
        /** Of the loop of this instance, if it was made with metrics; times in milliseconds. */
        loop?: {
            turns: number; callbacks: number; callbacksPerSecond: number; panics: number; sleeps: number;
            idle: number; active: number; utilization: number;
            callbackMean: number; callbackP99: number; timerDelayP99: number;
        };
        /** Of this instance; sizes in bytes. Limit 0: there is none. */
        heap: {
            used: number; limit: number; blocks: number; objects: number; properties: number; shapes: number;
            strings: number; stringBytes: number; functions: number; codeBytes: number;
            arrays: number; buffers: number; bufferBytes: number;
        };
        /** How many fibers of this instance are in each state. */
        fibers: { new: number; running: number; waiting: number; ready: number };
    }

    /** The fibers that `go` has started in this instance and that have not ended, oldest first. */
    export function fibers(): FiberInfo[];
    /** Looks at the whole heap: not for every request. */
    export function stats(): Stats;
    /** Every fiber of the process with what it waits for and where it stands, in C and in JavaScript, as a text. */
    export function dump(): string;
    /** Calls the function and adds a measure with that name to the performance timeline: up to its return, or until the promise that
     *  it returns is settled. */
    export function span<A extends unknown[], R>(name: string, fn: (...values: A) => R, ...values: A): R;
    /** Frees what nobody can reach, now. */
    export function collect(): void;
    /** Bytes of this instance's heap. */
    export function memory(): number;

    const everything: typeof import('weft:trace');
    export default everything;
}
