#!/usr/bin/env bash
# weft run for TypeScript: types are taken away, lines and columns stay, and what is more than a type is told with its place.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/cli_support.bash"
"$weft" run -e '' 2>/dev/null || exit 77 # JavaScript is not part of this build
export NO_COLOR=1
cd "$scratch/tmp"

# ---- Files of all kinds, and those that they import ----
cat >shapes.ts <<'END'
export interface Shape { area(): number }
export abstract class Named<T extends string = string> implements Shape {
    protected readonly name: T
    private static count?: number = 0
    constructor(name: T) { this.name = name; Named.count!++ }
    abstract area(): number
    toString(): string { return `${this.name}: ${this.area()}` }
}
export type { Shape as Other }
END
cat >common.cts <<'END'
import type { Shape } from './shapes.ts'
const double = <T extends number>(x: T): number => x * 2
module.exports = { double, file: __filename.split('/').pop() as string }
END
cat >app.ts <<'END'
import { Named, type Shape } from './shapes.ts'
import common from './common.cts'

class Square extends Named<'square'> {
    side: number
    constructor(side: number) { super('square'); this.side = side }
    override area(): number { return this.side ** 2 }
}
const shapes: Shape[] = [new Square(2), new Square(3)]
for (const shape of shapes satisfies Shape[]) console.log(`${shape}`)
console.log(common.double<number>(21), common.file, await Promise.resolve<string>('awaited'))
const where = new Error('place') as Error; console.log(where.stack!.split('\n')[1]!.replace(/.*\//, ''))
END
try 0 "$weft" run app.ts
out_is 'square: 4
square: 9
42 common.cts awaited
app.ts:12:15'
cp app.ts app.mts
try 0 "$weft" run app.mts
out_has '^app.mts:12:15$'
echo 'const x: number = 5; console.log(typeof require, x as number)' >plain.ts
try 0 "$weft" run plain.ts
out_is 'function 5'
echo 'const { double }: { double: (x: number) => number } = require("./common.cts"); console.log(double(4))' >main.cts
try 0 "$weft" run main.cts
out_is 8
try 0 "$weft" run -e 'import("./shapes.ts").then((it) => console.log(Object.keys(it)))'
out_is "[ 'Named' ]"
printf '#!/usr/bin/env -S weft run\nlet x: string = "shell"\nconsole.log(x)\n' >tool.ts
try 0 "$weft" run tool.ts
out_is shell

# ---- What is told ----
cat >throws.ts <<'END'
type Id = string | number
interface User {
    id: Id
}
const users: Map<Id, User> = new Map()
const name = (id: Id): Id => users.get(id)!.id
name('nobody' as Id)
END
try 1 "$weft" run throws.ts
err_has "^$PWD/throws.ts:6\$"
err_has '^const name = \(id: Id\): Id => users.get\(id\)!.id$'
err_has '^                                            \^$'
cat >enum.ts <<'END'
let first: number

export enum Color { Red }
END
try 1 "$weft" run enum.ts
err_has "^$PWD/enum.ts:3\$|^file://$PWD/enum.ts:3\$"
err_has '^export enum Color \{ Red \}$'
err_has '^       \^$'
err_has 'SyntaxError.*: TypeScript enum is not supported'
err_has "    at .*enum.ts:3:8"
while IFS='|' read -r text what; do
    printf '%s\n' "$text" >wrong.mts
    try 1 "$weft" run wrong.mts
    err_has "TypeScript $what is not supported"
    err_has 'wrong.mts:1:'
    try 1 "$weft" run --check wrong.mts
done <<'END'
const enum A { B }|enum
namespace A { export const b = 1 }|namespace with values
class A { constructor(public b: string) {} }|parameter property
import fs = require('fs')|import with =
export = 5|export with =
END
printf 'let a = 1;\nlet b: number = = 2;\n' >equals.mts
try 1 "$weft" run --check equals.mts
err_has "equals.mts:2\$"
err_has "^SyntaxError: Unexpected token '='"
printf '@decorated class A {}\n' >decorated.mts
try 1 "$weft" run decorated.mts
err_has SyntaxError
try 0 "$weft" run --check app.ts
mkdir -p node_modules/typed
echo 'export const x: number = 1' >node_modules/typed/index.ts
echo '{ "type": "module", "exports": "./index.ts" }' >node_modules/typed/package.json
echo 'import { x } from "typed"; console.log(x)' >uses.mjs
try 1 "$weft" run uses.mjs
err_has ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING
echo "all as it should be"
