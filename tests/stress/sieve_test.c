/* SPDX-License-Identifier: MIT
 *
 * stress/sieve_test.c - the prime sieve by a chain of fibers.
 *
 * A source sends the numbers from 2 on; every prime that arrives at the end of the chain adds a filter there that drops
 * its multiples. Each number passes through as many rendezvous as there are primes below its least factor, so nearly
 * all the time is spent in parking and waking. The outcome is compared with a sieve of Eratosthenes.
 */
#include "support/rendezvous.h"
#include "support/run.h"

enum { PRIMES_MAX = 2000, LIMIT = 17400 }; /* the 2,000th prime is 17,389 */

struct filter {
    struct rendezvous *in;
    struct rendezvous out;
    intptr_t prime;
};

static struct filter filters[PRIMES_MAX + 1];
static atomic_int is_enough;

/* Sends until told to stop; then 0, which every filter hands on before it ends. */
static void *source(void *arg) {
    struct rendezvous *out = arg;
    for (intptr_t number = 2; !atomic_load(&is_enough); number++)
        CHECK_EQ(rendezvous_send(out, (void *)number, WEFT_NEVER), 0);
    CHECK_EQ(rendezvous_send(out, NULL, WEFT_NEVER), 0);
    return NULL;
}

static void *filter_main(void *arg) {
    struct filter *filter = arg;
    void *number;
    do {
        CHECK_EQ(rendezvous_receive(filter->in, &number, WEFT_NEVER), 0);
        if ((intptr_t)number % filter->prime != 0 || !number)
            CHECK_EQ(rendezvous_send(&filter->out, number, WEFT_NEVER), 0);
    } while (number);
    return NULL;
}

static bool is_composite[LIMIT];

static int next_prime(int after) {
    do
        after++;
    while (is_composite[after]);
    return after;
}

static void sieve(void) {
    struct rendezvous *in = &filters[0].out;
    long primes = scaled(PRIMES_MAX, 50) < PRIMES_MAX ? scaled(PRIMES_MAX / 4, 50) : PRIMES_MAX;
    int expected = 1;
    void *number;
    CHECK_EQ(weft_go(source, in), 0);
    for (long i = 1; i <= primes; i++) {
        CHECK_EQ(rendezvous_receive(in, &number, WEFT_NEVER), 0);
        expected = next_prime(expected);
        CHECK_EQ((intptr_t)number, expected);
        filters[i] = (struct filter){.in = in, .prime = (intptr_t)number};
        CHECK_EQ(weft_go(filter_main, &filters[i]), 0);
        in = &filters[i].out;
    }
    atomic_store(&is_enough, 1);
    do
        CHECK_EQ(rendezvous_receive(in, &number, WEFT_NEVER), 0);
    while (number);
    printf("    %ld primes, the last is %d\n", primes, expected);
}

TEST(a_chain_of_fibers_finds_the_primes) {
    for (int i = 2; i < LIMIT; i++)
        for (int j = 2 * i; j < LIMIT; j += i)
            is_composite[j] = true;
    run_fibers(sieve);
}
