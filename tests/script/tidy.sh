#!/usr/bin/env bash
# tools/tidy finds each planted offence, and only those; a clean tree and an empty one pass.
set -euo pipefail
command -v python3 >/dev/null || exit 77

tidy=$WEFT_SOURCE_DIR/tools/tidy
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
opening='/* SPDX-License-Identifier: MIT
 *
 * a file.
 *
 * Says what it is for.
 * Says what stays true.
 */'

fail() {
    echo "tidy: $*"
    exit 1
}

plant() { # FILE: opening comment, then standard input
    mkdir -p "$tree/$(dirname "$1")"
    { echo "$opening"; cat; } >"$tree/$1"
}

catches() { # MESSAGE FILE: the tree has this one finding, in this file; then it goes
    local said
    said=$("$tidy" "$tree") && fail "missed: $1"
    [ "$(wc -l <<<"$said")" -eq 1 ] || fail "more than one finding for: $1"$'\n'"$said"
    grep -qE "^$2:[0-9]+: .*$1" <<<"$said" || fail "expected \"$1\" in $2, got: $said"
    rm "${tree:?}/$2"
}

"$tidy" "$tree" || fail "an empty tree does not pass"

plant src/queue/good.c <<'END'
#include "queue/good.h"

#include <errno.h>

#include "base/list.h"
#include "os/futex.h"
#include "weft/base.h"

/* Returns -errno; errno itself is never read, and atomic_load is not called. */
static struct thing *find(struct thing *in) {
    puts("errno, atomic_load(x), sleep(1)");
    return in;
}
END
plant tests/unit/queue/good_test.c <<'END'
#include "queue/good.h"
static void run(void) {
    weft_sleep(1);
}
END
"$tidy" "$tree" || fail "a clean tree does not pass"

plant src/queue/up.c <<<'#include "sched/engine.h"' && catches 'must not include "sched/engine.h"' src/queue/up.c
plant src/os/side.c <<<'#include "arch/context.h"' && catches 'must not include "arch/context.h"' src/os/side.c
plant src/io/side.c <<<'#include "pool/pool.h"' && catches 'must not include "pool/pool.h"' src/io/side.c
plant src/queue/bare.c <<<'#include "ring.h"' && catches 'layer/file.h' src/queue/bare.c
plant cli/inside.c <<<'#include "sched/engine.h"' && catches 'public headers only' cli/inside.c
plant src/misc/stray.c <<<'int x;' && catches 'not in a folder' src/misc/stray.c
plant src/base/errno.c <<<'static int f(void) { return -errno; }' && catches 'errno outside' src/base/errno.c
plant src/queue/naked.c <<<'static int f(void) { return atomic_load(&x); }' && catches 'atomic operation' src/queue/naked.c
plant src/queue/include.c <<<'#include <stdatomic.h>' && catches 'atomic operation' src/queue/include.c
plant tests/spec/nap_test.c <<<'static void f(void) { usleep(10); }' && catches 'sleeps' tests/spec/nap_test.c
plant src/base/space.c <<<'int x; ' && catches 'white space' src/base/space.c
plant src/base/tab.c <<<$'\tint x;' && catches 'tab' src/base/tab.c
plant src/base/open.c <<<"/* TO""DO: later */" && catches 'issue number' src/base/open.c
plant docs.md <<<"see /""home/somebody/notes" && catches 'path of one machine' docs.md
plant docs.md <<<"fetch from registry"".example.org" && catches 'package host' docs.md

{ printf 'struct thing *long_one(\n    int a) {\n'; printf '    a++;%.0s\n' {1..68}; echo '}'; } | plant src/base/function.c
catches 'function of 71 lines' src/base/function.c
printf 'extern int x;%.0s\n' {1..600} | plant src/base/file.c
catches 'file of 607 lines' src/base/file.c

mkdir -p "$tree/include/weft"
printf '/* SPDX-License-Identifier: MIT\n *\n * a title alone.\n */\n' >"$tree/include/weft/short.h"
catches 'opening comment' include/weft/short.h
printf '/* no licence */\n' >"$tree/include/weft/bare.h"
catches 'SPDX' include/weft/bare.h

printf '#define WEFT_VERSION_%s\n' 'MAJOR 3' 'MINOR 2' 'PATCH 1' | plant include/weft/version.h
printf '# Changes\n\n## 3.2.0\n' >"$tree/CHANGELOG.md"
catches 'version 3.2.1' CHANGELOG.md
printf '# Changes\n\n## 3.2.1 (unreleased)\n\n## 3.2.0\n' >"$tree/CHANGELOG.md"
"$tidy" "$tree" || fail "the right version does not pass"
echo "tidy finds what was planted"
