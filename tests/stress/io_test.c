/* SPDX-License-Identifier: MIT
 *
 * stress/io_test.c - pipes, socket pairs and TCP under readers, writers and closers, by chance.
 *
 * A link is one pair of ends with one writer and some readers, each a fiber or a plain thread. Byte number k of a link has a
 * value that k gives. A single reader can tell that everything comes in order; of several, the sums of what they have read
 * make up what was written. A link ends when its writer closes it, and then nothing may be missing; or when somebody closes it
 * at any moment, and then everybody has to learn of that.
 */
#include "support/io.h"

enum { LINKS = 6, READERS = 3, THREADS_OF_TEN = 2 };

struct link {
    enum io_kind kind;
    weft_fd ends[2];
    int readers;
    long size;
    bool is_cut; /* somebody closes an end before it is over */
    int cut_end;
    uint64_t seed;
    _Atomic long written, got;
    _Atomic uint64_t sum_written, sum_got;
};

static atomic_int unready;
static uint64_t seed;

static unsigned char value_at(long number) {
    return (unsigned char)((uint64_t)number * UINT64_C(2654435761) >> 24);
}

static weft_time some_deadline(uint64_t *random) {
    uint64_t choice = random_below(random, 8);
    return choice == 0 ? WEFT_NOW : choice < 3 ? weft_after((int64_t)random_below(random, 50000)) : WEFT_NEVER;
}

/* ---- The writer ---- */

static ssize_t write_some(struct link *link, const unsigned char *bytes, size_t size, uint64_t *random) {
    weft_fd fd = link->ends[1];
    weft_time deadline = some_deadline(random);
    size_t done = 0, half = size / 2;
    struct iovec parts[] = {{(void *)bytes, half}, {(void *)(bytes + half), size - half}};
    int status;
    switch (random_below(random, 5)) {
    case 0:
        return weft_writev(fd, parts, 2, deadline);
    case 1:
        status = weft_writev_all(fd, parts, 2, &done, deadline);
        return done > 0 || status == 0 ? (ssize_t)done : status;
    case 2:
        status = weft_write_all_done(fd, bytes, size, &done, deadline);
        return done > 0 || status == 0 ? (ssize_t)done : status;
    case 3:
        status = weft_wait_writable(fd, deadline);
        return status ? status : weft_write(fd, bytes, size, WEFT_NOW);
    default:
        return weft_write(fd, bytes, size, deadline);
    }
}

static void *write_link(void *opaque) {
    struct link *link = opaque;
    uint64_t random = link->seed, sum = 0;
    unsigned char bytes[8192];
    long at = 0;
    while (at < link->size) {
        size_t size = 1 + random_below(&random, sizeof bytes - 1);
        if ((long)size > link->size - at)
            size = (size_t)(link->size - at);
        for (size_t i = 0; i < size; i++)
            bytes[i] = value_at(at + (long)i);
        ssize_t written = write_some(link, bytes, size, &random);
        if (written == -ETIMEDOUT) {
            weft_yield();
            continue;
        }
        if (written < 0) {
            CHECK(link->is_cut);
            CHECK(written == -EBADF || written == -EPIPE || written == -ECONNRESET);
            break;
        }
        for (ssize_t i = 0; i < written; i++)
            sum += bytes[i];
        at += written;
    }
    atomic_store(&link->written, at);
    atomic_store(&link->sum_written, sum);
    int status = weft_close(link->ends[1]);
    CHECK(status == 0 || (link->is_cut && status == -EBADF));
    return NULL;
}

/* ---- The readers ---- */

static ssize_t read_some(struct link *link, unsigned char *bytes, size_t size, uint64_t *random) {
    weft_fd fd = link->ends[0];
    weft_time deadline = some_deadline(random);
    size_t done = 0;
    struct iovec parts[] = {{bytes, size / 3}, {bytes + size / 3, size - size / 3}};
    weft_case entry = weft_on_readable(fd);
    ssize_t status;
    switch (random_below(random, 5)) {
    case 0:
        return weft_readv(fd, parts, 2, deadline);
    case 1:
        status = weft_read_full(fd, bytes, size, &done, deadline);
        return done > 0 ? (ssize_t)done : status;
    case 2:
        status = weft_select(&entry, 1, deadline);
        if (status == 0)
            status = entry.status;
        return status ? status : weft_read(fd, bytes, size, WEFT_NOW);
    case 3:
        status = weft_wait_readable(fd, deadline);
        return status ? status : weft_read(fd, bytes, size, WEFT_NOW);
    default:
        return weft_read(fd, bytes, size, deadline);
    }
}

static void *read_link(void *opaque) {
    struct link *link = opaque;
    uint64_t random = link->seed ^ (uintptr_t)&link ^ 0x9e3779b97f4a7c15, sum = 0;
    unsigned char bytes[8192];
    long count = 0;
    for (;;) {
        ssize_t got = read_some(link, bytes, 1 + random_below(&random, sizeof bytes - 1), &random);
        if (got == -ETIMEDOUT) {
            weft_yield();
            continue;
        }
        if (got <= 0) {
            CHECK(got == 0 || (link->is_cut && (got == -EBADF || got == -ECONNRESET)));
            break;
        }
        for (ssize_t i = 0; i < got; i++, count++) {
            if (link->readers == 1)
                CHECK_EQ(bytes[i], value_at(count));
            sum += bytes[i];
        }
    }
    atomic_fetch_add(&link->got, count);
    atomic_fetch_add(&link->sum_got, sum);
    return NULL;
}

/* ---- Links ---- */

struct actor {
    bool is_thread;
    weft_fiber fiber;
    struct on_thread_call thread;
};

static void actor_start(struct actor *actor, weft_fn fn, struct link *link, uint64_t *random) {
    actor->is_thread = random_below(random, 10) < THREADS_OF_TEN;
    if (actor->is_thread)
        on_thread_start(&actor->thread, fn, link);
    else
        SPAWN(&actor->fiber, fn, link);
}

static void actor_join(struct actor *actor) {
    if (actor->is_thread)
        on_thread_finish(&actor->thread);
    else
        JOIN(actor->fiber, NULL);
}

static void cut(struct link *link, uint64_t *random) {
    for (uint64_t i = random_below(random, 200); i > 0; i--)
        weft_yield();
    int status = weft_close(link->ends[link->cut_end]);
    CHECK(status == 0 || (status == -EBADF && link->cut_end == 1));
}

static void check_link(struct link *link) {
    long written = atomic_load(&link->written), got = atomic_load(&link->got);
    CHECK_LE(got, written);
    if (link->is_cut && (link->cut_end == 0 || written < link->size))
        return;
    CHECK_EQ(written, link->size);
    CHECK_EQ(got, written);
    CHECK_EQ(atomic_load(&link->sum_got), atomic_load(&link->sum_written));
}

static void *run_link(void *opaque) {
    uint64_t random = *(uint64_t *)opaque;
    for (long round = scaled(12, 1); round > 0; round--) {
        struct link *link = calloc(1, sizeof *link);
        struct actor *actors = calloc(READERS + 1, sizeof *actors);
        link->kind = (enum io_kind)random_below(&random, IO_KINDS);
        link->readers = 1 + (int)random_below(&random, READERS);
        link->size = (long)random_below(&random, (uint64_t)scaled(400000, 20000));
        link->is_cut = random_below(&random, 3) == 0;
        link->cut_end = (int)random_below(&random, 2);
        link->seed = random_next(&random) | 1;
        io_open(link->kind, link->ends);
        for (int i = 0; i < link->readers; i++)
            actor_start(&actors[i], read_link, link, &random);
        actor_start(&actors[link->readers], write_link, link, &random);
        if (link->is_cut)
            cut(link, &random);
        for (int i = link->readers; i >= 0; i--)
            actor_join(&actors[i]);
        int status = weft_close(link->ends[0]);
        CHECK(status == 0 || (link->is_cut && link->cut_end == 0 && status == -EBADF));
        check_link(link);
        free(actors);
        free(link);
    }
    atomic_fetch_sub(&unready, 1);
    return NULL;
}

static void run_links(void) {
    weft_fiber fibers[LINKS];
    uint64_t seeds[LINKS];
    atomic_store(&unready, LINKS);
    for (int i = 0; i < LINKS; i++) {
        seeds[i] = random_next(&seed) | 1;
        SPAWN(&fibers[i], run_link, &seeds[i]);
    }
    for (int i = 0; i < LINKS; i++)
        JOIN(fibers[i], NULL);
    CHECK_EQ(atomic_load(&unready), 0);
}

TEST(no_byte_is_lost_doubled_or_out_of_order) {
    seed = wf_test_seed() | 1;
    run_fibers(run_links);
}
