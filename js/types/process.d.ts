// SPDX-License-Identifier: MIT
// weft:process - child processes and signals.
declare module 'weft:process' {
    import type { Bytes, Connection, WaitOptions, Waited } from 'weft:net';

    export type SignalName = `SIG${string}`;
    /** `'stdout'`, of stderr only: where the output goes. */
    export type Descriptor = 'pipe' | 'inherit' | 'ignore' | 'stdout' | number | Connection;

    /** How a program has ended: one of the two is null. */
    export interface End {
        code: number | null;
        signal: SignalName | null;
    }

    export interface ProgramOptions {
        cwd?: string;
        /** In place of `process.env`. A program without a slash in its name is looked for in its PATH. */
        env?: Record<string, string | number | boolean | undefined>;
        stdin?: Descriptor;
        stdout?: Descriptor;
        stderr?: Descriptor;
        /** True, or the path of a shell, which gets the command as a line. */
        shell?: boolean | string;
        /** What the program is told as its name. */
        argv0?: string;
        /** With a session of its own, so that it stays when a terminal goes. */
        detached?: boolean;
        /** Kills it when it aborts. */
        signal?: AbortSignal;
        /** Kills it after so many milliseconds. */
        timeout?: number;
        /** By what: SIGTERM. */
        killSignal?: SignalName | number;
    }

    export interface Child extends AsyncDisposable {
        readonly pid: number;
        /** Those that are pipes. */
        readonly stdin: Connection | null;
        readonly stdout: Connection | null;
        readonly stderr: Connection | null;
        wait(options?: WaitOptions): Waited<End>;
        /** A promise of its end, also on a fiber. */
        readonly exited: Promise<End>;
        /** Whether it was still there. */
        kill(signal?: SignalName | number): boolean;
    }
    export const Child: { readonly prototype: Child };

    /** Starts a program. Its descriptors are those of this process unless options say otherwise. As a case of select:
     *  `{ exit: child }`. */
    export function spawn(command: string, args?: readonly string[], options?: ProgramOptions): Child;
    export function spawn(command: string, options?: ProgramOptions): Child;

    export interface RunOptions extends ProgramOptions {
        input?: string | Bytes;
        /** Of bytes of output, and as many of errors: 16 MiB. A program that says more is killed: ENOBUFS. */
        limit?: number;
        /** Of the output: 'utf8', or 'bytes' for arrays. */
        encoding?: string;
    }
    /** Runs a program to its end, whatever its code. Too late (ETIMEDOUT) and too much (ENOBUFS) are errors, which have what it
     *  said. */
    export function run(command: string, args: readonly string[], options: RunOptions & { encoding: 'bytes' }):
        Waited<End & { stdout: Uint8Array; stderr: Uint8Array }>;
    export function run(command: string, args?: readonly string[], options?: RunOptions):
        Waited<End & { stdout: string; stderr: string }>;
    export function run(command: string, options?: RunOptions): Waited<End & { stdout: string; stderr: string }>;

    /** A set of signals that does nothing else while it is open. As a case of select: `{ signal: set }`, or `{ recv: set }`. */
    export interface Signals extends Disposable, Iterable<SignalName>, AsyncIterable<SignalName> {
        /** The name of the next one; undefined once it is closed. */
        recv(options?: WaitOptions): Waited<SignalName | undefined>;
        close(): boolean;
    }
    export const Signals: { readonly prototype: Signals };
    export function signals(...names: SignalName[]): Signals;
    /** Calls the function for each; that does not keep the program running. The result ends it. */
    export function onSignal(names: SignalName | SignalName[], fn: (name: SignalName) => void): () => void;

    const everything: typeof import('weft:process');
    export default everything;
}

declare module 'weft:go' {
    interface Cases {
        exit: { exit: import('weft:process').Child };
        signal: { signal: import('weft:process').Signals };
    }
}
