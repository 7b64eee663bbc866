#!/usr/bin/env bash
# weft run for scripts: texts, standard input, checks, import maps, limits; what is said about errors that nobody catches, and the
# exit status. Where Node is the yardstick, this is what Node 20 does.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/cli_support.bash"
"$weft" run -e '' 2>/dev/null || exit 77 # JavaScript is not part of this build
export NO_COLOR=1
cd "$scratch/tmp"
err_is() { [ "$(cat "$scratch/err")" = "$1" ] || fail "standard error is not: $1"; }
try_input() { # TEXT STATUS COMMAND...
    printf '%s' "$1" >"$scratch/in"
    shift
    try "$@" <"$scratch/in"
}

# ---- Texts ----
try 0 "$weft" run -p '1 + 1'
out_is 2
try 0 "$weft" run -pe '[1, { a: Promise.resolve(4) }]'
out_is '[ 1, { a: Promise { 4 } } ]'
try 0 "$weft" run --print --eval 'process.argv.slice(1)' a -b
out_is "[ 'a', '-b' ]"
try 0 "$weft" run -p 'undefined'
out_is undefined
try 0 "$weft" run -p '[__filename, __dirname, typeof require, typeof module, typeof exports, path.sep, this === globalThis]'
out_is "[ '[eval]', '.', 'function', 'object', 'object', '/', true ]"
try 0 "$weft" run -e 'const { readFileSync } = require("fs"); console.log(typeof readFileSync)'
out_is function
try 0 "$weft" run -e 'import fs from "node:fs"; console.log(typeof fs.readFileSync, import.meta.url, import.meta.dirname)'
out_is "function file://$PWD/[eval1] $PWD"
try 0 "$weft" run -e 'console.log(await Promise.resolve(5))'
out_is 5
try 0 "$weft" run --input-type=module -e 'console.log(this, typeof require)'
out_is 'undefined undefined'
try 1 "$weft" run --input-type=commonjs -e 'import "fs"'
err_has SyntaxError
try 1 "$weft" run -p 'await 5'
err_has 'Error \[ERR_EVAL_ESM_CANNOT_PRINT\]: --print cannot be used with ESM input'
try 0 "$weft" run -p 'process.execArgv' x
out_is "[ '--print' ]"
echo 'export default "beside";' >beside.mjs
try 0 "$weft" run -e 'import("./beside.mjs").then((it) => console.log(it.default))'
out_is beside
try_input 'console.log(process.argv.slice(1), __filename)' 0 "$weft" run - x y
out_is "[ '-', 'x', 'y' ] [stdin]"
try_input 'import value from "./beside.mjs"; console.log(value)' 0 "$weft" run -
out_is beside
try_input '' 0 "$weft" run -
out_is ''
try_input '6 * 7' 0 "$weft" run --print -
out_is 42
try_input $'"\xc3\xa4\\0".length' 0 "$weft" run -p -
out_is 2
misuse "$weft" run --input-type=x -e ''
err_has "not 'x'"
for option in --max-memory --max-stack --max-run --workers; do
    for value in x -1 0 1x 1.5.5 ''; do
        misuse "$weft" run "$option" "$value" -e ''
        err_has -- "$option takes"
    done
done
misuse "$weft" run --max-stack 1k -e ''
misuse "$weft" run -e
err_has 'needs a value'

# ---- Files: with and without an ending, with a first line for the shell, linked ----
printf '#!/usr/bin/env -S weft run\nconsole.log("shell", new Error("x").stack.split("\\n")[1])\n' >tool
chmod +x tool
try 0 "$weft" run tool
out_is "shell     at $PWD/tool:2:22"
echo 'console.log(process.argv[1], require.main === module)' >main.cjs
try 0 "$weft" run main.cjs
out_is "$PWD/main.cjs true"
try 1 "$weft" run nowhere.js
err_has "Error: Cannot find module '$PWD/nowhere.js'"
mkdir folder
try 1 "$weft" run folder
err_has 'is a directory'

# ---- Checks ----
printf 'let a = 1;\nlet a = 2;\n' >twice.cjs
printf 'import "./nowhere.mjs";\nthrow new Error("not run");\n' >imports.mjs
printf 'export default 1;\nlet b = = 2;\n' >equals.mjs
printf 'return 5\n' >returns.cjs
try 0 "$weft" run --check imports.mjs
out_is ''
try 0 "$weft" run -c returns.cjs
try 1 "$weft" run --check equals.mjs
err_has "^file://$PWD/equals.mjs:2\$"
err_has '^let b = = 2;$'
err_has '^        \^$'
err_has "^SyntaxError: Unexpected token '='"
try 1 "$weft" run -c twice.cjs
err_has "^$PWD/twice.cjs:2\$"
try_input 'let x = ;' 1 "$weft" run --check -
err_has '^\[stdin\]:1$'
try 1 "$weft" run --check nowhere.js

# ---- What nobody catches ----
cat >inner.cjs <<'END'
function inner(x) {
    throw new TypeError('bad ' + x, { cause: new Error('why') });
}
inner(1);
END
try 1 "$weft" run inner.cjs
head -n 6 "$scratch/err" >"$scratch/head"
[ "$(cat "$scratch/head")" = "$PWD/inner.cjs:2
    throw new TypeError('bad ' + x, { cause: new Error('why') });
    ^

TypeError: bad 1
    at inner ($PWD/inner.cjs:2:11)" ] || fail "the error of inner.cjs is shown otherwise"
err_has "^  \[cause\]: Error: why\$"
err_has "^      at inner \($PWD/inner.cjs:2:46\)"
printf 'const o = {};\n\tsetTimeout(() => o.nope.there, 1);\n' >tab.mjs
tab=$(printf '\t')
try 1 "$weft" run tab.mjs
head -n 3 "$scratch/err" >"$scratch/head"
[ "$(cat "$scratch/head")" = "file://$PWD/tab.mjs:2
${tab}setTimeout(() => o.nope.there, 1);
${tab}                        ^" ] || fail "the mark is not below its place"
printf 'const \xc3\xa4\xc3\xb6\xc3\xa9 = 1; null.x;\n' >wide.mjs
try 1 "$weft" run wide.mjs
sed -n 3p "$scratch/err" >"$scratch/head"
[ "$(cat "$scratch/head")" = "                    ^" ] || fail "the mark does not count letters: $(cat "$scratch/head")"
try 1 "$weft" run -e 'throw { a: 1 }'
[ "$(head -n 4 "$scratch/err")" = $'[eval]:1\nthrow { a: 1 }\n^\n{ a: 1 }' ] || fail "a thrown object is shown otherwise"
try 1 "$weft" run -e 'throw null'
err_has '^null$'
try 1 "$weft" run -e 'Promise.reject(new Error("no"))'
err_has '^Error: no$'
try 1 "$weft" run -e 'Promise.reject(5)'
err_has 'rejected with the reason "5"'
try 1 "$weft" run -e 'require("weft:go").go(function outer() { (function inner() { throw new Error("fiber"); })(); })'
err_has '    at inner \(\[eval\]:1:[0-9]+\)'
err_has '    at outer \(\[eval\]:1:[0-9]+\)'
printf 'import { nope } from "node:fs";\n' >names.mjs
try 1 "$weft" run names.mjs
err_has "^file://$PWD/names.mjs:1\$"
err_has "^SyntaxError: The requested module 'node:fs' does not provide an export named 'nope'\$"
printf 'import "./equals.mjs";\n' >through.mjs
try 1 "$weft" run through.mjs
err_has "^file://$PWD/equals.mjs:2\$"
awk 'BEGIN { for (i = 0; i < 5000; i++) printf "let v%d = %d; ", i, i; print "null.x" }' >long.js
try 1 "$weft" run long.js
[ "$(awk '{ if (length($0) > most) most = length($0) } END { print most }' "$scratch/err")" -lt 400 ] || fail "a long line is not cut"
try 7 "$weft" run -e 'process.on("uncaughtException", () => { throw new Error("again"); }); throw new Error("first")'
err_has '^Error: again$'
printf 'await new Promise(() => {});\n' >never.mjs
try 13 "$weft" run never.mjs
err_has "^Warning: Detected unsettled top-level await at file://$PWD/never.mjs"
try 13 "$weft" run -e 'process.exit(13)'
err_is ''
try 3 "$weft" run -e 'process.exitCode = 3; setTimeout(() => {}, 1)'
try 0 "$weft" run -e 'process.on("uncaughtException", (error) => console.log(error.message)); throw new Error("seen")'
out_is seen

# ---- Import maps ----
mkdir -p lib/deep
echo 'export default "one";' >lib/one.mjs
echo 'export default "two";' >lib/deep/two.mjs
echo 'import value from "name"; export default value;' >lib/scoped.mjs
cat >map.json <<'END'
{
  "imports": {
    "name": "./lib/one.mjs", "lib/": "./lib/", "lib/deep/": "./lib/deep/", "fs": "./lib/one.mjs", "files": "node:fs",
    "blocked": null, "lib/blocked/": null, "./moved.mjs": "./lib/one.mjs", "bare": "lib/one.mjs", "slash/": "./lib",
    "inline": "data:text/javascript,export default 'inline'", "missing": "./lib/missing.mjs", "remote": "https://example.com/x.js"
  },
  "scopes": { "./lib/": { "name": "./lib/deep/two.mjs" } }
}
END
cat >maps.mjs <<'END'
for (const name of process.argv.slice(2)) {
    try {
        console.log(name, (await import(name)).default?.name ?? (await import(name)).default);
    } catch (error) {
        console.log(name, error.name, error.code, error.message.replaceAll(import.meta.dirname, 'HERE'));
    }
}
END
try 0 "$weft" run --import-map map.json maps.mjs name lib/one.mjs lib/deep/two.mjs ./lib/scoped.mjs ./moved.mjs inline fs lib/../maps.mjs
out_is "name one
lib/one.mjs one
lib/deep/two.mjs two
./lib/scoped.mjs two
./moved.mjs one
inline inline
fs one
lib/../maps.mjs TypeError ERR_IMPORT_MAP Cannot resolve \"lib/../maps.mjs\": the import map's entry \"lib/\" does not let \"../maps.mjs\" lead out of file://HERE/lib/"
err_has 'the address "lib/one.mjs" of "bare" is no URL'
err_has 'the address "./lib" of "slash/" must end with a slash'
try 0 "$weft" run --import-map=map.json maps.mjs blocked lib/blocked/x bare slash/x missing remote other
out_is "blocked TypeError ERR_IMPORT_MAP Cannot resolve \"blocked\": the import map's entry \"blocked\" is blocked by null
lib/blocked/x TypeError ERR_IMPORT_MAP Cannot resolve \"lib/blocked/x\": the import map's entry \"lib/blocked/\" is blocked by null
bare TypeError ERR_IMPORT_MAP Cannot resolve \"bare\": the import map's entry \"bare\" is blocked by null
slash/x TypeError ERR_IMPORT_MAP Cannot resolve \"slash/x\": the import map's entry \"slash/\" is blocked by null
missing Error ERR_MODULE_NOT_FOUND Cannot find module 'HERE/lib/missing.mjs' imported from HERE/maps.mjs
remote Error ERR_UNSUPPORTED_ESM_URL_SCHEME Only URLs with a scheme in: file, data, and node are supported by the default ESM loader. Received protocol 'https:'
other Error ERR_MODULE_NOT_FOUND Cannot find package 'other' imported from HERE/maps.mjs"
mkdir inside && cp maps.mjs inside/
printf '{ "importmap": { "imports": { "name": "../lib/one.mjs" } } }' >inside/package.json
try 0 "$weft" run inside/maps.mjs name
out_is 'name one'
printf '{ "importmap": "../map.json" }' >inside/package.json
try 0 "$weft" run inside/maps.mjs lib/deep/two.mjs
out_is 'lib/deep/two.mjs two'
for text in '{' '[]' '{ "imports": [] }' '{ "scopes": { "./": 5 } }' '5'; do
    printf '%s' "$text" >wrong.json
    try 1 "$weft" run --import-map wrong.json maps.mjs
    err_has 'wrong.json: |ERR_INVALID_IMPORT_MAP'
done
try 1 "$weft" run --import-map nowhere.json maps.mjs
err_has ENOENT

# ---- Limits ----
try 1 "$weft" run --max-memory 32m -e 'const list = []; for (;;) list.push(new Array(1000).fill(0))'
err_has 'InternalError: out of memory'
err_has '    at .*\[eval\]:1:'
try 0 "$weft" run --max-memory 32m -e 'const list = []; try { for (;;) list.push(list.concat([1])); } catch (error) { list.length = 0; console.log(error.name) }'
out_is InternalError
try 1 "$weft" run --max-run 50ms -e 'for (;;);'
err_has 'InternalError: .*50 ms'
err_has '\[eval\]:1'
try 0 "$weft" run --max-run 5s -e 'setTimeout(() => console.log("in time"), 10)'
out_is 'in time'
deep='(function deep() { n++; deep(); })'
try 1 "$weft" run -e "let n = 0; $deep()"
err_has 'RangeError: Maximum call stack size exceeded'
try 0 "$weft" run --max-stack 128k -p "let n = 0; try { $deep() } catch {} n"
small=$(cat "$scratch/out")
try 0 "$weft" run --max-stack 64m -p "let n = 0; try { $deep() } catch {} n"
[ "$(cat "$scratch/out")" -gt $((20 * small)) ] || fail "--max-stack 64m is not deeper than 128k ($small)"
try 0 "$weft" run --workers 1 -e 'require("weft:go").go(() => console.log("one worker"))'
out_is 'one worker'
echo "all as it should be"
