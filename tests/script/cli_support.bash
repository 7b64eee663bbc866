# What the scripts about the weft command share; sourced, not run. Gives $weft, a scratch directory with an empty cache,
# and ways to say what is expected. Every expectation that does not hold ends the script with status 1.
# shellcheck shell=bash
set -euo pipefail

for weft in "$WEFT_BUILD_DIR/bin/weft" "$WEFT_BUILD_DIR/weft"; do
    [ ! -x "$weft" ] || break
done
[ -x "$weft" ] || { echo "no weft command in $WEFT_BUILD_DIR"; exit 1; }

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/tmp"
export XDG_CACHE_HOME=$scratch/cache TMPDIR=$scratch/tmp
unset WEFT_WORKERS WEFT_STACK_SIZE WEFT_MAX_FIBERS
ran=""

fail() {
    echo "$*"
    [ -z "$ran" ] || { echo "after: $ran"; head -n 40 "$scratch/out" "$scratch/err"; }
    exit 1
}

# try STATUS COMMAND...: runs it, keeps both outputs for the expectations below, and wants that exit status.
try() {
    local wanted=$1 status=0
    shift
    ran="$*"
    "$@" >"$scratch/out" 2>"$scratch/err" || status=$?
    [ "$status" -eq "$wanted" ] || fail "status $status instead of $wanted"
}

out_has() { grep -qE -- "$1" "$scratch/out" || fail "standard output lacks: $1"; }
err_has() { grep -qE -- "$1" "$scratch/err" || fail "standard error lacks: $1"; }
out_lacks() { ! grep -qE -- "$1" "$scratch/out" || fail "standard output has: $1"; }
err_lacks() { ! grep -qE -- "$1" "$scratch/err" || fail "standard error has: $1"; }
out_is() { [ "$(cat "$scratch/out")" = "$1" ] || fail "standard output is not: $1"; }
out_is_empty() { [ ! -s "$scratch/out" ] || fail "standard output is not empty"; }
err_is_empty() { [ ! -s "$scratch/err" ] || fail "standard error is not empty"; }
# Misuse: status 2, nothing on standard output, every line of the message begins with "weft: ".
misuse() {
    try 2 "$@"
    out_is_empty
    err_has '^weft: '
    ! grep -qv '^weft: ' "$scratch/err" || fail "a line of the message does not begin with 'weft: '"
}
