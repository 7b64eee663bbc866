// TypeScript without its types: each text, and what is left of it, with as many lines and bytes; or what is wrong.
import { stripTypeScriptTypes } from 'node:module';

const texts = [
    'let x = y as T\n(b)',
    'let x = y as T\n[b]',
    'let x = y as T\n`b`',
    'foo\ntype A = string\n(bar)',
    'class A { a = 1\n public [x] = 2\n private *gen() {} }',
    'class A { get: number\n x() {} }',
    'class A { static: T; readonly; declare; abstract = 1; public() {} }',
    'const f = async <\nT,\n>(x: T) => x',
    'function g() { return <T,\n>(x: T) => x }',
    'const f = (a: number): {\n x: 1\n} => a',
    'a ? (b) : c => d',
    'a ? (b): c => d : e',
    'f<<T>(x: T) => void>(y)',
    'a < b, c > (d)',
    'if (a < b && c > (d)) x',
    'a >>= b >>> c >= d',
    'x = a! / b! / c',
    'import type from "x"',
    'import type, { a } from "x"',
    'import type from from "x"',
    'import { type } from "x"',
    'import { type as as } from "x"',
    'import { type as } from "x"',
    'import { type as as x } from "x"',
    'import { type a as b, c } from "x"',
    'import a, { type B } from "x" with { type: "json" }',
    'export type * from "x"',
    'export type * as y from "x"',
    'export { type A, b as c } from "x"',
    'export * as ns from "x"',
    'enum A { B }',
    'const enum A { B }',
    'declare enum A { B }',
    'namespace A { export const x = 1 }',
    'namespace A { export type B = 1 }',
    'import x = require("x")',
    'export = x',
    'class A { constructor(private x: number) {} }',
    'class A { constructor(readonly x = 1) {} }',
    'export import a = b.c',
    'import type a = require("x")',
    'declare module "x" { export function f(): void; const y: number }',
    'declare global { interface Window { a: 1 } }',
    'declare function f(): void',
    'abstract class A { abstract get x(): number; abstract y: string; protected abstract z(): void }',
    'function f(this: Foo, a?: number, ...b: string[]): asserts a is number {}',
    'function f(x): asserts x {}',
    'function f(x): x is T {}',
    'let u: unique symbol',
    'let t: [a: string, b?: number, ...c: X[]]',
    'let c: abstract new (...args: any) => object',
    'let m: { readonly [K in keyof T]-?: T[K] }',
    'let z: typeof import("x").y<T>[]',
    'let a: -1 | `a${string}b`',
    'type = 5',
    'type\nA = 5',
    'interface\nX',
    'declare',
    'namespace.x = 1',
    'module.exports = 1',
    'abstract()',
    'async < 1',
    'let async; async\n(x)',
    'x as any as T',
    '(x as any).y = 1',
    '<T>x',
    '<const T,>(x: T) => x',
    'for (const x of y as T[]) ;',
    'for (let i: number = 0 as number; i < 5; i++) ;',
    'let x!: number',
    'let { a, b: [c] }: T = d',
    'try {} catch (e: any) {}',
    'a = { get x(): number { return 1 }, async *m<T>(a: T): X {}, get: 1, async() {}, [k]: v as T, ...s! }',
    'class A<T> extends B<T> implements C, D<E> {}',
    'class extends B {}',
    'x = class implements I {}',
    'new Foo<T>',
    'new Foo<T>()',
    'new a.b.C<T>(1)',
    'f?.<T>(x)',
    'tag<T>`x${y as string}`',
    'obj satisfies T',
    'yield',
    'function* g() { const x: T = yield\n yield* y as T; yield /re/ }',
    'let a = b ? c as T : d',
    'const x = <T>(y)',
    '@dec class A { @dec() x: number; @dec m(@p a: string) {} }',
    'export default abstract class A {}',
    'export default interface X {}',
    'export default function f(): void\nexport default function f() {}',
    'export declare const x: number',
    'let ä: Ü = 1; throw ü',
    '#!/usr/bin/env weft\nlet x: T',
    'let x: T /* c */ = 1',
    'type A = {\n a: 1 }\n\nlet b',
    'class A { [k: string]: any; static [k: string]: T; [x]: T = 1; "a"?: T; 1!: T; #p: T = 1; static { let x: T } }',
    'class A { m(): void; m(a?: any) {} async x?(): Promise<void>; declare y }',
    'let f = function <T>(this: T): T {}',
    'let x = (y): y is T => 1',
    'const a = (b: T = {} as T) => {}, c',
    'x => x as T',
    'async x => x',
    'async (x: T): Promise<T> => x',
    'let y = a < (b + c) && d > (e)',
    'f(a < (x + 1), c > (d))',
    'let o = { a: <T>(x: T) => x, b() {} }',
    'if (x) type = 5; else interface2()',
    'let a: A extends B ? C : D = 1',
    'type A<in out T, const U> = T',
    'export {}; export type { X } from "y"; let z',
    'a\n!b',
    'let v: (a: { b: c }) => (d: e) => f = g',
    'let v: new () => X',
    'label: while (a as b) { continue label }',
    'using x = y as T',
    'await using x = y',
    'function f<T extends { a: 1 }>(x: T) {}',
    '"use strict"\ntype A = 1',
    'let s: "a" | \'b\' = "a"',
    'var x = 1 as number, y = 2 as number',
    'switch (a as T) { case b as U: default: }',
    'a.b!.c!()![d]!++',
    'throw x as Error',
    'let x = "unterminated',
    'let y = {',
    'let x: = 5',
    '(',
    'x as',
    'class {',
    '`${',
    'interface X {',
    'let a: Foo<',
    'type A = ',
    '',
    '@',
    'import {',
    'export',
    'a ? b',
    '/re',
    '/* c',
    'do x!; while (y as T)',
];
for (const text of texts) {
    console.log(JSON.stringify(text));
    try {
        const left = stripTypeScriptTypes(text);
        console.log(JSON.stringify(left));
        if (left.split('\n').length !== text.split('\n').length || Buffer.byteLength(left) !== Buffer.byteLength(text))
            console.log('of another length');
    } catch (error) {
        console.log(error.name, error.code, error.message, error.stack.trim());
    }
}

// Arguments that are none.
for (const wrong of [() => stripTypeScriptTypes(5), () => stripTypeScriptTypes('', { mode: 'transform' })]) {
    try {
        wrong();
    } catch (error) {
        console.log(error.name, error.code);
    }
}
console.log(stripTypeScriptTypes('let x: T', { sourceUrl: 'x.ts' }));
// What is deep is an error, and no crash.
for (const deep of [`x = ${'('.repeat(1e5)}`, `let x: ${'A<'.repeat(1e5)}`, `${'if (a) '.repeat(1e5)}b`, '('.repeat(1e5), '{'.repeat(1e5)]) {
    try {
        stripTypeScriptTypes(deep);
        console.log('nothing');
    } catch (error) {
        console.log(error instanceof RangeError || error instanceof SyntaxError || error);
    }
}
console.log(stripTypeScriptTypes(`${'1 + '.repeat(1e4)}(1 as number)`).length);
