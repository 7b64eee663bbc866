#!/usr/bin/env bash
# weft version: the version of the headers it was built from, how it was built, and that a full disk is noticed.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/cli_support.bash"

number=$(awk '/^#define WEFT_VERSION_(MAJOR|MINOR|PATCH) [0-9]/ { printf "%s%s", dot, $3; dot = "." }' \
    "$WEFT_SOURCE_DIR/include/weft/version.h")
[ -n "$number" ] || fail "the header names no version"

try 0 "$weft" version
err_is_empty
[ "$(head -n 1 "$scratch/out")" = "weft $number" ] || fail "the first line is not: weft $number"
out_has '^build +(release|debug)'
out_has '^sanitizer +[a-z]'
out_has '^compiler +(gcc|clang) [0-9]+\.[0-9]+'
out_has "^target +$(uname -m), "
cp "$scratch/out" "$scratch/version"

for spelling in --version -V; do
    try 0 "$weft" "$spelling"
    cmp -s "$scratch/out" "$scratch/version" || fail "$spelling says something else"
done

misuse "$weft" version now
err_has "'now'"
misuse "$weft" version --loud
err_has 'no option --loud'

if [ -w /dev/full ]; then
    status=0
    "$weft" version >/dev/full 2>"$scratch/err" || status=$?
    [ "$status" -eq 1 ] || fail "status $status instead of 1 when the output cannot be written"
    err_has 'cannot write the output'
fi
echo "version $number"
