// SPDX-License-Identifier: MIT
// weft:http - servers: in the shape of fetch (serve), and in that of Node (createServer), with handlers that may be fibers.
declare module 'weft:http' {
    import type { Waited } from 'weft:go';

    /** Limits and the like of both kinds of servers; times in milliseconds, 0: without a limit. */
    export interface ServerOptions {
        /** Each handler runs on a fiber of its own and may wait there without `await`. */
        fibers?: boolean;
        /** From the first byte of a request to its last: 300,000. */
        requestTimeout?: number;
        /** For its head: 60,000. */
        headersTimeout?: number;
        /** How long a connection may be idle: 5,000. */
        keepAliveTimeout?: number;
        /** Silence of any kind: 0. */
        timeout?: number;
        /** How many requests a connection may make: 0. */
        maxRequestsPerSocket?: number;
        /** Bytes of a head: 16 KiB; more is answered with 431. */
        maxHeaderSize?: number;
        /** How many connections at a time. */
        maxConnections?: number;
        /** Bytes of a request's body; more is answered with 413. 16 MiB with `serve`, else no limit. */
        maxBody?: number;
        /** Answers are compressed for clients that want it: a level of 1 to 9, or true. */
        gzip?: number | boolean;
    }

    // ---- In the shape of fetch ----

    /** What a handler is told besides the request. */
    export interface ServeInfo {
        /** Of the route: `/users/:id` has `id`; a pattern that ends with `+` has the rest as `'+'`. */
        readonly params: Record<string, string>;
        readonly server: FetchServer;
        /** Who asks. */
        readonly peer: { address: string; family: 'IPv4' | 'IPv6'; port: number } | { path: string } | undefined;
    }
    /** The signal of the request is aborted when the client goes away before it has its answer. */
    export type ServeHandler = (request: Request, info: ServeInfo) => Response | PromiseLike<Response>;

    export interface ServeOptions extends ServerOptions {
        /** 8000; 0: any that is free. */
        port?: number;
        /** An IP address of this machine: 127.0.0.1. */
        hostname?: string;
        /** A socket in the file system instead. */
        path?: string;
        backlog?: number;
        /** Closes the server. */
        signal?: AbortSignal;
        /** Handlers by pattern of the path; what none of them fits is for the handler of `serve`, or 404. */
        routes?: Record<string, ServeHandler>;
        /** What a handler has thrown: gives the answer; otherwise that is 500, and the error is told on standard error. */
        onError?: (error: unknown, request: Request | undefined) => Response | void | PromiseLike<Response | void>;
    }

    export interface FetchServer extends Server {
        /** `http://127.0.0.1:8000/`; undefined when it is closed, or on a path. */
        readonly url: string | undefined;
        /** No more connections; ends when all requests have had their answers. */
        stop(): Waited<void>;
    }
    export function serve(handler: ServeHandler): FetchServer;
    export function serve(options: ServeOptions, handler?: ServeHandler): FetchServer;

    /** One event of a `text/event-stream`: a text, or its fields. Data that are no text become JSON. */
    export type ServerEvent = string | { event?: string; data?: unknown; id?: string | number; retry?: number; comment?: string };
    /** A response whose body are events, each sent when it comes. The iterator is returned when the client goes away. */
    export function eventStream(source: Iterable<ServerEvent> | AsyncIterable<ServerEvent>, init?: ResponseInit): Response;

    // ---- In the shape of Node ----
    //
    // The same classes as those of node:http; here is what handlers mostly need. With `@types/node` they can be used as these.

    type Listener = (...values: any[]) => void;

    interface Emitter {
        on(event: string | symbol, listener: Listener): this;
        once(event: string | symbol, listener: Listener): this;
        off(event: string | symbol, listener: Listener): this;
        emit(event: string | symbol, ...values: any[]): boolean;
        listenerCount(event: string | symbol): number;
    }

    export interface IncomingMessage extends Emitter, AsyncIterable<Uint8Array> {
        readonly method: string;
        /** The target as the client has written it: path and query. */
        url: string;
        readonly httpVersion: string;
        /** Names in lower case. */
        readonly headers: Record<string, string | string[] | undefined>;
        readonly rawHeaders: string[];
        readonly trailers: Record<string, string | undefined>;
        readonly complete: boolean;
        readonly destroyed: boolean;
        readonly socket: any;
        /** The whole body; more than Node has. */
        bytes(): Waited<Uint8Array>;
        text(): Waited<string>;
        json(): any;
        pipe<T>(destination: T): T;
        destroy(error?: Error): this;
    }
    export const IncomingMessage: { new(socket?: any): IncomingMessage; readonly prototype: IncomingMessage };

    export interface ServerResponse extends Emitter {
        statusCode: number;
        statusMessage: string;
        readonly headersSent: boolean;
        readonly writableEnded: boolean;
        readonly writableFinished: boolean;
        readonly destroyed: boolean;
        readonly req: IncomingMessage;
        setHeader(name: string, value: number | string | readonly string[]): this;
        appendHeader(name: string, value: string | readonly string[]): this;
        getHeader(name: string): number | string | string[] | undefined;
        getHeaderNames(): string[];
        hasHeader(name: string): boolean;
        removeHeader(name: string): void;
        flushHeaders(): void;
        addTrailers(trailers: Record<string, string>): void;
        writeHead(status: number, headers?: Record<string, number | string | readonly string[]>): this;
        writeHead(status: number, reason: string, headers?: Record<string, number | string | readonly string[]>): this;
        writeContinue(callback?: () => void): void;
        writeEarlyHints(hints: Record<string, string | readonly string[]>, callback?: () => void): void;
        /** Whether there is room for more; if not, 'drain' tells when there is. */
        write(chunk: string | Uint8Array, callback?: (error?: Error | null) => void): boolean;
        write(chunk: string | Uint8Array, encoding: string, callback?: (error?: Error | null) => void): boolean;
        end(callback?: () => void): this;
        end(chunk: string | Uint8Array, callback?: () => void): this;
        end(chunk: string | Uint8Array, encoding: string, callback?: () => void): this;
        destroy(error?: Error): this;
    }
    export const ServerResponse: { new(request: IncomingMessage): ServerResponse; readonly prototype: ServerResponse };

    export type RequestListener = (request: IncomingMessage, response: ServerResponse) => unknown;

    export interface Server extends Emitter, AsyncDisposable {
        readonly listening: boolean;
        listen(port?: number, host?: string, backlog?: number, callback?: () => void): this;
        listen(port: number, callback: () => void): this;
        listen(port: number, host: string, callback: () => void): this;
        listen(path: string, callback?: () => void): this;
        listen(place: { port?: number; host?: string; path?: string; backlog?: number; signal?: AbortSignal }, callback?: () => void): this;
        address(): { address: string; family: 'IPv4' | 'IPv6'; port: number } | string | null;
        /** No more connections; the callback, and 'close', come when those that are there have ended. */
        close(callback?: (error?: Error) => void): this;
        closeIdleConnections(): void;
        closeAllConnections(): void;
        getConnections(callback: (error: Error | null, count: number) => void): this;
        setTimeout(milliseconds: number, callback?: () => void): this;
        ref(): this;
        unref(): this;
    }
    export const Server: {
        new(listener?: RequestListener): Server;
        new(options: ServerOptions, listener?: RequestListener): Server;
        readonly prototype: Server;
    };
    export function createServer(listener?: RequestListener): Server;
    export function createServer(options: ServerOptions, listener?: RequestListener): Server;

    export const STATUS_CODES: Record<number, string>;
    export const METHODS: string[];

    const http: typeof import('weft:http');
    export default http;
}
