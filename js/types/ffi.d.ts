// SPDX-License-Identifier: MIT
// weft:ffi - functions and variables of shared libraries, memory, and callbacks.
declare module 'weft:ffi' {
    /** Types of C by name. Those with a `_t` and those without mean the same; `enum` is an int. */
    export type ScalarName =
        | 'void' | 'bool' | 'i8' | 'u8' | 'i16' | 'u16' | 'i32' | 'u32' | 'i64' | 'u64' | 'f32' | 'f64' | 'float' | 'double'
        | 'int8_t' | 'uint8_t' | 'int16_t' | 'uint16_t' | 'int32_t' | 'uint32_t' | 'int64_t' | 'uint64_t'
        | 'char' | 'schar' | 'uchar' | 'short' | 'ushort' | 'int' | 'uint' | 'enum' | 'long' | 'ulong' | 'longlong' | 'ulonglong'
        | 'size_t' | 'ssize_t' | 'ptrdiff_t' | 'intptr_t' | 'uintptr_t' | 'off_t'
        | 'pointer' | 'string' | 'string?' | 'buffer';

    /** A type that was made: a struct, an array, a text. */
    export interface Type {
        readonly name: string;
        readonly size: number;
        readonly alignment: number;
        /** A copy of what lies there: numbers, texts, plain objects and arrays. */
        read(pointer: Pointer | View, offset?: number): any;
        /** All of it, or an error and nothing. */
        write(pointer: Pointer | View, value: any, offset?: number): void;
    }
    export const Type: { readonly prototype: Type };

    export type AnyType = ScalarName | Type | { callback: CallbackSignature };

    /** A view on a struct in memory: its fields are read and written there; those that are structs or arrays are views. */
    export type View = object;

    export interface Struct extends Type {
        readonly offsets: Readonly<Record<string, number>>;
        /** A view on memory of its own; fields that are not given are zero. */
        new(values?: object): any;
        /** A view on memory that is there. */
        at(pointer: Pointer | View, offset?: number): any;
    }

    export interface ArrayView<T = any> extends Iterable<T> {
        readonly length: number;
        at(index: number): T;
        set(index: number, value: T): void;
        /** A copy. */
        toArray(): T[];
    }

    export interface ArrayType extends Type {
        readonly length: number;
        new(values?: ArrayLike<any>): ArrayView;
        at(pointer: Pointer | View, offset?: number): ArrayView;
    }

    /** Lays a struct out as the C compiler does. */
    export function struct(fields: Record<string, AnyType>, name?: string): Struct;
    /** A part of structs and memory; C passes arrays as pointers. */
    export function array(element: AnyType, length: number): ArrayType;
    /** An array of char that holds a text in UTF-8 and a zero. */
    export function text(bytes: number): Type;
    export function sizeof(type: AnyType): number;
    export function alignof(type: AnyType): number;

    /** An address. What is known to be there is checked; of other addresses nobody knows what reading them does. */
    export class Pointer {
        private constructor();
        readonly address: bigint;
        /** How many bytes are known to be there; undefined: nobody knows. */
        readonly size: number | undefined;
        read(type: AnyType, offset?: number): any;
        write(type: AnyType, value: any, offset?: number): void;
        /** A copy of that many bytes; of all that are known, without a number. */
        toBytes(size?: number, offset?: number): Uint8Array;
        setBytes(bytes: ArrayBuffer | SharedArrayBuffer | ArrayBufferView, offset?: number): void;
        /** The memory itself. It must be there as long as the buffer, unless it came from `alloc`. */
        toBuffer(size?: number, offset?: number): ArrayBuffer;
        /** A pointer so many bytes further on. */
        add(bytes: number): Pointer;
        /** Of `alloc` and `string`: this pointer cannot be used any more. The memory goes when nobody uses it. */
        free(): void;
        toString(): string;
        [Symbol.dispose](): void;
    }

    /** Memory of that many bytes, all zero, aligned to 16. It goes with the last pointer to it. */
    export function alloc(bytes: number): Pointer;
    /** A pointer of an address, or to what a view is on. */
    export function pointer(value: bigint | Pointer | View | Callback | null): Pointer | null;
    /** The text there, up to its zero. */
    export function cstring(pointer: Pointer | View, offset?: number): string;
    /** Memory with the bytes of a text and a zero. */
    export function string(text: string): Pointer;

    export interface Options {
        /** The types of further arguments come with each call: `printf('%d', 'int', 5)`. */
        variadic?: boolean;
        /** It is short, waits for nothing, needs little stack and never calls back: it is called as it is, also on a fiber. */
        fast?: boolean;
        /** The result is `[value, errno]`. */
        errno?: boolean;
        /** What it is called in the library, if not as here. */
        symbol?: string;
    }

    /** Parameters behind `'...'` are variable ones. */
    export type Signature =
        | [returns: AnyType, parameters?: (AnyType | '...')[], options?: Options]
        | ({ returns?: AnyType; parameters?: (AnyType | '...')[] } & Options);
    export type CallbackSignature = [returns: AnyType, parameters?: AnyType[]] | { returns?: AnyType; parameters?: AnyType[] };

    export type Description =
        | Signature
        /** A variable, which is read and written as a property. */
        | { variable: AnyType; symbol?: string }
        /** A pointer to whatever it is. */
        | { address: true; symbol?: string };

    export interface ForeignFunction {
        /**
         * On a `go` fiber it has a thread of its own, and everybody else goes on meanwhile. Elsewhere the script waits for it.
         * Integers of 64 bits come back as numbers if those are exact, else as BigInts; either goes in.
         */
        (...values: any[]): any;
        /** The same on another thread, as a promise. */
        async(...values: any[]): Promise<any>;
    }

    export type Library<Symbols> = {
        [Name in keyof Symbols]: Symbols[Name] extends { variable: unknown } ? any
            : Symbols[Name] extends { address: true } ? Pointer : ForeignFunction;
    } & {
        /** Nothing of it can be used any more; it is unloaded when no call is inside. A symbol of that name comes first. */
        close(): void;
        [Symbol.dispose](): void;
    };

    /** Loads a library by its name or path, as dlopen(3) finds it; null is the program itself. */
    export function open<Symbols extends Record<string, Description>>(
        path: string | URL | null, symbols?: Symbols): Library<Symbols>;
    export function close(library: object): void;
    /** A function whose address is known. */
    export function bind(pointer: Pointer, signature: Signature, name?: string): ForeignFunction;
    /** errno behind the last call of this fiber, or of all that is not on a fiber. */
    export function errno(): number;

    /** A function of JavaScript as a pointer to a function of C. It stays until it is closed. */
    export class Callback {
        private constructor();
        readonly pointer: Pointer;
        /** An error while it is being called. */
        close(): void;
        /** Keeps the program alive while it is open; at first it does not. */
        ref(): this;
        unref(): this;
        [Symbol.dispose](): void;
    }
    export function callback(signature: CallbackSignature, fn: (...values: any[]) => any): Callback;

    const ffi: typeof import('weft:ffi');
    export default ffi;
}
