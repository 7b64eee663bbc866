#!/usr/bin/env bash
# WEFT_SEED from outside: separate processes, at addresses that differ, write the same words 100 times out of 100; other
# seeds write others; a wrong order is found within 1,000 seeds and stays found; nonsense is refused.
set -euo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fail() {
    echo "replay: $*"
    exit 1
}

cat >"$scratch/diary.c" <<'END'
#include <stdio.h>
#include <string.h>
#include <weft.h>

static int order[6];
static int next;

static void *live(void *arg) {
    int number = (int)(intptr_t)arg;
    for (int i = 0; i < 4; i++) {
        printf("%d at %lld\n", number, (long long)weft_now());
        if ((i + number) % 3 == 0)
            weft_yield();
        else
            weft_sleep(weft_after((number % 4) * WEFT_SECOND));
    }
    order[next++] = number;
    return NULL;
}

static int app(void *arg) {
    weft_fiber fibers[6];
    (void)arg;
    for (intptr_t i = 0; i < 6; i++)
        weft_spawn(&fibers[i], live, (void *)i);
    for (int i = 0; i < 6; i++)
        weft_join(fibers[i], NULL, WEFT_NEVER);
    return order[0] == 4 && order[1] == 0 && order[2] == 5 ? 3 : 0;
}

int main(void) {
    return weft_run(NULL, app, NULL);
}
END
"${CC:-cc}" -O1 -I"$WEFT_SOURCE_DIR/include" "$scratch/diary.c" -o "$scratch/diary" "$WEFT_BUILD_DIR/libweft.a" \
    -lpthread -ldl

diary() { # SEED: what it wrote
    WEFT_SEED=$1 "$scratch/diary" || [ $? -eq 3 ]
}

first=$(diary 42)
[ "$(wc -l <<<"$first")" -eq 24 ] || fail "the program wrote something else: $first"
for _ in $(seq 100); do
    [ "$(diary 42)" = "$first" ] || fail "two runs of one seed differ"
done
[ "$(WEFT_WORKERS=8 diary 42)" = "$first" ] || fail "the number of workers changes a run"
[ "$(diary 43)" != "$first" ] || fail "two seeds give the same run"

found=
for seed in $(seq 1000); do
    status=0
    WEFT_SEED=$seed "$scratch/diary" >/dev/null || status=$?
    if [ "$status" -eq 3 ]; then
        found=$seed
        break
    fi
    [ "$status" -eq 0 ] || fail "seed $seed ended with status $status"
done
[ -n "$found" ] || fail "no seed of 1,000 shows the rare order"
for _ in $(seq 100); do
    status=0
    WEFT_SEED=$found "$scratch/diary" >/dev/null || status=$?
    [ "$status" -eq 3 ] || fail "seed $found does not show it again"
done

for wrong in 0 -1 seven '' 1x 18446744073709551616; do
    if WEFT_SEED=$wrong "$scratch/diary" >"$scratch/out" 2>"$scratch/err"; then
        fail "WEFT_SEED='$wrong' was taken"
    fi
    grep -q WEFT_SEED "$scratch/err" || fail "nothing was said about WEFT_SEED='$wrong'"
done
echo "the rare order comes with seed $found"
