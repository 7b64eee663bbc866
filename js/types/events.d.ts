// SPDX-License-Identifier: MIT
// weft:events - generational events: something that happens once, and whether it went well.
declare module 'weft:events' {
    import type { Waited, WaitOptions } from 'weft:go';

    export type EventStatus = 'pending' | 'ready' | 'poisoned' | 'expired';

    /** Made by its system. It completes once: triggered, it is ready; poisoned, it has failed, with a reason. */
    export class WeftEvent {
        private constructor();
        readonly system: EventSystem;
        /** A number that means this event, and no other, in every instance that shares the system. */
        readonly handle: bigint;
        /** `expired`: it has completed, but how is no longer kept. */
        readonly status: EventStatus;
        /** Why it was poisoned: the value that was given, where that is known; else a PoisonError with its text. */
        readonly reason: unknown;
        /** Whether this call has completed it. */
        trigger(): boolean;
        poison(reason?: unknown): boolean;
        /** Until it is complete. Throws the reason of a poisoned one; an error with the code ENODATA for an expired one. */
        wait(options?: WaitOptions): Waited<void>;
        /** It completes as the other one does. Whether it was pending. */
        after(other: WeftEvent): boolean;
        /** The fiber that calls owns it: if that ends before the event completes, it is poisoned. Whether it was pending. */
        own(): boolean;
        /** Whether somebody owned it. */
        disown(): boolean;
    }

    export interface EventSystemOptions {
        name?: string;
        /** Events that may be pending at one time. */
        maxPending?: number;
        /** Poisons that are kept with their reasons; 4096. */
        reasons?: number;
        /** Never forget a verdict. */
        strict?: boolean;
        /** Of every slot; for tests of what happens when the numbers run out. */
        firstGeneration?: number;
    }

    export interface EventStats {
        created: number;
        triggered: number;
        poisoned: number;
        pending: number;
        wakes: number;
        expired: number;
        lost: number;
        slots: number;
        quarantined: number;
        retired: number;
    }

    /** Events that can be merged with each other. */
    export class EventSystem implements Disposable {
        constructor(options?: EventSystemOptions);
        /** The system with that name, which is the same in all instances of the process; options count when it is made. */
        static shared(name: string, options?: Omit<EventSystemOptions, 'name'>): EventSystem;
        readonly name: string;
        /** A pending event; an error with the code ENOSPC when as many are pending as may be. */
        create(): WeftEvent;
        /** The same, but it waits for room. */
        createWaiting(options?: WaitOptions): Waited<WeftEvent>;
        /** The event that a handle means. A TypeError for one that was never made, or is another system's. */
        event(handle: bigint): WeftEvent;
        /** Ready when all are. Poisoned as soon as that cannot happen any more, with the reason of the one that made it so. */
        all(events: Iterable<WeftEvent>): WeftEvent;
        /** Ready when all are complete, however. */
        allSettled(events: Iterable<WeftEvent>): WeftEvent;
        /** Ready when one is. */
        any(events: Iterable<WeftEvent>): WeftEvent;
        /** Ready when so many are. */
        quorum(events: Iterable<WeftEvent>, count: number): WeftEvent;
        queue<T = unknown>(): EventQueue<T>;
        /** Poisons all that is pending; no event can be made any more. Whether this call has done that. */
        shutdown(reason?: unknown): boolean;
        stats(): EventStats;
        [Symbol.dispose](): void;
    }

    export interface Completion<T = unknown> {
        event: WeftEvent;
        tag: T;
        status: Exclude<EventStatus, 'pending'>;
        reason: unknown;
    }

    /** Any number of events, and one place to wait for all of them. */
    export class EventQueue<T = unknown> {
        private constructor();
        /** How many were added and not taken out. */
        readonly size: number;
        /** It is answered once it is complete. */
        add(event: WeftEvent, tag?: T): this;
        /** The next that is complete. */
        pop(options?: WaitOptions): Waited<Completion<T>>;
        /** Those that are complete, at most so many; waits for the first. */
        popMany(most: number, options?: WaitOptions): Waited<Completion<T>[]>;
        /** Until nothing is left in it. */
        [Symbol.iterator](): Generator<Completion<T>, void, void>;
        [Symbol.asyncIterator](): AsyncGenerator<Completion<T>, void, void>;
    }

    /** A reason of which nobody here knows more than its text: EPOISON; EOWNERDEAD: the fiber that owned the event has ended; ENODATA:
     *  the reason is no longer kept. */
    export class PoisonError extends Error {
        code: string;
    }

    /** Of a system of its own, which all scripts of the instance have. */
    export function create(): WeftEvent;
    export function all(events: Iterable<WeftEvent>): WeftEvent;
    export function allSettled(events: Iterable<WeftEvent>): WeftEvent;
    export function any(events: Iterable<WeftEvent>): WeftEvent;
    export function quorum(events: Iterable<WeftEvent>, count: number): WeftEvent;
    export function queue<T = unknown>(): EventQueue<T>;

    const everything: typeof import('weft:events');
    export default everything;
}

declare module 'weft:go' {
    interface Cases {
        /** Comes when it is complete; select throws the reason of a poisoned one. */
        event: { event: import('weft:events').WeftEvent };
    }
}
