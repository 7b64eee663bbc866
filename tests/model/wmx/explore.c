/* SPDX-License-Identifier: MIT
 *
 * wmx/explore.c - the search: run, raise the last choice that can be raised, run again.
 *
 * Usage: model [-p preemptions] [-o old_reads] [-t seconds] [-r runs seed] [-c case] [-v]
 * Prints one line "verdict executions seconds text" with verdict one of
 *   clean   every execution within the bound was visited (or all random runs done) and none failed     exit 0
 *   found   one failed; -v then prints it operation by operation                                       exit 1
 *   limit   the time ran out first                                                                      exit 2
 */
#include "model.h"
#include "wmx/wmx.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define USAGE "[-p preemptions] [-o old_reads] [-t seconds] [-r runs seed] [-c case] [-v]"

__thread struct wmx *wmx;
extern char __data_start[], _end[];

static void parse(int argc, char **argv);
static void prepare(void);
static void run_once(void);
static bool next_choice(void);
static void print_trace(void);

static void *map(size_t bytes) {
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        perror("mmap");
        exit(3);
    }
    return memory;
}

static double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int main(int argc, char **argv) {
    wmx = map(sizeof *wmx);
    parse(argc, argv);
    prepare();
    double start = seconds_now();
    const char *verdict = NULL;
    while (!verdict) {
        run_once();
        wmx->runs++;
        if (wmx->failure)
            verdict = "found";
        else if (wmx->options.random_runs ? wmx->runs >= wmx->options.random_runs : !next_choice())
            verdict = "clean";
        else if ((wmx->runs & 255) == 0 && seconds_now() - start > wmx->options.seconds)
            verdict = "limit";
    }
    const char *text = wmx->failure ? wmx->failure : wmx->options.random_runs ? "random" : "";
    printf("%s %ld %.2f %s\n", verdict, wmx->runs, seconds_now() - start, text);
    if (wmx->failure && wmx->options.is_verbose)
        print_trace();
    return *verdict == 'c' ? 0 : *verdict == 'f' ? 1 : 2;
}

static void parse(int argc, char **argv) {
    wmx->options = (struct wmx_options){.preemptions = 2, .old_reads = INT_MAX, .seconds = 60, .test_case = ""};
    int option;
    while ((option = getopt(argc, argv, "p:o:t:r:c:v")) != -1) {
        switch (option) {
        case 'p':
            wmx->options.preemptions = atoi(optarg);
            break;
        case 'o':
            wmx->options.old_reads = atoi(optarg);
            break;
        case 't':
            wmx->options.seconds = atof(optarg);
            break;
        case 'r':
            wmx->options.random_runs = atol(optarg);
            wmx->options.seed = optind < argc ? strtoull(argv[optind++], NULL, 10) : 1;
            break;
        case 'c':
            wmx->options.test_case = optarg;
            break;
        case 'v':
            wmx->options.is_verbose = true;
            break;
        default:
            fprintf(stderr, "usage: %s %s\n", argv[0], USAGE);
            exit(3);
        }
    }
}

static void prepare(void) {
    for (int i = 0; i < WMX_THREADS; i++)
        wmx->thread[i].stack = map(WMX_STACK_BYTES);
    wmx->heap = map(WMX_HEAP_BYTES);
    wmx->random = wmx->options.seed * 0x9e3779b97f4a7c15u + 88172645463325252u;
    fflush(stdout);
    size_t bytes = (size_t)(_end - __data_start);
    wmx->image = map(bytes);
    memcpy(wmx->image, __data_start, bytes);
}

static void start_model(void *unused) {
    (void)unused;
    model_main();
}

static void run_once(void) {
    memcpy(__data_start, wmx->image, (size_t)(_end - __data_start));
    wmx->generation++;
    wmx->thread_count = wmx->current = wmx->location_count = wmx->block_count = wmx->event_count = 0;
    wmx->lock_count = wmx->choice_at = wmx->preempted = wmx->old_reads = wmx->spurious_left = 0;
    wmx->heap_used = 0;
    memset(&wmx->sc, 0, sizeof wmx->sc);
    wmx_spawn(start_model, NULL);
    wmx_run_from_root();
    if (!wmx->failure)
        wmx->failure = wmx_find_leak();
}

/* The next execution in depth-first order; false when all have been visited. */
static bool next_choice(void) {
    while (wmx->choice_count > 0) {
        struct wmx_choice *last = &wmx->choice[wmx->choice_count - 1];
        if (++last->taken < last->width)
            return true;
        wmx->choice_count--;
    }
    return false;
}

static const char *order_name(int order) {
    static const char *const name[] = {"relaxed", "consume", "acquire", "release", "acq_rel", "seq_cst"};
    return name[order];
}

/* Source places come from addr2line, one call for each operation: slow, but only after a find. */
static void print_trace(void) {
    for (int i = 0; i < wmx->event_count; i++) {
        const struct wmx_event *event = &wmx->event[i];
        char place[256] = "";
        char command[128];
        snprintf(command, sizeof command, "addr2line -s -e /proc/%d/exe %p", (int)getpid(), event->code);
        FILE *pipe = event->code ? popen(command, "r") : NULL;
        if (pipe) {
            if (fgets(place, sizeof place, pipe))
                place[strcspn(place, "\n")] = '\0';
            pclose(pipe);
        }
        printf("  %*sT%d %c %s", event->thread * 4, "", event->thread, event->kind, order_name(event->order));
        if (event->location >= 0)
            printf(" a%d@%d", event->location, event->stamp);
        printf(" = %llx   %s\n", (unsigned long long)event->value, place);
    }
}
