/* SPDX-License-Identifier: MIT
 *
 * examples/abort.c - giving up in good order: signals, timeouts, listeners, and how long it all took.
 *
 *     abort
 *
 * A request runs as a scope with three children on fibers. It is given up when the user says so or when its time is over,
 * whichever comes first: one signal derived from two. A loop in a fiber of its own has the timer. A target tells what happens,
 * and marks and measures say when.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <weft.h>

struct request {
    weft_target target; /* all zero: ready */
    weft_performance *timing;
    weft_abort_signal *stop;
};

static void must(int error) {
    if (error < 0)
        weft_fatal("an example went wrong: %s", strerror(-error));
}

/* Listeners. */
static void say(weft_target_event *event, void *arg) {
    printf("%s: %s\n", (const char *)arg, (const char *)event->detail);
}

static void tell(struct request *request, const char *type, char *detail) {
    weft_target_event event = {.type = type, .detail = detail};
    must(weft_target_dispatch(&request->target, &event));
}

/* Handlers run where the signal is aborted, here: on the loop. */
static void on_abort(weft_abort_signal *signal, void *arg) {
    struct request *request = arg;
    weft_abort_reason reason;
    must(weft_abort_get_reason(signal, &reason));
    must(weft_performance_mark(request->timing, "given up", NULL, NULL));
    tell(request, "abort", reason.text);
}

/* A part of the request: would take an hour, and ends as soon as its scope is cancelled. */
static int fetch_part(void *arg) {
    (void)arg;
    return weft_sleep(weft_after(3600 * WEFT_SECOND));
}

static int fetch(weft_scope *scope, void *arg) {
    struct request *request = arg;
    tell(request, "start", "three parts");
    for (int i = 0; i < 3; i++) {
        int error = weft_scope_go(scope, fetch_part, NULL);
        if (error == -ECANCELED) /* given up already */
            return error;
        must(error);
    }
    return 0;
}

static void *run_loop(void *loop) {
    must(weft_loop_run(loop, WEFT_LOOP_UNTIL_QUIET, WEFT_NEVER));
    return NULL;
}

static int app(void *arg) {
    struct request request = {.stop = NULL};
    weft_abort_signal *user, *late;
    weft_loop *loop;
    weft_fiber runner;
    (void)arg;
    must(weft_loop_new(&loop, NULL));
    must(weft_loop_keep(loop)); /* a timeout does not */
    must(weft_performance_new(&request.timing, NULL));
    must(weft_performance_mark(request.timing, "begin", NULL, NULL));
    must(weft_spawn(&runner, run_loop, loop));

    must(weft_abort_new(&user));
    must(weft_abort_timeout(loop, &late, 20 * WEFT_MILLISECOND));
    must(weft_abort_any(&request.stop, (weft_abort_signal *[]){user, late}, 2));
    must(weft_abort_on(request.stop, NULL, on_abort, &request));
    must(weft_target_add(&request.target, "start", say, "started", NULL));
    must(weft_target_add(&request.target, "abort", say, "given up", NULL));

    int error = weft_abort_scope(request.stop, NULL, fetch, &request);
    printf("the request: %s\n", strerror(-error));
    weft_loop_unkeep(loop); /* nothing is left to do, and the loop ends */
    must(weft_join(runner, NULL, WEFT_NEVER));

    weft_performance_entry waited;
    weft_performance_span span = {.start_mark = "begin", .end_mark = "given up"};
    must(weft_performance_measure(request.timing, "request", &span, &waited));
    bool is_right = error == -ETIMEDOUT && waited.duration > 0 && weft_abort_fire(late, NULL) == -EALREADY &&
                    weft_abort_fire(user, NULL) == 0 && weft_abort_check(request.stop) == -ETIMEDOUT;
    printf("it was given up after %s\n", waited.duration < WEFT_SECOND ? "some milliseconds" : "more than a second");

    weft_target_term(&request.target);
    weft_performance_free(request.timing);
    weft_abort_unref(request.stop);
    weft_abort_unref(late);
    weft_abort_unref(user);
    weft_loop_unref(loop);
    return is_right ? 0 : 1;
}

int main(void) {
    return weft_run(NULL, app, NULL);
}
