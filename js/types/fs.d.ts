// SPDX-License-Identifier: MIT
// weft:fs - files, folders, and news of what happens to them.
declare module 'weft:fs' {
    /** On a fiber the value itself, elsewhere a promise of it: it can be used as either. */
    export type Waited<T> = (T & Promise<T>) | Extract<T, null | undefined>;

    export type Bytes = ArrayBufferView | ArrayBuffer | SharedArrayBuffer;
    /** A text, the bytes of a name that is none, or a URL of the scheme file. */
    export type Path = string | Uint8Array | URL;
    /** A whole number, 0 or more. */
    export type Place = number | bigint;
    /** `'r'`, `'r+'`, `'w'`, `'wx'`, `'w+'`, `'wx+'`, `'a'`, `'ax'`, `'a+'`, `'ax+'`, with an `s` for synchronous writing; or the bits of the system. */
    export type Flags = string | number;
    /** Seconds since 1970, or a Date. */
    export type Time = number | string | Date;

    /** Of everything that waits. Aborted: the signal's reason is thrown. What the disk has begun is not taken back; what is long is given
     *  up between two pieces of 1 MiB. */
    export interface WaitOptions {
        signal?: AbortSignal;
    }

    export interface Stats {
        readonly dev: number; readonly mode: number; readonly nlink: number; readonly uid: number; readonly gid: number;
        readonly rdev: number; readonly blksize: number; readonly ino: number; readonly size: number; readonly blocks: number;
        readonly atimeMs: number; readonly mtimeMs: number; readonly ctimeMs: number; readonly birthtimeMs: number;
        readonly atime: Date; readonly mtime: Date; readonly ctime: Date; readonly birthtime: Date;
        isFile(): boolean;
        isDirectory(): boolean;
        isSymbolicLink(): boolean;
        isFIFO(): boolean;
        isSocket(): boolean;
        isBlockDevice(): boolean;
        isCharacterDevice(): boolean;
    }

    /** With `{ bigint: true }`: numbers are BigInts, and times are exact. */
    export type BigIntStats = { readonly [Name in keyof Stats]: Stats[Name] extends number ? bigint : Stats[Name] }
        & { readonly atimeNs: bigint; readonly mtimeNs: bigint; readonly ctimeNs: bigint; readonly birthtimeNs: bigint };

    /** What is in a folder: the entry itself, links are not followed. */
    export interface Entry extends Pick<Stats, 'isFile' | 'isDirectory' | 'isSymbolicLink' | 'isFIFO' | 'isSocket' | 'isBlockDevice'
        | 'isCharacterDevice'> {
        readonly name: string;
        /** The folder it is in. */
        readonly parentPath: string;
    }

    /** An open file. Any number of calls may be under way at once. One that nobody has any more is closed with it, some time. */
    export class File implements Disposable, AsyncDisposable {
        private constructor();
        /** The descriptor; -1 when it is closed. */
        readonly number: number;
        readonly closed: boolean;

        /** Up to so many bytes (64 KiB), from where the file stands or from a position; null at the end. */
        read(size?: number, options?: WaitOptions & { position?: Place }): Waited<Uint8Array | null>;
        read(options?: WaitOptions & { position?: Place }): Waited<Uint8Array | null>;
        pread(size: number, position: Place, options?: WaitOptions): Waited<Uint8Array | null>;
        /** How many bytes were read into the view; 0 at the end. */
        readInto(view: ArrayBufferView, options?: WaitOptions & { position?: Place }): Waited<number>;
        /** All that comes from where the file stands. */
        readAll(options?: WaitOptions): Waited<Uint8Array>;
        /** The same as UTF-8; what is not becomes U+FFFD. */
        readText(options?: WaitOptions): Waited<string>;
        /** All of it; how many bytes that was. */
        write(data: string | Bytes, options?: WaitOptions & { position?: Place }): Waited<number>;
        pwrite(data: string | Bytes, position: Place, options?: WaitOptions): Waited<number>;
        /** Where it stands from then on. */
        seek(offset: number | bigint, whence?: 'start' | 'current' | 'end', options?: WaitOptions): Waited<number>;
        truncate(size?: Place, options?: WaitOptions): Waited<void>;
        /** Until it is on the disk; data: without what is not needed to read it again. */
        sync(options?: WaitOptions & { data?: boolean }): Waited<void>;
        stat(options: WaitOptions & { bigint: true }): Waited<BigIntStats>;
        stat(options?: WaitOptions): Waited<Stats>;
        chmod(mode: number, options?: WaitOptions): Waited<void>;
        utimes(accessed: Time, modified: Time, options?: WaitOptions): Waited<void>;

        /** Pieces one after another, for loops on fibers and with `await`. So is the file itself. */
        chunks(options?: WaitOptions & { size?: number }): Iterable<Uint8Array> & AsyncIterable<Uint8Array>;
        /** Lines without their LF or CRLF; what follows the last one too, if it is not empty. */
        lines(options?: WaitOptions & { size?: number }): Iterable<string> & AsyncIterable<string>;
        [Symbol.iterator](): Iterator<Uint8Array>;
        [Symbol.asyncIterator](): AsyncIterator<Uint8Array>;
        /** As streams of the web. Their end closes the file. */
        readonly readable: ReadableStream<Uint8Array>;
        readonly writable: WritableStream<string | Bytes>;

        /** Whoever waits gets an error with the code ERR_CLOSED. Whether it was open. */
        close(): Waited<boolean>;
        [Symbol.dispose](): void;
        [Symbol.asyncDispose](): Promise<void>;
    }

    export function open(path: Path, flags?: Flags, options?: WaitOptions & { mode?: number | string }): Waited<File>;

    export function readFile(path: Path, options?: WaitOptions): Waited<Uint8Array>;
    /** As UTF-8; what is not becomes U+FFFD. */
    export function readText(path: Path, options?: WaitOptions): Waited<string>;

    /** What can be written to a whole file: also what comes by pieces. */
    export type Data = string | Bytes | Blob | Iterable<string | Bytes> | AsyncIterable<string | Bytes>;
    export interface WriteOptions extends WaitOptions {
        /** Of a file that is made; 0o666, less the umask. */
        mode?: number | string;
        append?: boolean;
        /** EEXIST if it is there. */
        exclusive?: boolean;
        /** Until it is on the disk. */
        sync?: boolean;
        /** Whoever opens it finds the old bytes or the new ones, never a part, also after a crash. Not for what comes by pieces. */
        atomic?: boolean;
    }
    export function writeFile(path: Path, data: Data, options?: WriteOptions): Waited<void>;
    export function appendFile(path: Path, data: Data, options?: WriteOptions): Waited<void>;

    /** About what the path leads to; lstat: about the link itself. */
    export function stat(path: Path, options: WaitOptions & { bigint: true }): Waited<BigIntStats>;
    export function stat(path: Path, options?: WaitOptions): Waited<Stats>;
    export function lstat(path: Path, options: WaitOptions & { bigint: true }): Waited<BigIntStats>;
    export function lstat(path: Path, options?: WaitOptions): Waited<Stats>;
    /** Of the file system. */
    export function statfs(path: Path, options?: WaitOptions): Waited<{
        type: number; bsize: number; blocks: number; bfree: number; bavail: number; files: number; ffree: number;
    }>;
    export function exists(path: Path, options?: WaitOptions): Waited<boolean>;
    /** An error unless this process may read, write and execute it: letters out of `'rwx'`; none: whether it is there. */
    export function access(path: Path, mode?: string, options?: WaitOptions): Waited<void>;
    export function chmod(path: Path, mode: number | string, options?: WaitOptions): Waited<void>;
    /** -1 leaves one of them as it is; link: of a link itself. */
    export function chown(path: Path, user: number, group: number, options?: WaitOptions & { link?: boolean }): Waited<void>;
    export function utimes(path: Path, accessed: Time, modified: Time, options?: WaitOptions & { link?: boolean }): Waited<void>;
    export function truncate(path: Path, size?: Place, options?: WaitOptions): Waited<void>;

    export function rename(from: Path, to: Path, options?: WaitOptions): Waited<void>;
    export function copyFile(from: Path, to: Path, options?: WaitOptions & { exclusive?: boolean }): Waited<void>;
    export function link(path: Path, also: Path, options?: WaitOptions): Waited<void>;
    /** A link that says target. */
    export function symlink(target: Path, path: Path, options?: WaitOptions): Waited<void>;
    export function readlink(path: Path, options?: WaitOptions): Waited<string>;
    export function realpath(path: Path, options?: WaitOptions): Waited<string>;

    /** In order of their bytes. recursive: those in folders below, too, as paths; links are not followed. */
    export function readdir(path: Path, options: WaitOptions & { entries: true; recursive?: boolean }): Waited<Entry[]>;
    export function readdir(path: Path, options?: WaitOptions & { recursive?: boolean }): Waited<string[]>;
    /** recursive: with those above it, and it may be there already; the first that was made, if any. */
    export function mkdir(path: Path, options?: WaitOptions & { recursive?: boolean; mode?: number | string }): Waited<string | undefined>;
    /** recursive: a folder with all in it; links are never followed. force: it need not be there. */
    export function rm(path: Path, options?: WaitOptions & { recursive?: boolean; force?: boolean }): Waited<void>;
    /** A new folder, mode 0700, whose path begins so; in the folder for temporary files, if nothing is said. */
    export function mkdtemp(prefix?: Path, options?: WaitOptions): Waited<string>;

    export interface Change {
        /** In a folder: `made`, `removed`, `left` and `came` (a rename: both have one cookie). A file, or one in the folder: `written`,
         *  `closed` after writing, `changed` in what is said about it. What is watched itself: `gone`, `moved`, `ended`. `lost`: more
         *  happened than could be kept. */
        kind: 'made' | 'removed' | 'left' | 'came' | 'written' | 'closed' | 'changed' | 'gone' | 'moved' | 'ended' | 'lost';
        /** Below what is watched; empty: that itself. */
        name: string;
        isFolder: boolean;
        cookie?: number;
    }

    export interface Watch extends Iterable<Change>, AsyncIterable<Change>, Disposable {
        /** The next change; null when it was closed, or what is watched is gone. */
        next(options?: WaitOptions): Waited<Change | null>;
        close(): void;
    }

    /** Watches from now on; recursive: all folders below too, also those to come. Loops that are left close it. */
    export function watch(path: Path, options?: WaitOptions & { recursive?: boolean }): Watch;

    const everything: typeof import('weft:fs');
    export default everything;
}
