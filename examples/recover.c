/* SPDX-License-Identifier: MIT
 *
 * examples/recover.c - deferred calls, panics, and where they are caught.
 *
 * A panic leaves every function down to the nearest weft_try; deferred calls of that region run on the way, newest
 * first. A panic that nobody catches ends its fiber only: the joiner learns it, the program goes on.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft.h>

/* Deferred calls run when the functions in between have been left already. So what they are given lives here, outside
 * those functions' frames. */
struct job {
    const char *text;
    int number;
    void *block;
    void *scratch;
    int released; /* blocks that were freed by deferred calls */
};

static void release_block(void *arg) {
    struct job *job = arg;
    free(job->block);
    job->released++;
}

static void release_scratch(void *arg) {
    struct job *job = arg;
    free(job->scratch);
    job->released++;
}

/* Deep below parse: no error codes on the way up. */
static int digits_or_panic(const char *text) {
    char *end;
    long number = strtol(text, &end, 10);
    if (end == text || *end != 0)
        weft_panic("\"%s\" is not a number", text);
    return (int)number;
}

static void parse(void *arg) {
    struct job *job = arg;
    job->block = malloc(64);
    if (!job->block || weft_defer(release_block, job) != 0)
        weft_panic("no memory");
    job->scratch = malloc(64);
    if (!job->scratch || weft_defer(release_scratch, job) != 0)
        weft_panic("no memory");
    if (weft_undefer(true) != 0) /* the scratch block is not needed any longer: release it now */
        weft_panic("nothing was deferred");
    job->number = digits_or_panic(job->text);
} /* the block is released once weft_try has got here, or caught a panic */

static void *panicking(void *arg) {
    weft_panic("%s", (const char *)arg);
}

static void *leaving_early(void *arg) {
    weft_exit(arg); /* as if this function had returned it */
}

static int app(void *arg) {
    (void)arg;
    char why[128] = "";
    struct job good = {.text = "42"};
    struct job bad = {.text = "forty-two"};
    int error = weft_try(parse, &good, why, sizeof why);
    printf("parsed %d, error %d, %d blocks released\n", good.number, error, good.released);
    if (error || good.number != 42 || good.released != 2)
        return 1;
    error = weft_try(parse, &bad, why, sizeof why);
    printf("recovered: %s; %d blocks released\n", why, bad.released);
    if (error != -EOWNERDEAD || bad.released != 2 || strcmp(why, "\"forty-two\" is not a number") != 0)
        return 1;

    weft_fiber fiber;
    void *result = &fiber;
    if (weft_spawn(&fiber, panicking, "nobody catches this") != 0)
        return 1;
    error = weft_join(fiber, &result, WEFT_NEVER);
    printf("a fiber ended by a panic: the join says %s\n", error == -EOWNERDEAD ? "EOWNERDEAD" : "something else");
    if (error != -EOWNERDEAD || result)
        return 1;

    if (weft_spawn(&fiber, leaving_early, &good) != 0 || weft_join(fiber, &result, WEFT_NEVER) != 0)
        return 1;
    return result == &good ? 0 : 1;
}

int main(void) {
    weft_options options = {.quiet = true}; /* the panic is expected: no report on standard error */
    return weft_run(&options, app, NULL);
}
