#!/usr/bin/env bash
# tools/weft-gdb.py sees fibers: a thousand that are parked, live and in a core file, static and shared library.
#
# Compiles tests/gdb/many.c, lists all fibers and takes the backtraces of all; every function and every wait reason has
# to be there. The core file is the kernel's, of an abort. Exit status 77 when there is no gdb, when it has no Python or
# when it may not trace here; where no core file comes out, that part is left out and said so.
set -euo pipefail

command -v gdb >/dev/null || { echo "no gdb"; exit 77; }
gdb -q -nx -batch -ex "python print(1)" 2>/dev/null | grep -q '^1$' || { echo "gdb has no Python"; exit 77; }
: "${WEFT_BUILD_DIR:?}" "${WEFT_SOURCE_DIR:?}"
script=$WEFT_SOURCE_DIR/tools/weft-gdb.py
[ -e "$WEFT_BUILD_DIR/libweft.a" ] || { echo "no libweft.a"; exit 77; }

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
build() {
    ${CC:-cc} -g -O1 -I"$WEFT_SOURCE_DIR/include" "$WEFT_SOURCE_DIR/tests/gdb/many.c" "$@" -pthread -ldl
}
build "$WEFT_BUILD_DIR/libweft.a" -o static
if [ -e "$WEFT_BUILD_DIR/libweft.so" ]; then
    build -L"$WEFT_BUILD_DIR" -lweft -Wl,-rpath,"$WEFT_BUILD_DIR" -o shared
fi

look=(-ex "source $script" -ex "echo LIST\\n" -ex "info fibers" -ex "echo FRAMES\\n" -ex "fiber all bt"
    -ex "echo DONE\\n")
debug() {
    timeout 100 gdb -q -nx -batch -iex "set debuginfod enabled off" -ex "set pagination off" -ex "set confirm off" \
        -ex "set width 0" "$@" >out 2>&1 </dev/null || true
    if grep -qE "ptrace: Operation not permitted|Cannot.*ptrace|Could not trace" out; then
        echo "gdb may not trace here"
        exit 77
    fi
}

fail() {
    echo "FAILED: $1"
    head -c 6000 out
    exit 1
}

# expect NUMBER PATTERN FROM TO: so many lines between the marks match
expect() {
    local found
    found=$(sed -n "/^$3\$/,/^$4\$/p" out | grep -cE "$2" || true)
    [ "$found" -eq "$1" ] || fail "$what: $found lines with $2, not $1"
}

check() {
    what=$1
    grep -q '^DONE$' out || fail "$what: the script did not come to its end"
    expect 500 ' parked +entry_of_joiner +join[0-9]+ +join on 0x[0-9a-f]+ for [0-9.]+ s$' LIST FRAMES
    expect 500 ' parked +entry_of_sleeper +(-|sleep[0-9]+) +sleep for [0-9.]+ s$' LIST FRAMES
    expect 1 ' running +first ' LIST FRAMES
    expect 500 '^#[0-9]+ .*in entry_of_joiner ' FRAMES DONE
    expect 2000 '^#[0-9]+ .*in join_deep ' FRAMES DONE
    expect 500 '^#[0-9]+ .*weft_join ' FRAMES DONE
    expect 500 '^#[0-9]+ .*in entry_of_sleeper ' FRAMES DONE
    expect 1500 '^#[0-9]+ .*in sleep_deep ' FRAMES DONE
    expect 500 '^#[0-9]+ .*weft_sleep ' FRAMES DONE
    expect 1 '^#[0-9]+ .*in first ' FRAMES DONE
    if grep -qiE 'Backtrace stopped|corrupt stack|Python Exception|Error occurred' out; then
        fail "$what: an error in the list"
    fi
    echo "$what: all fibers, their reasons and their frames are there"
}

export WEFT_WORKERS=2
ulimit -c unlimited 2>/dev/null || true
for program in static shared; do
    [ -x $program ] || continue
    debug -ex "break all_are_parked" -ex run "${look[@]}" -ex kill ./$program
    check "$program, live"
    rm -f core core.*
    (./$program >/dev/null 2>&1) 2>/dev/null || true
    core=$(find . -maxdepth 1 -name 'core*' | head -1)
    if [ -z "$core" ]; then
        echo "$program: no core file comes out here; left out"
        continue
    fi
    debug "${look[@]}" ./$program "$core"
    check "$program, core file"
done
