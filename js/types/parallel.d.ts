// SPDX-License-Identifier: MIT
// weft:parallel - several instances of the engine beside each other, and what they talk by.
declare module 'weft:parallel' {
    import type { Channel, Waited } from 'weft:go';

    /** What an instance has for itself, and how it is ended. */
    export interface SpawnOptions {
        /** Bytes of its heap, shared memory and what it has received included; no limit. */
        memory?: number;
        /** Bytes of stack, at least 256 KiB; 4 MiB. */
        stack?: number;
        /** Milliseconds from its start; then it is ended with a TimeoutError. */
        timeLimit?: number;
        /** Ends it; whoever waits for the result gets the reason. */
        signal?: AbortSignal;
        /** For reports, and its process.argv[1] if it runs a function; else that of the function or the module. */
        name?: string;
        /** Buffers and ports among the arguments that change hands instead of being copied. */
        transfer?: Iterable<Transferable>;
    }

    /** Another instance. What it comes to is what its function returns, once nothing of it runs any more. */
    export class Instance<R = unknown> implements PromiseLike<R> {
        private constructor();
        readonly name: string;
        /** Rejected with what its function throws or nobody catches, with the reason of terminate() or of the signal, or an
         *  InstanceError. */
        readonly result: Promise<R>;
        then<A = R, B = never>(fulfilled?: ((value: R) => A | PromiseLike<A>) | null,
            rejected?: ((reason: unknown) => B | PromiseLike<B>) | null): Promise<A | B>;
        catch<B = never>(rejected?: ((reason: unknown) => B | PromiseLike<B>) | null): Promise<R | B>;
        finally(settled?: (() => void) | null): Promise<R>;
        /** Ends it in the middle of whatever it does. Fulfilled when it is over. */
        terminate(reason?: unknown): Promise<void>;
        /** Whether the script stays for it; at first it does. */
        ref(): this;
        unref(): this;
    }

    /** An instance that has ended otherwise than by its function: ERR_INSTANCE_EXIT (process.exit), ERR_INSTANCE_UNSETTLED (its function
     *  waits for what never comes), ERR_INSTANCE_MEMORY. */
    export class InstanceError extends Error {
        code: string;
        exitCode?: number;
    }

    /** Starts an instance that runs a function. The function goes as its text: it can use its arguments and globals, and
     *  `await import(...)` relative to its own file, but nothing of its surroundings. It runs on a fiber. */
    export function spawn<A extends unknown[], R>(fn: (...values: A) => R, ...values: A): Instance<Awaited<R>>;
    /** The same for a module: its default export, or `main`, is called. Found as by import from the current folder. */
    export function spawn<R = unknown>(module: string | URL, ...values: unknown[]): Instance<R>;
    export namespace spawn {
        function with_<A extends unknown[], R>(options: SpawnOptions, fn: (...values: A) => R, ...values: A): Instance<Awaited<R>>;
        function with_<R = unknown>(options: SpawnOptions, module: string | URL, ...values: unknown[]): Instance<R>;
        export { with_ as with };
    }

    /** A channel that can be part of arguments, results and messages, and then is the same channel there. Its values are clones; send()
     *  takes { transfer } besides. When an instance dies that had it and only one other is left that has, it is broken: closed, and
     *  send() and, once it is empty, recv() are errors with the code EOWNERDEAD. */
    export function channel<T = unknown>(capacity?: number): Channel<T>;

    /** A result that is returned together with what is to be transferred with it. */
    export function transfer<T extends object>(value: T, list: Iterable<Transferable>): T;

    export interface JobOptions {
        /** Ends the instance that has the job; another one takes its place. */
        signal?: AbortSignal;
        /** Milliseconds; then the same with a TimeoutError. */
        timeout?: number;
        transfer?: Iterable<Transferable>;
    }

    export interface MapOptions {
        /** Instances at the same time; as many as there are workers. */
        workers?: number;
        /** Items that go to an instance at once. */
        chunk?: number;
        signal?: AbortSignal;
    }

    export interface PoolOptions {
        /** Instances at most; as many as there are workers. They are started when they are needed. */
        workers?: number;
        memory?: number;
        stack?: number;
        name?: string;
    }

    /** Instances that are used again and again; they keep what they have in globals and modules. Idle ones do not keep the script. */
    export class Pool {
        constructor(options?: PoolOptions);
        readonly workers: number;
        /** Instances that there are now. */
        readonly size: number;
        run<A extends unknown[], R>(fn: (...values: A) => R, ...values: A): Waited<Awaited<R>>;
        run<R = unknown>(module: string | URL, ...values: unknown[]): Waited<R>;
        runWith<A extends unknown[], R>(options: JobOptions, fn: (...values: A) => R, ...values: A): Waited<Awaited<R>>;
        runWith<R = unknown>(options: JobOptions, module: string | URL, ...values: unknown[]): Waited<R>;
        /** fn(item, index) of all items, in their order. The first error is the map's, and ends what the others do. */
        map<T, R>(fn: (item: T, index: number) => R, items: Iterable<T>, options?: MapOptions): Waited<Awaited<R>[]>;
        map<T, R = unknown>(module: string | URL, items: Iterable<T>, options?: MapOptions): Waited<R[]>;
        /** No more jobs; fulfilled when those that there are have ended, and the instances. */
        close(): Waited<void>;
        /** Ends all instances, whatever they do. */
        terminate(reason?: unknown): Waited<void>;
        [Symbol.asyncDispose](): Waited<void>;
    }

    /** A pool that all of the script shares. */
    export const parallel: Pick<Pool, 'run' | 'runWith' | 'map'>;

    const everything: typeof import('weft:parallel');
    export default everything;
}
