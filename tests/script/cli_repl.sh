#!/usr/bin/env bash
# weft repl with input that is no terminal: what texts are worth, what stays, what goes on, and input that is not as it should be.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/cli_support.bash"
"$weft" run -e '' 2>/dev/null || exit 77 # JavaScript is not part of this build
cd "$scratch/tmp"
export HOME=$scratch/tmp
repl() { # what it prints for standard input, which is a pipe
    ran="weft repl"
    "$weft" repl "$@" >"$scratch/out" 2>"$scratch/err" || fail "status $?"
}

# ---- Values and declarations ----
repl <<'END'
1 + 1
_ * 2
{ a: 1, b: 'x' }
{ a: 1 };
const a = 5
let b = a * 2, c
[a, b, c]
const a = 6, [d, { e }] = [7, { e: 8 }]
let c = 9, b
[a, b, c, d, e]
class A { x = 1 }
class B extends A { y = 2 }
(new B)
class A { z = 3 }
[new A(), (class {}).name, typeof A]
function f() {
  return 7
}
f()
`two
lines`
if (a === 6) {
  'yes'
}
let tail
(1, 'not a call')
var n = 1; /* over
lines */ n
for (const one of [1, 2])
  console.log(one)
/re"/.test('re"')
let undefinedAgain = 1
let undefinedAgain
undefinedAgain
END
out_is "2
4
{ a: 1, b: 'x' }
1
undefined
undefined
[ 5, 10, undefined ]
undefined
undefined
[ 6, undefined, 9, 7, 8 ]
undefined
undefined
B { x: 1, y: 2 }
undefined
[ A { z: 3 }, '', 'function' ]
undefined
7
'two\nlines'
'yes'
undefined
'not a call'
1
1
2
undefined
true
undefined
undefined
undefined"
err_is_empty
[ ! -e .weft_history ] || fail "what no terminal has typed is kept"

# ---- await and modules ----
echo 'export default "beside"; export let live = 1;' >beside.mjs
echo 'module.exports = { name: "common" }' >common.cjs
repl <<'END'
await Promise.resolve(3)
const x = await Promise.resolve(4), { y, z: [w] } = await ({ y: 5, z: [6] })
[x, y, w]
class Late { value = 1 }; await 0; new Late()
function hoisted() { return x }; await hoisted()
async function later() { return await x }
await later()
import fs, { existsSync as there } from 'node:fs'
[typeof fs.readFileSync, there('beside.mjs')]
import * as everything from './beside.mjs'
everything.default
import beside, { live } from './beside.mjs'; beside + live
import { nope } from './beside.mjs'
import './nowhere.mjs'
(await import('./beside.mjs')).default
require('./common.cjs').name
[typeof path.join, typeof module, typeof require, typeof __filename]
for await (const one of [Promise.resolve('a')]) console.log(one)
await Promise.reject(new Error('rejected'))
_error.message
await (async () => { await null; throw new TypeError('deep') })()
END
sed -i "s|$PWD|HERE|g; s|^    at .*||" "$scratch/out"
out_is "3
undefined
[ 4, 5, 6 ]
Late { value: 1 }
4
undefined
4
undefined
[ 'function', true ]
undefined
'beside'
'beside1'
Uncaught SyntaxError: The requested module './beside.mjs' does not provide an export named 'nope'
Uncaught Error [ERR_MODULE_NOT_FOUND]: Cannot find module 'HERE/nowhere.mjs' imported from HERE/ {
  code: 'ERR_MODULE_NOT_FOUND',
  url: 'file://HERE/nowhere.mjs'
}
'beside'
'common'
[ 'function', 'object', 'function', 'undefined' ]
a
undefined
Uncaught Error: rejected
'rejected'
Uncaught TypeError: deep"

# ---- Errors, and what goes on ----
repl <<'END'
throw new Error('plain')
_error instanceof Error
throw { a: 1 }
nobody
x = = 2
foo(]
'open
function g() { throw new RangeError('in g') }
g()
Promise.reject(new Error('nobody cares'))
Promise.reject(5)
setTimeout(() => { throw new Error('in a timer') }, 0); 'set'
await new Promise((resolve) => setTimeout(resolve, 5))
let list = []; require('weft:go').go(() => { list.push('fiber') }); 'gone'
await 0; list
_ = 5
1
_
const q = 1; const q = 2
return 5
export default 5
new Proxy({}, { get() { throw new Error('looked at') } })
({ [Symbol.for('nodejs.util.inspect.custom')]() { throw new Error('shown') } })
throw Object.defineProperties(new Error('x'), { message: { get() { throw 1 } }, code: { get() { throw 2 } }, stack: { get() { throw 3 } } })
throw new Proxy({}, { get() { throw 4 }, getPrototypeOf() { throw 5 } })
'after all'
eval('let inner = 1; inner')
setTimeout(() => console.log('late'), 5); 'last'
END
sed -i 's/^    at \(g (REPL[0-9]*:1:\)[0-9]*)$/    AT \1N)/; /^    at /d' "$scratch/out"
cp "$scratch/out" "$scratch/errors"
out_has '^Uncaught Error: plain$'
out_has '^Uncaught \{ a: 1 \}$'
out_has '^Uncaught ReferenceError: nobody is not defined$'
out_has "^Uncaught SyntaxError: Unexpected token '='\$"
out_has "^Uncaught SyntaxError: Unexpected token ']'\$"
out_has '^Uncaught SyntaxError: unexpected end of string$'
out_has '^    AT g \(REPL8:1:N\)$'
out_has '^Uncaught Error: nobody cares$'
out_has '^Uncaught 5$'
out_has '^Uncaught Error: in a timer$'
out_has "^\[ 'fiber' \]\$"
out_has '^Expression assignment to _ now disabled\.$'
out_has '^Uncaught SyntaxError: invalid redefinition'
out_has '^Uncaught SyntaxError: return'
out_has '^Uncaught Error: shown$'
out_has "^'after all'\$"
out_has '^Proxy \[ \{\}, \{ get'
[ "$(tail -n 1 "$scratch/out")" = late ] || fail "a timer does not outlive the input"
out_lacks 'weft:internal'

# ---- Commands ----
printf 'let loaded = 1;\nloaded +\n 1\n' >load.js
repl <<'END'
.load load.js
loaded
.load nowhere.js
.load
.save saved.js
.nothing
.5 + .5
let block = {
.break
1
.editor
let several = 1
several + 1
END
out_is "2
1
Failed to load: ENOENT: no such file or directory, open 'nowhere.js'
Which file? .load FILE
Session saved to: saved.js
No such command; .help lists them
1
1
// Several lines: ctrl-d runs them, ctrl-c forgets them
2"
[ "$(cat saved.js)" = "$(printf 'let loaded = 1;\nloaded +\n 1\nloaded')" ] || fail "saved.js: $(cat saved.js)"
printf 'let typed: number = 6;\ntyped as number + 1\n' >load.ts
printf 'let typed: = 6;\n' >bad.ts
printf '.load load.ts\n.load bad.ts\n' | repl
out_has '^7$'
out_has '^Failed to load: '
printf '.help\n.exit\n1\n' | repl
out_has '^\.load +Run'
out_lacks '^1$'
ran='process.exit'
status=0
echo 'process.exit(3)' | "$weft" repl >/dev/null || status=$?
[ "$status" -eq 3 ] || fail "status $status instead of 3"

# ---- Input that is not as it should be ----
printf '"\xff\xfe"\n"a\0b"\n\0\n1' | repl
out_has "^'a.x00b'\$"
[ "$(tail -n 1 "$scratch/out")" = 1 ] || fail "the last line has no end, and is not run"
printf 'let x = {\n  a: 1,' | repl
out_is 'Uncaught SyntaxError: Unexpected end of input'
printf '`open' | repl
out_is 'Uncaught SyntaxError: Unexpected end of input'
printf '' | repl
out_is ''
printf '1\r\n2\r\n' | repl
out_is '1
2'
awk 'BEGIN { for (i = 0; i < 100000; i++) printf "1+"; print "1" }' | repl
out_is 100001
awk 'BEGIN { for (i = 0; i < 100000; i++) printf "("; print "" }' | repl
out_has '^Uncaught RangeError'
"$weft" repl <&- >"$scratch/out" 2>&1 || true # no input at all: no crash
ran='weft repl --max-run'
printf 'for (;;);\n"goes on"\n' | repl --max-run 50ms
out_has '^Uncaught InternalError: .*50 ms'
out_has "^'goes on'\$"
printf 'let list = []; for (;;) list.push(new Array(1000).fill(0))\nlist = 0; "goes on"\n' | repl --max-memory 32m
out_has "^'goes on'\$"
misuse "$weft" repl file.js
err_has 'weft run file.js'
misuse "$weft" repl --workers x
echo "all as it should be"
