/* SPDX-License-Identifier: MIT
 *
 * runtime/fork.c - the child of a fork has no runtime.
 *
 * Only the thread that called fork exists in the child. Whatever the other workers held or ran is frozen in an unknown
 * state, so the child forgets all runtimes: its thread is a plain one from then on, descriptors of the pollers are closed
 * (the parent's are another copy), and weft_run starts afresh. The memory of the parent's runtimes is not given back.
 */
#include <errno.h>
#include <pthread.h>

#include "os/signal.h"
#include "os/thread.h"
#include "promise/promise.h"
#include "runtime/runtime.h"

static pthread_mutex_t prepare_lock = PTHREAD_MUTEX_INITIALIZER;
static bool is_prepared;

/* In the child. Locks may be held by threads that do not exist here. */
static void after_fork(void) {
    wf_runtimes_forget_all();
    wf_locals_after_fork();
    wf_promises_after_fork();
    wf_os_thread_after_fork();
    wf_os_faults_after_fork();
    pthread_mutex_init(&prepare_lock, NULL);
}

int wf_fork_prepare(void) {
    int error = 0;
    pthread_mutex_lock(&prepare_lock);
    if (!is_prepared) {
        error = wf_os_at_fork(after_fork);
        is_prepared = error == 0;
    }
    pthread_mutex_unlock(&prepare_lock);
    return error;
}
