#!/usr/bin/env bash
# A debugger sees a fiber's stack as it is: every frame down to the fiber's function, and then an end without an error.
#
# Compiles tests/gdb/parked.c against the static library, stops inside a fiber before and after a suspension and looks
# at the backtraces. Exit status 77 when there is no gdb, or when it may not trace here.
set -euo pipefail

command -v gdb >/dev/null || { echo "no gdb"; exit 77; }
: "${WEFT_BUILD_DIR:?}" "${WEFT_SOURCE_DIR:?}"
library=$WEFT_BUILD_DIR/libweft.a
[ -e "$library" ] || { echo "no $library"; exit 77; }

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
${CC:-cc} -g -O1 -I"$WEFT_SOURCE_DIR/include" "$WEFT_SOURCE_DIR/tests/gdb/parked.c" "$library" -pthread -ldl \
    -o "$folder/parked"

WEFT_WORKERS=2 timeout 60 gdb -q -nx -batch -iex "set debuginfod enabled off" -ex "set pagination off" \
    -ex "set confirm off" -ex "break look_here" -ex run -ex "echo FIRST\\n" -ex bt -ex continue -ex "echo SECOND\\n" \
    -ex bt -ex "delete" -ex continue "$folder/parked" >"$folder/out" 2>&1 </dev/null || true
if grep -qE "ptrace: Operation not permitted|Cannot.*ptrace|Could not trace" "$folder/out"; then
    echo "gdb may not trace here"
    exit 77
fi

fail() {
    echo "FAILED: $1"
    cat "$folder/out"
    exit 1
}

# frames FROM TO: the frames between two marks
frames() {
    sed -n "/^$1\$/,/$2/p" "$folder/out" | grep -E '^#[0-9]+ ' || true
}

check() {
    local text=$1 deep=$2
    [ "$(grep -c 'go_down' <<<"$text")" -eq "$deep" ] || fail "not every frame of go_down is there"
    grep -qE '^#0 .*look_here' <<<"$text" || fail "look_here is not on top"
    grep -q 'entry_of_fiber' <<<"$text" || fail "the fiber's function is missing"
}

grep -q '^FIRST$' "$folder/out" || fail "the breakpoint was not reached"
check "$(frames FIRST '^SECOND$')" 4
check "$(frames SECOND 'exited normally')" 2
grep -q 'exited normally' "$folder/out" || fail "the program did not end well"
if grep -qiE 'Backtrace stopped|corrupt stack|previous frame (inner|identical)|Cannot access memory' "$folder/out"; then
    fail "the backtrace does not end cleanly"
fi
echo "backtraces of a fiber are whole"
