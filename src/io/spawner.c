/* SPDX-License-Identifier: MIT
 *
 * io/spawner.c - a thread that starts children which are to end with this process.
 *
 * The kernel sends their signal at the end of the thread that has started them, and threads of a runtime come and go. So the
 * process has one thread for those, started by the first of them, which stays.
 */
#include <errno.h>

#include "io/process.h"
#include "os/thread.h"
#include "wait/wait.h"

/* Under the lock; its memory is that of whoever waits for it. */
struct spawner_request {
    const struct wf_os_child *what;
    int id;
    struct wf_waiter *waiter; /* a queue of one */
    struct spawner_request *next;
};

static struct {
    struct wf_lock lock;
    bool is_running;               /* under lock; so are the next two */
    struct spawner_request *first; /* the latest */
    struct wf_waiter *idle;
    struct wf_os_thread thread;
} spawner;

static int spawner_begin_locked(void);
static void spawner_main(void *arg);

int wf_spawner_start_child(const struct wf_os_child *what, int *id) {
    struct spawner_request request = {.what = what};
    struct wf_waiter waiter = {0};
    wf_lock_take(&spawner.lock);
    int error = spawner.is_running ? 0 : spawner_begin_locked();
    if (error) {
        wf_lock_drop(&spawner.lock);
        return error;
    }
    request.next = spawner.first;
    spawner.first = &request; // cppcheck-suppress autoVariables ; it is out again when this returns
    struct wf_waiter *idle = wf_wait_take_first_locked(&spawner.idle);
    if (idle) {
        idle->status = 0;
        wf_wait_wake(idle);
    }
    int result = wf_wait_surely_locked(&waiter, &spawner.lock, &request.waiter, "spawn", false);
    if (result >= 0)
        *id = request.id;
    return result;
}

bool wf_spawner_is_there(void) {
    wf_lock_take(&spawner.lock);
    bool is_there = spawner.is_running && spawner.idle; /* one that is busy may wake somebody */
    wf_lock_drop(&spawner.lock);
    return is_there;
}

static int spawner_begin_locked(void) {
    if (!wf_worker_self())
        wf_os_thread_note_program();
    int error = wf_os_thread_start(&spawner.thread, "weft-spawner", spawner_main, NULL);
    if (error)
        return error;
    wf_os_thread_detach(&spawner.thread);
    spawner.is_running = true;
    return 0;
}

static void spawner_main(void *arg) {
    (void)arg;
    wf_lock_take(&spawner.lock);
    for (;;) {
        struct wf_waiter waiter = {0};
        struct spawner_request *request = spawner.first;
        if (!request) {
            wf_wait_surely_locked(&waiter, &spawner.lock, &spawner.idle, "spawn", false);
            wf_lock_take(&spawner.lock);
            continue;
        }
        spawner.first = request->next;
        wf_lock_drop(&spawner.lock);
        int result = wf_os_child_start(request->what, &request->id);
        wf_lock_take(&spawner.lock);
        struct wf_waiter *requester = wf_wait_take_first_locked(&request->waiter);
        requester->status = result;
        wf_wait_wake(requester);
    }
}

void wf_spawner_after_fork(void) {
    wf_lock_init(&spawner.lock);
    spawner.is_running = false;
    spawner.first = NULL;
    spawner.idle = NULL;
}
