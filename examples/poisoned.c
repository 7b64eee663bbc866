/* SPDX-License-Identifier: MIT
 *
 * examples/poisoned.c - a graph of events in which one fails, and what that means for the rest.
 *
 * A build of four steps: two sources are compiled, both are linked, and the result is tested; a report is written when
 * everything has come to an end, whichever way. One source does not compile. Its fiber just returns: it owns the event, so
 * the event is poisoned, and the poison runs down the graph. Nobody waits for ever, and everybody learns the reason.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <weft.h>

struct step {
    weft_events *events;
    weft_event after; /* what it needs */
    weft_event done;  /* what it completes */
    const char *name;
    bool works;
};

static void *run_step(void *arg) {
    struct step *step = arg;
    weft_event_reason reason;
    if (weft_event_own(step->events, step->done) != 0)
        return NULL;
    int status = weft_event_wait(step->events, step->after, &reason, WEFT_NEVER);
    if (status == -ENOTRECOVERABLE) {
        printf("%s: not started (%s)\n", step->name, reason.text);
        weft_event_poison(step->events, step->done, reason.code, reason.text);
    } else if (status == 0 && step->works) {
        printf("%s: done\n", step->name);
        weft_event_trigger(step->events, step->done);
    } else {
        printf("%s: failed\n", step->name); /* and says nothing to anybody: its event is poisoned when it ends */
    }
    return NULL;
}

static int build(weft_events *events) {
    struct step steps[4] = {
        {.name = "compile a", .works = true}, {.name = "compile b"}, {.name = "link", .works = true}, {.name = "test"}};
    weft_event objects[2], all[4], finished;
    for (int i = 0; i < 4; i++) {
        steps[i].events = events;
        if (weft_event_new(events, &steps[i].done, WEFT_NOW) != 0)
            return 1;
        all[i] = steps[i].done;
    }
    memcpy(objects, all, sizeof objects);
    if (weft_event_merge(events, objects, 2, WEFT_MERGE_ALL, 0, &steps[2].after) != 0 ||
        weft_event_merge(events, all, 4, WEFT_MERGE_ALL_SETTLED, 0, &finished) != 0)
        return 1;
    steps[3].after = steps[2].done;
    weft_fiber fibers[4];
    for (int i = 0; i < 4; i++)
        if (weft_spawn(&fibers[i], run_step, &steps[i]) != 0)
            return 1;
    if (weft_event_wait(events, finished, NULL, WEFT_NEVER) != 0)
        return 1;
    weft_event_reason reason;
    int failed = 0;
    for (int i = 0; i < 4; i++) {
        weft_join(fibers[i], NULL, WEFT_NEVER);
        failed += weft_event_poll(events, all[i]) == WEFT_EVENT_POISONED;
    }
    if (weft_event_get_reason(events, all[3], &reason) != 0 || reason.code != -EOWNERDEAD)
        return 1;
    printf("%d of 4 steps failed; the last one because: %s\n", failed, reason.text);
    return failed == 3 ? 0 : 1;
}

static int app(void *arg) {
    (void)arg;
    weft_events *events;
    if (weft_events_new(&events, NULL) != 0)
        return 1;
    int status = build(events);
    weft_events_free(events);
    return status;
}

int main(void) {
    return weft_run(NULL, app, NULL);
}
