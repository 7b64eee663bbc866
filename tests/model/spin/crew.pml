/* SPDX-License-Identifier: MIT
 *
 * tests/model/spin/crew.pml - sched/crew.c: whoever is hired is there and does what it is given; nobody is left behind.
 *
 * H threads hire: each gives a task, or, having changed its mind, lets go. Spare threads go home whenever they have slept for
 * some time. At the end somebody stops the engine, while the others are still at it, and waits until all are gone. What is
 * done under the crew's lock is one step. A token is the parker's: see queue/parker.h.
 *
 *   H               who hires (2); W, as many, is how many workers there can be
 *   LINGER          the engine is stopped only when all have gone home by themselves
 *
 * Mutants
 *   RETIRE_UNASKED  a thread whose time is over goes home although it was hired
 *   STOP_UNASKED    the same when the engine is stopping
 *   LET_GO_SILENT   whoever is let go is not told that it is a spare one, and sleeps without limit (with LINGER)
 *   NO_JOIN         who goes home does not join the one before
 *   HIRE_IN_TWO     looking for a spare one and taking it are two steps
 */
#ifndef H
#define H 2
#endif
#define W H
#define NOBODY 255

bool is_spare[W], is_unused[W], has_token[W], has_task[W], is_alive[W], has_begun[W];
byte retired = NOBODY, busy, threads, made, given, ran, started, joined, hiring = H;
bool is_stopping;

/* The first worker that is one, or NOBODY. */
#define FIND(set, out) \
    d_step { \
        out = 0; \
        do \
        :: out < W && !set[out] -> out++ \
        :: else -> break \
        od; \
        if \
        :: out == W -> out = NOBODY \
        :: else \
        fi \
    }

inline unpark(w) {
    has_token[w] = true
}

inline leave_spares(w, was_spare) {
    d_step {
        was_spare = is_spare[w];
        is_spare[w] = false
    }
}

proctype thread(byte self) {
    bool has_limit, is_timed_out, was_spare;
    byte previous;
    has_begun[self] = true;
    do
    :: true ->
        if
        :: atomic {
                has_task[self] -> has_task[self] = false;
                ran++
            }
            is_spare[self] = true
        :: else ->
            if
            :: is_stopping ->
                leave_spares(self, was_spare);
#ifdef STOP_UNASKED
                break
#endif
                if
                :: was_spare -> break
                :: else
                fi
            :: else
            fi;
            has_limit = is_spare[self];
            if
            :: atomic { has_token[self] -> has_token[self] = false; is_timed_out = false; has_limit = false }
            :: atomic { has_limit && !has_token[self] -> is_timed_out = true; has_limit = false }
            fi;
            if
            :: is_timed_out ->
                leave_spares(self, was_spare);
#ifdef RETIRE_UNASKED
                break
#endif
                if
                :: was_spare -> break
                :: else
                fi
            :: else
            fi
        fi
    od;
    atomic {
        previous = retired;
        retired = self;
#ifdef NO_JOIN
        previous = NOBODY;
#endif
    }
    if
    :: previous != NOBODY ->
        atomic {
            !is_alive[previous];
            joined++;
            is_unused[previous] = true
        }
    :: else
    fi;
    d_step {
        threads--;
        busy--
    }
    is_alive[self] = false
}

/* A worker whose thread waits to be given something. */
inline hire(out) {
#ifdef HIRE_IN_TWO
    FIND(is_spare, out);
    if
    :: out != NOBODY -> is_spare[out] = false
    :: else
    fi;
#else
    atomic {
        FIND(is_spare, out);
        if
        :: out != NOBODY -> is_spare[out] = false
        :: else
        fi
    }
#endif
    if
    :: out == NOBODY ->
        atomic {
            busy++;
            threads++
        }
        atomic {
            FIND(is_unused, out);
            if
            :: out != NOBODY -> is_unused[out] = false
            :: else ->
                assert(made < W);
                out = made;
                made++
            fi
        }
        atomic {
            assert(!is_alive[out]);
            started++;
            is_alive[out] = true;
            has_begun[out] = false;
            run thread(out)
        }
        has_begun[out]
    :: else
    fi;
    assert(is_alive[out])
}

proctype hirer() {
    byte worker;
    hire(worker);
    if
    :: true ->
        given++;
        assert(is_alive[worker] && !is_spare[worker] && !has_task[worker]);
        has_task[worker] = true;
        unpark(worker)
    :: true ->
        assert(is_alive[worker] && !is_spare[worker]);
        is_spare[worker] = true;
#ifndef LET_GO_SILENT
        unpark(worker)
#endif
    fi;
    hiring--
}

init {
    byte i;
    atomic {
        i = 0;
        do
        :: i < H -> run hirer(); i++
        :: else -> break
        od
    }
#ifdef LINGER
    hiring == 0 && busy == 0;
#endif
    is_stopping = true;
    atomic {
        i = 0;
        do
        :: i < W -> unpark(i); i++
        :: else -> break
        od
    }
    hiring == 0 && busy == 0;
    assert(ran == given);
    assert(threads == 0);
    if
    :: retired != NOBODY ->
        !is_alive[retired];
        joined++
    :: else
    fi;
    assert(joined == started)
}
