#!/usr/bin/env bash
# The shared libraries show what is theirs, weft_* or weft_js_*, and nothing else, carry their version, and are hardened.
set -euo pipefail

look_at() { # LIBRARY PREFIX VERSION
    local name=$1 library=$WEFT_BUILD_DIR/$1 shown strange dynamic segments
    fail() {
        echo "$name: $*"
        exit 1
    }
    shown=$(nm --dynamic --defined-only --format=posix "$library" | awk '$2 != "A" { sub(/@.*/, "", $1); print $1 }')
    [ -n "$shown" ] || fail "shows no symbol at all"
    strange=$(grep -v "^$2" <<<"$shown" || true)
    [ -z "$strange" ] || fail "shows more than $2*:" $strange
    grep -q "@@$3\$" <<<"$(nm --dynamic --defined-only "$library")" || fail "symbols carry no version"

    dynamic=$(readelf --wide --dynamic "$library")
    grep -q "SONAME.*\[$name.0\]" <<<"$dynamic" || fail "not named $name.0"
    grep -qE 'BIND_NOW|FLAGS.*NOW' <<<"$dynamic" || fail "binds lazily: RELRO is partial"
    grep -q TEXTREL <<<"$dynamic" && fail "has text relocations"

    segments=$(readelf --wide --segments "$library")
    grep -q GNU_RELRO <<<"$segments" || fail "no RELRO"
    grep -qE 'GNU_STACK.* RW +0x' <<<"$segments" || fail "executable stack"
    grep -qE 'LOAD.* RWE ' <<<"$segments" && fail "memory both writable and executable"
    echo "$name: $(wc -l <<<"$shown") symbols"
}

[ -f "$WEFT_BUILD_DIR/libweft.so" ] || { echo "no libweft.so"; exit 1; }
look_at libweft.so weft_ WEFT_0
[ ! -f "$WEFT_BUILD_DIR/libweft-js.so" ] || look_at libweft-js.so weft_js_ WEFT_JS_0
