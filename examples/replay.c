/* SPDX-License-Identifier: MIT
 *
 * examples/replay.c - a mistake that depends on the order of fibers becomes a number.
 *
 *     replay [SEED]
 *
 * Two customers draw from one account. Each looks whether there is enough, asks whether the clerk is back, and takes the
 * money: in most orders that goes well. The program tries seeds until one shows the mistake and runs that one again: it
 * goes wrong in the same way every time. The clerk's hour takes no time at all, because time is virtual. From outside the
 * same works for any program: WEFT_SEED=17 ./program.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <weft.h>

static int account;
static weft_fiber clerk;

static void *have_lunch(void *arg) {
    if (weft_sleep(weft_after(3600 * WEFT_SECOND)) != 0)
        weft_panic("no memory for a timer");
    return arg;
}

static void *draw(void *arg) {
    if (account >= 60) {
        weft_join(clerk, NULL, WEFT_NOW); /* the mistake: a call that may block, between the look and the act */
        account -= 60;
    }
    return arg;
}

static int app(void *arg) {
    weft_fiber customers[2];
    (void)arg;
    account = 100;
    if (weft_spawn(&clerk, have_lunch, NULL) != 0)
        weft_fatal("cannot spawn the clerk");
    for (int i = 0; i < 2; i++)
        if (weft_spawn(&customers[i], draw, NULL) != 0)
            weft_fatal("cannot spawn a customer");
    for (int i = 0; i < 2; i++)
        weft_join(customers[i], NULL, WEFT_NEVER);
    weft_join(clerk, NULL, WEFT_NEVER);
    return account < 0 ? 1 : 0;
}

static int run_with(uint64_t seed) {
    weft_options options = {.replay_seed = seed};
    return weft_run(&options, app, NULL);
}

int main(int argc, char **argv) {
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
    if (seed) {
        int outcome = run_with(seed);
        printf("seed %" PRIu64 ": the account holds %d\n", seed, account);
        return outcome;
    }
    while (run_with(++seed) == 0)
        if (seed == 1000)
            return 1;
    printf("seed %" PRIu64 " takes the account to %d; again:", seed, account);
    for (int i = 0; i < 5; i++)
        printf(" %d", run_with(seed) == 1 ? account : 0);
    printf("\n");
    return run_with(seed) == 1 ? 0 : 1;
}
