/* SPDX-License-Identifier: MIT
 *
 * examples/cancel.c - a delivery that is called off: one failure, and everybody stops and tidies up.
 *
 * A scope starts a few couriers and a dispatcher. The dispatcher finds that the depot has closed and fails; that cancels
 * the couriers, wherever they wait. Each of them puts its parcel back, which takes a wait of its own and is therefore done
 * behind a shield. The scope returns when the last one has ended, with the dispatcher's error.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>

#include <weft.h>

enum { COURIERS = 5 };

struct depot {
    weft_chan *orders;     /* never comes an order: the couriers wait */
    weft_chan *returned;   /* parcels that are put back, one place */
    weft_waitgroup on_way; /* couriers that are not waiting yet */
};

/* Runs when the courier's fiber ends, whichever way. */
static void put_back(void *arg) {
    struct depot *depot = arg;
    int parcel = 1;
    weft_shield(); /* without it this send would not wait: the fiber is cancelled */
    weft_chan_send(depot->returned, &parcel, WEFT_NEVER);
    weft_unshield();
}

static int courier(void *arg) {
    struct depot *depot = arg;
    int order;
    int error = weft_defer(put_back, depot);
    weft_waitgroup_done(&depot->on_way);
    if (error)
        return error;
    return weft_chan_recv(depot->orders, &order, WEFT_NEVER); /* -ECANCELED */
}

static int dispatcher(void *arg) {
    struct depot *depot = arg;
    int error = weft_waitgroup_wait(&depot->on_way, WEFT_NEVER);
    return error ? error : -EHOSTDOWN;
}

static int deliver(weft_scope *scope, void *arg) {
    struct depot *depot = arg;
    for (int i = 0; i < COURIERS; i++) {
        int error = weft_scope_go(scope, courier, depot);
        if (error)
            return error;
    }
    return weft_scope_go(scope, dispatcher, depot);
}

/* Somebody outside the scope takes the parcels: it is not cancelled. */
static void *count_returned(void *arg) {
    struct depot *depot = arg;
    intptr_t count = 0;
    int parcel;
    while (weft_chan_recv(depot->returned, &parcel, WEFT_NEVER) == 0)
        count += parcel;
    return (void *)count;
}

static int app(void *arg) {
    struct depot depot = {.on_way = WEFT_WAITGROUP_INIT};
    weft_fiber counter;
    void *count = NULL;
    (void)arg;
    if (weft_chan_new(&depot.orders, sizeof(int), 0) || weft_chan_new(&depot.returned, sizeof(int), 0) ||
        weft_spawn(&counter, count_returned, &depot))
        return 1;
    weft_waitgroup_add(&depot.on_way, COURIERS);

    weft_scope_options options = {.deadline = weft_after(60 * WEFT_SECOND)};
    int outcome = weft_scope_run(&options, deliver, &depot);

    weft_chan_close(depot.returned);
    weft_join(counter, &count, WEFT_NEVER);
    weft_chan_free(depot.returned);
    weft_chan_free(depot.orders);
    printf("called off: %s; %d of %d parcels are back\n", outcome == -EHOSTDOWN ? "the depot is closed" : "?",
           (int)(intptr_t)count, COURIERS);
    return outcome == -EHOSTDOWN && (intptr_t)count == COURIERS ? 0 : 1;
}

int main(void) {
    return weft_run(NULL, app, NULL);
}
