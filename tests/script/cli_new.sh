#!/usr/bin/env bash
# weft new: the project it makes is complete, builds with make through pkg-config and runs; nothing that exists is touched.
# pkg-config is given a file that describes the build tree; cli_installed.sh does the same with an installed one.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/cli_support.bash"
cd "$scratch"

try 0 "$weft" new first
err_is_empty
out_has 'make run'
[ "$(cd first && echo .[a-z]* *)" = '.gitignore CMakeLists.txt Makefile README.md main.c' ] || fail "made: $(ls -A first)"
! grep -rn '@NAME@' first || fail "a name was not filled in"
grep -q '^project(first ' first/CMakeLists.txt || fail "CMakeLists.txt does not name the project"
! grep -n ' $' first/* || fail "white space at the end of a line"

# Names that cannot be used leave nothing behind.
for name in '' . .. .hidden 1st a/b 'a b' -x 'semi;colon' all test weft "$(printf 'long%.0s' {1..20})"; do
    misuse "$weft" new -- "$name"
    err_has 'cannot use the name'
done
[ "$(ls -A)" = "$(printf '%s\n' err first out tmp)" ] || fail "bad names left something: $(ls -A)"
misuse "$weft" new
misuse "$weft" new two names
err_has "'names'"

# What exists stays as it is; only an empty directory may be filled.
cp -a first copy
try 1 "$weft" new first
err_has '^weft: .*first exists and is not empty'
diff -r first copy || fail "an existing project was changed"
echo text >file
try 1 "$weft" new file
err_has '^weft: file exists and is not a directory'
[ "$(cat file)" = text ] || fail "an existing file was changed"
mkdir empty
try 0 "$weft" new empty
[ -f empty/main.c ] || fail "an empty directory was not filled"
if [ "$(id -u)" -ne 0 ]; then
    mkdir closed
    chmod 500 closed
    try 1 "$weft" new closed
    [ -z "$(ls -A closed)" ] || fail "half a project was left"
    (cd closed && try 1 "$weft" new inner && err_has 'cannot make the directory')
fi

# It is a program.
try 0 "$weft" run first/main.c 1000
out_is '168 primes below 1000, counted by 16 fibers'
try 0 "$weft" run first/main.c 49 # parts of 3, so that primes are at their borders
out_is '15 primes below 49, counted by 16 fibers'
try 0 "$weft" run first/main.c
out_is '78498 primes below 1000000, counted by 16 fibers'
try 2 "$weft" run first/main.c many
err_has '^usage: first '

# It builds with make.
for tool in make pkg-config; do
    command -v "$tool" >/dev/null || { echo "not built: there is no $tool"; exit 0; }
done
mkdir pkgconfig
cat >pkgconfig/weft.pc <<END
libdir=$WEFT_BUILD_DIR
Name: weft
Description: the build tree
Version: 0
Cflags: -I$WEFT_SOURCE_DIR/include
Libs: -L\${libdir} -lweft
END
export PKG_CONFIG_PATH=$scratch/pkgconfig
try 0 make -C first run
out_has '^78498 primes below 1000000'
err_lacks warning
try 0 make -C first CFLAGS='-Wall -Wextra -Werror -pedantic -fsyntax-only' -B
try 0 make -C first clean
[ ! -e first/first ] || fail "make clean leaves the program"
try 2 env PKG_CONFIG_PATH="$scratch/nowhere" PKG_CONFIG_LIBDIR="$scratch/nowhere" make -C first
err_has 'weft'
echo "builds and runs"
