/* SPDX-License-Identifier: MIT
 *
 * examples/blocking.c - fibers go on while every worker is inside a system call that blocks.
 *
 * There are as many readers as workers, and each blocks in read on a pipe of its own until somebody writes. Because the
 * readers say so, by weft_blocking_begin and weft_blocking_end or by weft_blocking, their processors go to other threads, on
 * which the tickers tick. Nobody writes before the last ticker has ended: without the pairs this program would hang.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <weft.h>

enum { TICKERS = 100, TICKS = 10 };

struct reader {
    int pipe[2];
    weft_fiber fiber;
    weft_waitgroup *about_to_read;
    ssize_t length;
    char letter;
};

static void must(int error, const char *what) {
    if (error)
        weft_fatal("%s: error %d", what, error);
}

/* The pair around one call or a few; a call that turns out to be quick has cost next to nothing. */
static void *read_in_pair(void *arg) {
    struct reader *reader = arg;
    weft_waitgroup_done(reader->about_to_read);
    weft_blocking_begin();
    reader->length = read(reader->pipe[0], &reader->letter, 1);
    weft_blocking_end();
    return NULL;
}

/* For a call that is known to be long: whoever is ready gets the processor at once. */
static void *read_at_length(void *arg) {
    struct reader *reader = arg;
    reader->length = read(reader->pipe[0], &reader->letter, 1);
    return arg;
}

static void *read_in_call(void *arg) {
    struct reader *reader = arg;
    weft_waitgroup_done(reader->about_to_read);
    return weft_blocking(read_at_length, arg) == arg ? NULL : arg;
}

static void *tick(void *arg) {
    for (int i = 0; i < TICKS; i++)
        must(weft_sleep(weft_after(WEFT_MILLISECOND)), "cannot sleep");
    return arg;
}

static void tick_all(void) {
    weft_fiber tickers[TICKERS];
    for (int i = 0; i < TICKERS; i++)
        must(weft_spawn(&tickers[i], tick, NULL), "cannot spawn");
    for (int i = 0; i < TICKERS; i++)
        must(weft_join(tickers[i], NULL, WEFT_NEVER), "cannot join");
}

static char letter_of(unsigned number) {
    return (char)('a' + number % 26);
}

/* Lets the reader go and looks at what it got. */
static bool release(struct reader *reader, unsigned number) {
    char letter = letter_of(number);
    void *failed;
    if (write(reader->pipe[1], &letter, 1) != 1)
        weft_fatal("cannot write to a pipe");
    must(weft_join(reader->fiber, &failed, WEFT_NEVER), "cannot join");
    close(reader->pipe[0]);
    close(reader->pipe[1]);
    return !failed && reader->length == 1 && reader->letter == letter;
}

static int app(void *arg) {
    weft_waitgroup about_to_read = WEFT_WAITGROUP_INIT;
    weft_stats stats;
    weft_thread_stats threads;
    (void)arg;
    must(weft_get_stats(NULL, &stats), "no statistics");
    struct reader *readers = calloc(stats.workers, sizeof *readers);
    if (!readers)
        weft_fatal("no memory");
    weft_waitgroup_add(&about_to_read, stats.workers);
    for (unsigned i = 0; i < stats.workers; i++) {
        readers[i].about_to_read = &about_to_read;
        must(pipe(readers[i].pipe), "cannot make a pipe");
        must(weft_spawn(&readers[i].fiber, i % 2 ? read_in_call : read_in_pair, &readers[i]), "cannot spawn");
    }
    must(weft_waitgroup_wait(&about_to_read, WEFT_NEVER), "cannot wait");

    tick_all();
    must(weft_get_thread_stats(NULL, &threads), "no statistics");
    printf("%d ticks while %u fibers on %u workers were reading; %u processors went to another thread\n",
           TICKERS * TICKS, stats.workers, stats.workers, (unsigned)threads.takeovers);

    bool is_well = threads.takeovers > 0;
    for (unsigned i = 0; i < stats.workers; i++)
        is_well = release(&readers[i], i) && is_well;
    free(readers);
    return is_well ? 0 : 1;
}

int main(void) {
    return weft_run(NULL, app, NULL);
}
