#!/usr/bin/env bash
# The shared library shows weft_* and nothing else, carries its version, and is hardened.
set -euo pipefail
library=$WEFT_BUILD_DIR/libweft.so
[ -f "$library" ] || { echo "no $library"; exit 1; }

fail() {
    echo "libweft.so: $*"
    exit 1
}

shown=$(nm --dynamic --defined-only --format=posix "$library" | awk '$2 != "A" { sub(/@.*/, "", $1); print $1 }')
[ -n "$shown" ] || fail "shows no symbol at all"
strange=$(grep -v '^weft_' <<<"$shown" || true)
[ -z "$strange" ] || fail "shows more than weft_*:" $strange
grep -q '@@WEFT_0$' <<<"$(nm --dynamic --defined-only "$library")" || fail "symbols carry no version"

dynamic=$(readelf --wide --dynamic "$library")
grep -q 'SONAME.*\[libweft.so.0\]' <<<"$dynamic" || fail "not named libweft.so.0"
grep -qE 'BIND_NOW|FLAGS.*NOW' <<<"$dynamic" || fail "binds lazily: RELRO is partial"
grep -q TEXTREL <<<"$dynamic" && fail "has text relocations"

segments=$(readelf --wide --segments "$library")
grep -q GNU_RELRO <<<"$segments" || fail "no RELRO"
grep -qE 'GNU_STACK.* RW +0x' <<<"$segments" || fail "executable stack"
grep -qE 'LOAD.* RWE ' <<<"$segments" && fail "memory both writable and executable"
echo "$(wc -l <<<"$shown") symbols"
