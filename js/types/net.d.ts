// SPDX-License-Identifier: MIT
// weft:net - connections, listeners, pipes, datagrams and names.
declare module 'weft:net' {
    /** On a fiber the value itself, elsewhere a promise of it: it can be used as either. */
    export type Waited<T> = (T & Promise<T>) | Extract<T, null | undefined>;

    export type Bytes = ArrayBufferView | ArrayBuffer;
    /** `{ host, port }`, `{ path }`, `'host:port'`, `'unix:path'`, or a port of this machine. Paths that begin with `@` are names
     *  without a file. */
    export type Address = { host?: string; port?: number } | { path: string } | string | number;
    /** Of a socket: an IP address, or a path. */
    export type Place = { address: string; family: 'IPv4' | 'IPv6'; port: number; path?: undefined }
        | { path: string; address?: undefined; port?: undefined };

    /** Of everything that waits. Aborted: the signal's reason is thrown. Too late: an error with the code ETIMEDOUT. */
    export interface WaitOptions {
        signal?: AbortSignal;
        /** Milliseconds; 0 only asks. */
        timeout?: number;
    }

    interface Socket extends Disposable {
        /** Where it is here. */
        readonly address: Place | undefined;
        readonly port: number | undefined;
        readonly closed: boolean;
        /** Whoever waits gets an error with the code ERR_CLOSED. Returns whether it was open. */
        close(): boolean;
    }

    /** A stream in two directions, or one end of a pipe. One call reads at a time: a second one gets EBUSY. */
    export interface Connection extends Socket {
        readonly remoteAddress: Place | undefined;
        /** What is there, at most so many bytes (64 KiB), or what comes next; null at the end. */
        read(size?: number, options?: WaitOptions): Waited<Uint8Array | null>;
        read(options?: WaitOptions): Waited<Uint8Array | null>;
        /** So many bytes; null at the end. When fewer came, the error (ERR_UNEXPECTED_END, ETIMEDOUT) has them as `partial`. */
        readFull(size: number, options?: WaitOptions): Waited<Uint8Array | null>;
        /** The next line, without its LF or CRLF; null at the end. Longer than the limit: EMSGSIZE, and nothing is lost. */
        readLine(options?: WaitOptions & { limit?: number }): Waited<string | null>;
        /** Up to the delimiter, and with it; what is left when there is none; null at the end. */
        readUntil(delimiter: string | Bytes, options?: WaitOptions & { limit?: number }): Waited<Uint8Array | null>;
        /** All there is up to the end. More than the limit: EMSGSIZE. */
        readAll(options?: WaitOptions & { limit?: number }): Waited<Uint8Array>;
        /** All of it, behind what was written before. One that is given up in its middle ends the direction: EPIPE from then
         *  on. */
        write(data: string | Bytes, options?: WaitOptions): Waited<void>;
        /** Behind what was written: the other side reads the end. Of a pipe: closes it. */
        shutdown(): Waited<void>;
        /** As close, but the other side gets ECONNRESET. */
        reset(): boolean;
        /** Whether it was done: only TCP has it. On at first. */
        noDelay(on?: boolean): boolean;
        /** On, off, or the seconds of silence after which the other side is asked. */
        keepAlive(seconds?: boolean | number): boolean;
        /** Lines one after another, for loops on fibers and with `await`. */
        lines(options?: WaitOptions & { limit?: number }): Iterable<string> & AsyncIterable<string>;
        [Symbol.iterator](): Iterator<Uint8Array>;
        [Symbol.asyncIterator](): AsyncIterator<Uint8Array>;
        /** The two directions as streams of the web. */
        readonly readable: ReadableStream<Uint8Array>;
        readonly writable: WritableStream<string | Bytes>;
    }
    export const Connection: { readonly prototype: Connection };

    export interface Listener extends Socket {
        accept(options?: WaitOptions): Waited<Connection>;
        /** Connections until it is closed. */
        [Symbol.iterator](): Iterator<Connection>;
        [Symbol.asyncIterator](): AsyncIterator<Connection>;
        /** The handler runs on a fiber for each connection, which is closed behind it. Ends when the listener is closed and all
         *  handlers have ended. */
        serve(handler: (connection: Connection) => unknown, options?: {
            /** Closes the listener and the connections. */
            signal?: AbortSignal;
            /** So many connections at a time. */
            limit?: number;
            /** Of handlers; otherwise on standard error. That the other side has gone is no error. */
            onError?: (error: unknown, connection: Connection) => void;
        }): Waited<void>;
    }
    export const Listener: { readonly prototype: Listener };

    export interface Datagrams extends Socket {
        /** To an address, or to whom it is connected with. Names are looked up. */
        send(data: string | Bytes, to?: Address, options?: WaitOptions): Waited<void>;
        receive(options?: WaitOptions): Waited<Datagram>;
        connect(to: Address, options?: WaitOptions): Waited<void>;
        [Symbol.iterator](): Iterator<Datagram>;
        [Symbol.asyncIterator](): AsyncIterator<Datagram>;
    }
    export interface Datagram {
        data: Uint8Array;
        address: Place | undefined;
        /** It was longer than 64 KiB. */
        isCut: boolean;
    }

    interface ConnectionOptions {
        /** Bytes of the buffer for lines and the like, which is also the longest of them: 16 KiB. */
        buffer?: number;
    }

    /** Names are looked up, and all addresses tried, IPv6 and IPv4 by turns (RFC 8305). */
    export function connect(address: Address, options?: WaitOptions & ConnectionOptions & {
        localAddress?: string; localPort?: number;
    }): Waited<Connection>;
    /** At an IP address, `localhost`, or all addresses of the machine; port 0 takes a free one. */
    export function listen(address?: Address, options?: ConnectionOptions & {
        backlog?: number; reusePort?: boolean; ipv6Only?: boolean;
    }): Listener;
    /** A socket for datagrams. */
    export function bind(address?: Address, options?: { reusePort?: boolean; broadcast?: boolean }): Datagrams;
    export function pipe(): { reader: Connection; writer: Connection };
    /** Two ends that are connected with each other. */
    export function pair(): [Connection, Connection];
    /** The addresses of a name, in the order in which they should be tried. */
    export function resolve(name: string, options?: WaitOptions & { family?: 0 | 4 | 6 }): Waited<string[]>;

    const everything: typeof import('weft:net');
    export default everything;
}
