#!/usr/bin/env bash
# An installed tree is enough: a program outside builds against it by pkg-config and by CMake, shared and static, and
# runs; also one with JavaScript inside, where weft has that. The tree is moved once in between, because nothing in it may
# remember where it was installed.
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
by_pkg_config() { # MODULE SOURCE
    local cflags shared static
    read -ra cflags <<<"$(pkg-config --cflags "$1")"
    read -ra shared <<<"$(pkg-config --libs "$1")"
    read -ra static <<<"$(pkg-config --static --libs "$1")"
    "$CC" -Wall -Werror "${cflags[@]}" "$outside/$2" -o "$scratch/shared" "${shared[@]}"
    expect "pkg-config $1, shared" env LD_LIBRARY_PATH="$library" "$scratch/shared"
    "$CC" -Wall -Werror "${cflags[@]}" "$outside/$2" -o "$scratch/static" -static "${static[@]}"
    expect "pkg-config $1, static" "$scratch/static"
}
by_pkg_config weft program.c
[ ! -f "$library/libweft-js.so" ] || by_pkg_config weft-js script.c

cmake -S "$outside" -B "$scratch/build" -DCMAKE_C_COMPILER="$CC" -DCMAKE_PREFIX_PATH="$scratch/prefix" >/dev/null
cmake --build "$scratch/build" >/dev/null
expect "find_package, shared" "$scratch/build/with_shared"
expect "find_package, static" "$scratch/build/with_static"
if [ -f "$library/libweft-js.so" ]; then
    expect "find_package, js, shared" "$scratch/build/script_shared"
    expect "find_package, js, static" "$scratch/build/script_static"
    for file in doc/weft/LICENSE.quickjs weft/types/go.d.ts; do
        [ -f "$scratch/prefix/share/$file" ] || { echo "not installed: $file"; exit 1; }
    done
fi

for file in share/doc/weft/LICENSE include/weft.h; do
    [ -f "$scratch/prefix/$file" ] || { echo "not installed: $file"; exit 1; }
done
if grep -rIl "$WEFT_SOURCE_DIR" "$scratch/prefix"; then
    echo "installed files name the source tree"
    exit 1
fi
