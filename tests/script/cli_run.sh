#!/usr/bin/env bash
# weft run: output, arguments, input, status and signals are the program's; mistakes are told apart; the compiler is called
# when something has changed and only then; no file name means more than itself; many may run the same file at once.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/cli_support.bash"
real=$(command -v "${CC:-cc}") || exit 77

# A compiler that leaves a mark for each call, so that calls can be counted.
cat >"$scratch/counting-cc" <<END
#!/bin/sh
echo call >>"$scratch/calls"
exec "$real" "\$@"
END
chmod +x "$scratch/counting-cc"
export CC=$scratch/counting-cc
calls() { # NUMBER: since the last time
    local made=0
    [ ! -f "$scratch/calls" ] || made=$(wc -l <"$scratch/calls")
    rm -f "$scratch/calls"
    [ "$made" -eq "$1" ] || fail "$made calls of the compiler instead of $1"
}
cached() { find "$scratch/cache" -type f ! -name '*.inputs' | wc -l; }
nothing_left() {
    [ -z "$(ls -A "$TMPDIR")" ] || fail "left behind: $(ls -A "$TMPDIR")"
    [ -z "$(find "$scratch/cache" -name 'new-*' 2>/dev/null)" ] || fail "left behind in the cache: a workspace"
}

mkdir "$scratch/src"
cd "$scratch/src"
cat >hello.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <weft.h>

#include "greeting.h"

static void *twice(void *arg) {
    return (void *)(2 * (intptr_t)arg);
}

static int app(void *arg) {
    weft_fiber fiber;
    void *result;
    (void)arg;
    if (weft_spawn(&fiber, twice, (void *)21) != 0 || weft_join(fiber, &result, WEFT_NEVER) != 0)
        return 1;
    printf("%s %d\n", GREETING, (int)(intptr_t)result);
    return 0;
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++)
        printf("[%s]\n", argv[i]);
    int failed = weft_run(NULL, app, NULL);
    return failed ? 99 : argc > 1 ? atoi(argv[1]) : 0;
}
END
echo '#define GREETING "hello"' >greeting.h

# What the program does is what the caller sees.
try 0 "$weft" run hello.c
out_is 'hello 42'
err_is_empty
calls 1
try 7 "$weft" run hello.c 7 'a  b' --help -g ''
out_is $'[7]\n[a  b]\n[--help]\n[-g]\n[]\nhello 42'
calls 0
nothing_left

# The compiler is called again when source, header, options or compiler changed, and not for a path spelled anew.
try 0 "$weft" run hello.c
calls 0
echo '#define GREETING "howdy"' >greeting.h # of the same length
try 0 "$weft" run hello.c
out_is 'howdy 42'
calls 1
echo '#define GREETING "hello"' >greeting.h
try 0 "$weft" run hello.c
out_is 'hello 42'
calls 0
echo '/* longer */' >>hello.c
try 0 "$weft" run hello.c
calls 1
try 0 "$weft" run -O0 hello.c
calls 1
try 0 "$weft" run -g hello.c
calls 1
try 0 "$weft" run -O0 hello.c
calls 0
(cd / && try 0 "$weft" run "$scratch/src/hello.c" && calls 1)
(cd /tmp && try 0 "$weft" run "$scratch/src/hello.c" && calls 0)
mkdir other
cp hello.c other/
echo '#define GREETING "other"' >other/greeting.h
(cd other && try 0 "$weft" run hello.c && out_is 'other 42')
rm -f "$scratch/calls"
touch -d '2 days ago' "$scratch/counting-cc"
try 0 "$weft" run hello.c
calls 1
try 0 "$weft" run --cc "$real" hello.c
calls 0
try 0 "$weft" run --cc="$real" hello.c
out_is 'hello 42'

# Without the cache, everything anew and nothing kept.
before=$(cached)
try 5 "$weft" run --no-cache hello.c 5
out_is $'[5]\nhello 42'
calls 1
try 5 "$weft" run --no-cache hello.c 5
calls 1
[ "$(cached)" -eq "$before" ] || fail "--no-cache changed the cache"
nothing_left
try 0 "$weft" run --no-cache --keep hello.c
err_has '^weft: note: the program is /'
[ -x "$(sed 's/.*the program is //' "$scratch/err")" ] || fail "--keep names no program"

# The command is shown so that a shell can run it, and not run.
rm -f "$scratch/calls"
try 0 "$weft" run --print -O1 -g -D 'NAME=a b' -I. -L. -lm hello.c
calls 0
out_has "counting-cc .*-O1 -g .*'-DNAME=a b' -I\. .*-o hello hello\.c -L\. -lm "
(cd "$TMPDIR" && sed "s| hello\.c | $scratch/src/hello.c |" "$scratch/out" >script && sh ./script && ./hello >said &&
    [ "$(cat said)" = 'hello 42' ]) || fail "what --print prints does not work in a shell"
rm -f "$TMPDIR"/* "$scratch/calls"

# Options reach the compiler.
cat >options.c <<'END'
#include <math.h>
#include <stdio.h>
#include "there.h"
int main(int argc, char **argv) {
    printf("%s %d %.0f %s\n", WORD, THERE, cos(argc - 1.0), argv[0]);
    return 0;
}
END
mkdir inc
echo '#define THERE 3' >inc/there.h
try 0 "$weft" run -D 'WORD="it is"' -Iinc options.c
out_is 'it is 3 1 options'
try 0 "$weft" run --no-cache -D 'WORD="it is"' -I inc -L . -l m options.c
out_is 'it is 3 1 options'
try 1 "$weft" run -D 'WORD="it is"' -Iinc -lno-such-library options.c
err_has 'no-such-library'
rm -f "$scratch/calls"

# Input and signals.
cat >echo.c <<'END'
#include <signal.h>
#include <stdio.h>
int main(int argc, char **argv) {
    for (int c; (c = getchar()) != EOF;)
        putchar(c);
    fflush(stdout);
    if (argc > 1)
        raise(SIGTERM);
    (void)argv;
    return 0;
}
END
for option in --keep --no-cache; do
    echo some words >"$scratch/in"
    try 0 "$weft" run "$option" echo.c <"$scratch/in"
    out_is 'some words'
    try 143 "$weft" run "$option" echo.c die <"$scratch/in"
    out_is 'some words'
    nothing_left
done
# A signal that is sent to weft reaches the program, also where weft only waits for it.
cat >linger.c <<'END'
#include <stdio.h>
#include <unistd.h>
int main(void) {
    alarm(20); /* for the case that the signal does not arrive */
    puts("ready");
    fflush(stdout);
    for (;;)
        pause();
}
END
mkfifo "$scratch/pipe"
for option in --keep --no-cache; do
    "$weft" run "$option" linger.c >"$scratch/pipe" 2>/dev/null &
    pid=$!
    read -r line <"$scratch/pipe"
    [ "$line" = ready ] || fail "linger did not start"
    kill -TERM "$pid"
    status=0
    wait "$pid" || status=$?
    [ "$status" -eq 143 ] || fail "status $status instead of 143 after SIGTERM ($option)"
    nothing_left
done
rm -f "$scratch/calls"

# Mistakes.
echo 'int main(void) { return missing; }' >broken.c
before=$(cached)
try 1 "$weft" run broken.c
out_is_empty
err_has 'broken\.c:1:[0-9]+: error: .*missing'
err_has '^weft: broken\.c does not compile$'
[ "$(cached)" -eq "$before" ] || fail "a broken program went into the cache"
nothing_left
rm -f "$scratch/calls"
try 1 "$weft" run nowhere.c
err_has '^weft: cannot read nowhere\.c: No such file'
try 1 "$weft" run inc
err_has '^weft: .*is a directory'
touch words.txt .c
echo 'process.exitCode = process.argv.length + 4; console.log(process.argv[2])' >app.js
if "$weft" run -e '' 2>/dev/null; then
    try 7 "$weft" run app.js first
    [ "$(cat "$scratch/out")" = first ] || fail "a script does not see its arguments"
    try 3 "$weft" run -e 'process.exit(3)'
    try 1 "$weft" run -e 'throw new Error("one")'
    err_has 'Error: one'
else
    try 1 "$weft" run app.js
    err_has '^weft: .*JavaScript is not part of this build'
fi
try 1 "$weft" run words.txt
err_has '^weft: .*not a C file'
try 1 "$weft" run .c
err_has '^weft: .*not a C file'
misuse "$weft" run
err_has 'which file'
misuse "$weft" run --cc
err_has -- '--cc needs a value'
misuse "$weft" run --sanitize=memory hello.c
err_has "not 'memory'"
try 1 "$weft" run --cc no-such-compiler hello.c
err_has "'no-such-compiler' that --cc names"
try 1 env CC=no-such-compiler "$weft" run hello.c
err_has "'no-such-compiler' that \\\$CC names"
mkdir "$scratch/empty"
try 1 env -u CC PATH="$scratch/empty" "$weft" run hello.c
err_has 'no C compiler here'
calls 0

# Names are only names.
# shellcheck disable=SC2016
for name in 'a b' 'quote"and'\''quote' '$(touch pwned)' '-o' '@file' 'semi;colon' 'new
line'; do
    printf 'int main(int argc, char **argv) { return argv[0] && argc == 2 ? 3 : 4; }\n' >"./$name.c"
    try 3 "$weft" run -- "$name.c" '$(touch pwned)'
    try 3 "$weft" run -- "$name.c" '$(touch pwned)'
    [ ! -e pwned ] || fail "a file name was executed"
done
rm -f "$scratch/calls"

# Many at once, on a program that nobody has compiled yet: all succeed and one copy stays.
sed 's/hello/crowd/' hello.c >crowd.c
pids=()
for i in 1 2 3 4 5 6; do
    "$weft" run crowd.c 3 >"$scratch/crowd.$i" 2>&1 &
    pids+=($!)
done
for pid in "${pids[@]}"; do
    status=0
    wait "$pid" || status=$?
    [ "$status" -eq 3 ] || fail "one of many: status $status"
done
cat "$scratch"/crowd.? | sort -u >"$scratch/crowd"
[ "$(cat "$scratch/crowd")" = $'[3]\nhello 42' ] || fail "one of many said something else: $(cat "$scratch/crowd")"
[ "$(find "$scratch/cache" -name 'crowd-*' | wc -l)" -eq 1 ] || fail "more than one copy in the cache"
nothing_left
rm -f "$scratch/calls"

# A cache that cannot be trusted or made is not used.
chmod 777 "$scratch/cache/weft"
try 0 "$weft" run hello.c
err_has '^weft: note: the program is not kept'
out_is 'hello 42'
calls 1
chmod 700 "$scratch/cache/weft"
try 0 env -u XDG_CACHE_HOME -u HOME "$weft" run hello.c
err_has 'neither XDG_CACHE_HOME nor HOME'
try 0 env -u XDG_CACHE_HOME HOME="$scratch/home" "$weft" run hello.c
[ -d "$scratch/home/.cache/weft" ] || fail "no cache below HOME"
nothing_left

# What nobody used for a month goes; what is in use stays.
touch -d '40 days ago' "$scratch"/cache/weft/*
before=$(cached)
try 0 "$weft" run crowd.c
out_is 'hello 42'
echo 'int main(void) { return 0; }' >fresh.c
try 0 "$weft" run fresh.c
[ "$before" -gt 5 ] || fail "the cache was too empty for this test"
[ "$(cached)" -eq 2 ] || fail "$(cached) programs stay instead of 2"

# A sanitizer finds what it is for.
cat >overflow.c <<'END'
#include <stdlib.h>
int main(int argc, char **argv) {
    char *block = malloc(4);
    block[3 + argc] = 1;
    return argv[0] == block;
}
END
if echo 'int main(void) { return 0; }' | "$real" -x c -fsanitize=address -o "$scratch/probe" - 2>/dev/null; then
    status=0
    "$weft" run --sanitize=address -g overflow.c >"$scratch/out" 2>"$scratch/err" || status=$?
    [ "$status" -ne 0 ] || fail "the address sanitizer found nothing"
    err_has 'AddressSanitizer'
fi
echo "all as it should be"
