#!/usr/bin/env bash
# An installed tree is enough: a program outside builds against it by pkg-config and by CMake, shared and static, and
# runs. The tree is moved once in between, because nothing in it may remember where it was installed.
set -euo pipefail
command -v pkg-config >/dev/null || exit 77

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cmake --install "$WEFT_BUILD_DIR" --prefix "$scratch/first" >/dev/null
mv "$scratch/first" "$scratch/prefix"
library=$(dirname "$(find "$scratch/prefix" -name libweft.so)")
outside=$WEFT_SOURCE_DIR/tests/install

expect() { # WHAT COMMAND...
    local what=$1
    shift
    "$@" | grep -q ' works$' || { echo "$what: does not work"; exit 1; }
    echo "$what: ok"
}

export PKG_CONFIG_PATH=$library/pkgconfig
read -ra cflags <<<"$(pkg-config --cflags weft)"
read -ra shared <<<"$(pkg-config --libs weft)"
read -ra static <<<"$(pkg-config --static --libs weft)"
"$CC" -Wall -Werror "${cflags[@]}" "$outside/program.c" -o "$scratch/shared" "${shared[@]}"
expect "pkg-config, shared" env LD_LIBRARY_PATH="$library" "$scratch/shared"
"$CC" -Wall -Werror "${cflags[@]}" "$outside/program.c" -o "$scratch/static" -static "${static[@]}"
expect "pkg-config, static" "$scratch/static"

cmake -S "$outside" -B "$scratch/build" -DCMAKE_C_COMPILER="$CC" -DCMAKE_PREFIX_PATH="$scratch/prefix" >/dev/null
cmake --build "$scratch/build" >/dev/null
expect "find_package, shared" "$scratch/build/with_shared"
expect "find_package, static" "$scratch/build/with_static"

for file in share/doc/weft/LICENSE include/weft.h; do
    [ -f "$scratch/prefix/$file" ] || { echo "not installed: $file"; exit 1; }
done
if grep -rIl "$WEFT_SOURCE_DIR" "$scratch/prefix"; then
    echo "installed files name the source tree"
    exit 1
fi
