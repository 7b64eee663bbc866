/* SPDX-License-Identifier: MIT
 *
 * examples/philosophers.c - the dining philosophers, in three ways that end well.
 *
 *     philosophers [MEALS]
 *
 * Five sit round a table with a fork between each two, and need both neighbouring forks to eat. If everybody takes the left
 * one first they may all wait for ever. What helps:
 *
 *   ranks      forks are mutexes with ranks, and the lower one is taken first; the library watches that
 *   doorman    a semaphore lets only four of them to the table at once
 *   patience   who does not get the second fork in time puts the first one back and thinks again
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include <weft.h>

enum { SEATS = 5 };

struct table {
    weft_mutex forks[SEATS];
    weft_semaphore doorman;
    int meals;
    void (*dine)(struct table *table, int seat);
    atomic_int eating[SEATS];
    atomic_int eaten, refused;
};

struct philosopher {
    struct table *table;
    int seat;
};

static void must(int error, const char *what) {
    if (error)
        weft_fatal("%s: error %d", what, -error);
}

static void eat(struct table *table, int seat) {
    atomic_store(&table->eating[seat], 1);
    if (atomic_load(&table->eating[(seat + 1) % SEATS]) || atomic_load(&table->eating[(seat + SEATS - 1) % SEATS]))
        weft_fatal("two neighbours eat with one fork");
    weft_yield();
    atomic_store(&table->eating[seat], 0);
    atomic_fetch_add(&table->eaten, 1);
}

static void dine_by_rank(struct table *table, int seat) {
    int left = seat, right = (seat + 1) % SEATS;
    weft_mutex *low = &table->forks[left < right ? left : right], *high = &table->forks[left < right ? right : left];
    must(weft_mutex_lock(low, WEFT_NEVER), "cannot lock");
    must(weft_mutex_lock(high, WEFT_NEVER), "cannot lock");
    eat(table, seat);
    weft_mutex_unlock(high);
    weft_mutex_unlock(low);
}

static void dine_by_doorman(struct table *table, int seat) {
    weft_mutex *left = &table->forks[seat], *right = &table->forks[(seat + 1) % SEATS];
    must(weft_semaphore_acquire(&table->doorman, 1, WEFT_NEVER), "cannot acquire");
    must(weft_mutex_lock(left, WEFT_NEVER), "cannot lock");
    weft_yield(); /* the worst moment: everybody has the left one now */
    must(weft_mutex_lock(right, WEFT_NEVER), "cannot lock");
    eat(table, seat);
    weft_mutex_unlock(right);
    weft_mutex_unlock(left);
    weft_semaphore_release(&table->doorman, 1);
}

static void dine_by_patience(struct table *table, int seat) {
    weft_mutex *left = &table->forks[seat], *right = &table->forks[(seat + 1) % SEATS];
    for (;;) {
        must(weft_mutex_lock(left, WEFT_NEVER), "cannot lock");
        weft_yield();
        int error = weft_mutex_lock(right, weft_after((seat + 1) * 50 * WEFT_MICROSECOND));
        if (!error)
            break;
        if (error != -ETIMEDOUT)
            weft_fatal("cannot lock: error %d", -error);
        weft_mutex_unlock(left);
        atomic_fetch_add(&table->refused, 1);
        weft_yield();
    }
    eat(table, seat);
    weft_mutex_unlock(right);
    weft_mutex_unlock(left);
}

static void *live(void *arg) {
    struct philosopher *philosopher = arg;
    for (int i = 0; i < philosopher->table->meals; i++) {
        weft_yield(); /* thinks */
        philosopher->table->dine(philosopher->table, philosopher->seat);
    }
    return NULL;
}

static int run_table(const char *name, int meals, bool has_ranks, void (*dine)(struct table *table, int seat)) {
    struct table table = {.doorman = WEFT_SEMAPHORE_INIT(SEATS - 1), .meals = meals, .dine = dine};
    struct philosopher philosophers[SEATS];
    weft_fiber fibers[SEATS];
    for (int i = 0; i < SEATS; i++)
        table.forks[i] = (weft_mutex)WEFT_MUTEX_RANKED(has_ranks ? (uint32_t)i + 1 : 0);
    for (int i = 0; i < SEATS; i++) {
        philosophers[i] = (struct philosopher){&table, i};
        must(weft_spawn(&fibers[i], live, &philosophers[i]), "cannot spawn");
    }
    for (int i = 0; i < SEATS; i++)
        must(weft_join(fibers[i], NULL, WEFT_NEVER), "cannot join");
    printf("%s: %d meals, %d forks put back\n", name, table.eaten, table.refused);
    return table.eaten == SEATS * meals ? 0 : 1;
}

static int app(void *arg) {
    int meals = *(int *)arg;
    return run_table("ranks", meals, true, dine_by_rank) | run_table("doorman", meals, false, dine_by_doorman) |
           run_table("patience", meals, false, dine_by_patience);
}

int main(int argc, char **argv) {
    int meals = argc > 1 ? atoi(argv[1]) : 200;
    if (meals < 1) {
        fprintf(stderr, "usage: %s [MEALS]\n", argv[0]);
        return 2;
    }
    return weft_run(NULL, app, &meals);
}
