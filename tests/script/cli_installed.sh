#!/usr/bin/env bash
# The installed command finds the installed library, wherever the tree was moved to, and a new project builds against it
# with make and with CMake, and is told where to look when there is no library at all.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/cli_support.bash"
for tool in cmake make pkg-config; do
    command -v "$tool" >/dev/null || exit 77
done
cmake --install "$WEFT_BUILD_DIR" --prefix "$scratch/first" >/dev/null || fail "cmake --install does not work"
mv "$scratch/first" "$scratch/moved"
weft=$scratch/moved/bin/weft
[ -x "$weft" ] || fail "no weft command was installed"
pc=$(find "$scratch/moved" -name weft.pc)
[ -n "$pc" ] || fail "no weft.pc was installed"
cd "$scratch"

for file in man/man1/weft.1 bash-completion/completions/weft zsh/site-functions/_weft \
    fish/vendor_completions.d/weft.fish; do
    [ -f "$scratch/moved/share/$file" ] || fail "not installed: share/$file"
done

try 0 "$weft" new project
try 0 "$weft" run --print project/main.c
out_has "-I$scratch/moved/include "
out_has " $scratch/moved/lib[^ ]*/libweft\.a "
out_lacks "$WEFT_BUILD_DIR/"
try 0 "$weft" run project/main.c 100
out_is '25 primes below 100, counted by 16 fibers'
try 0 "$weft" doctor
out_has "library +$scratch/moved/lib"

export PKG_CONFIG_PATH=${pc%/*}
try 0 make -C project run
out_has '^78498 primes below 1000000'
try 0 cmake -S project -B project/build -DCMAKE_PREFIX_PATH="$scratch/moved" ${CC:+-DCMAKE_C_COMPILER="$CC"}
try 0 cmake --build project/build
try 0 project/build/project 100
out_is '25 primes below 100, counted by 16 fibers'

# The command alone, far from its library: pkg-config helps; without it the message says where it looked.
mkdir -p alone/bin
cp "$weft" alone/bin/
try 0 alone/bin/weft run project/main.c 100
out_is '25 primes below 100, counted by 16 fibers'
export PKG_CONFIG_PATH=$scratch/nowhere PKG_CONFIG_LIBDIR=$scratch/nowhere
try 0 alone/bin/weft doctor
if grep -qE '^  ok +library' "$scratch/out"; then
    out_lacks "library +$scratch/"
    echo "another weft is installed in the usual place; that one was found"
else
    out_has '^  missing +library '
    try 1 alone/bin/weft run project/main.c
    err_has "^weft: cannot find weft\.h and libweft: looked in $scratch/alone, .* and pkg-config"
fi
echo "installed, moved, found"
