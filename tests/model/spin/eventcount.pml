/* SPDX-License-Identifier: MIT
 *
 * eventcount.pml - sleeping on an epoch: count of waiters, epoch as futex word, one shared wake.
 *
 * The stores of the producer pass through a store buffer, as on x86: without its fence, it may look at the waiters
 * before its own push is visible. A deadlock ("invalid end state") is a lost wake-up.
 *
 * Mutants  NO_RECHECK  sleep without looking at the queue again
 *          NO_FENCE    the producer looks at the waiters before its push is visible
 *          LATE_KEY    the epoch to sleep on is read after looking again
 *          NO_BUMP     wake without moving the epoch
 * Options  W, T        workers, tasks
 */
#ifndef W
#define W 2
#endif
#ifndef T
#define T 3
#endif

byte queued, done, waiters, epoch, pending;
bool is_asleep[W];

inline wake_one() {
    atomic {
        k = 0;
        do
        :: k < W && !is_asleep[k] -> k++
        :: else -> break
        od;
        if
        :: k < W -> is_asleep[k] = false
        :: else
        fi
    }
}

inline wake_all() {
    atomic {
        k = 0;
        do
        :: k < W -> is_asleep[k] = false; k++
        :: else -> break
        od
    }
}

proctype worker(byte self) {
    byte key, k;
    do
    :: done == T -> break
    :: else ->
        if
        :: atomic { queued > 0 -> queued--; done++ };
            if
            :: done == T -> epoch++; wake_all()
            :: else
            fi
        :: else ->
            waiters++;
#ifndef LATE_KEY
            key = epoch;
#endif
            if
#ifndef NO_RECHECK
            :: queued > 0 -> waiters--
#endif
            :: done == T -> waiters--
            :: else ->
#ifdef LATE_KEY
                key = epoch;
#endif
                /* futex wait: compare and sleep in one step */
                atomic {
                    if
                    :: epoch == key -> is_asleep[self] = true
                    :: else
                    fi
                };
                !is_asleep[self];
                waiters--
            fi
        fi
    od
}

proctype producer() {
    byte i, k;
    do
    :: i < T ->
        pending++;
#ifndef NO_FENCE
        pending == 0; /* the buffer is drained */
#endif
        if
        :: waiters > 0 ->
#ifndef NO_BUMP
            epoch++;
#endif
            wake_one()
        :: else
        fi;
        i++
    :: else -> break
    od
}

proctype store_buffer() {
    byte n;
    do
    :: n == T -> break
    :: atomic { pending > 0 -> pending--; queued++; n++ }
    od
}

init {
    byte i;
    atomic {
        do
        :: i < W -> run worker(i); i++
        :: else -> break
        od;
        run producer();
        run store_buffer()
    }
}
