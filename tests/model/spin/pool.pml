/* SPDX-License-Identifier: MIT
 *
 * tests/model/spin/pool.pml - the pool's word, its gate and its turns (pool/count.c, pool/submit.c, pool/control.c).
 *
 * N submits, each of one work; runners that end works, a stop that ends those of its generation, a thread that waits until the
 * pool is idle. The word {generation, stopping, outstanding} changes in one step, and so does what is done under pool->lock.
 * Beginnings and ends are told by turns; whoever has been submitted before a wait is over when it returns.
 *
 *   N                works (2); the first goes the short way
 *
 * Mutants
 *   LOOK_UNLOCKED    a submit that finds a stop going on takes the lock afterwards, and does not look again
 *   END_IN_TWO       the count, and then the generation
 *   TELL_AT_ONCE     everybody tells the turn that is its own
 *   WAKE_UNTOLD      whoever waits looks at the word only
 *   GATE_UNSEEN      whoever waits does not wait for what is at the gate
 *   SWEEP_ANY        a stop ends what it finds, of whatever generation
 *   STOP_UNLOCKED    a stop is marked without the locks: works that are counted and not yet there are passed over
 */
#ifndef N
#define N 2
#endif
#define NONE 15

mtype = {nowhere, counted, gated, live, over};
mtype state[N] = nowhere;
byte born[N] = NONE; /* the generation in which it was counted */

byte generation, outstanding, gate_count, turns_due, turns_told;
bool stopping, is_telling, is_begun;
byte stopped_generation = NONE;
bool is_waiting, has_token;
byte awaited;

/* One more is counted; ok: there is no stop going on. */
inline count_in(w) {
    ok = !stopping;
    first = false;
    if
    :: ok ->
        first = (outstanding == 0);
        outstanding++;
        born[w] = generation;
        state[w] = counted
    :: else
    fi
}

inline wake() {
    if
    :: is_waiting && awaited <= turn / 2 -> is_waiting = false; has_token = true
    :: else
    fi
}

inline put_off() {
    if
    :: is_waiting && awaited <= turn / 2 -> awaited = turn / 2 + 1
    :: else
    fi
}

/* What is at the gate begins a generation, unless there is one: it is told by whoever is telling now, and that is us. */
inline open_gate() {
    if
    :: gate_count > 0 && !stopping ->
        if
        :: outstanding == 0 -> turns_due++
        :: else
        fi;
        outstanding = outstanding + gate_count;
        gate_count = 0;
        k = 0;
        do
        :: k < N ->
            if
            :: state[k] == gated -> state[k] = live; born[k] = generation
            :: else
            fi;
            k++
        :: else -> break
        od;
        k = 0
    :: else
    fi
}

inline tell() {
    if
    :: turn % 2 == 0 ->
        d_step {
            assert(!is_begun);
            is_begun = true;
            turns_told++
        }
    :: else ->
        d_step {
            assert(is_begun);
            is_begun = false
        }
        d_step {
            turns_told++;
            if
            :: gate_count > 0 -> put_off()
            :: else -> wake()
            fi
        }
        d_step { open_gate() }
    fi
}

inline take_turn() {
#ifdef TELL_AT_ONCE
    d_step {
        turn = turns_due;
        turns_due++
    }
    tell();
#else
    d_step {
        turns_due++;
        is_ours = !is_telling;
        if
        :: is_ours -> is_telling = true
        :: else
        fi
    }
    do
    :: !is_ours -> break
    :: else ->
        d_step {
            if
            :: turns_told < turns_due -> turn = turns_told
            :: else -> is_telling = false; is_ours = false
            fi
        }
        if
        :: is_ours -> tell()
        :: else
        fi
    od;
#endif
    turn = 0
}

/* Ends a work that is live: exactly one does. */
inline try_end(w) {
    d_step {
        ok = (state[w] == live);
        if
        :: ok -> state[w] = over
        :: else
        fi
    }
    if
    :: ok ->
        d_step {
            assert(outstanding > 0);
            outstanding--;
            last = (outstanding == 0);
#ifndef END_IN_TWO
            if
            :: last -> generation++; stopping = false
            :: else
            fi
#endif
        }
#ifdef END_IN_TWO
        if
        :: last -> d_step { generation++; stopping = false }
        :: else
        fi;
#endif
        if
        :: last -> last = false; take_turn()
        :: else
        fi
    :: else
    fi
}

proctype submitter(byte w) {
    bool ok, first, is_ours;
    byte turn, k;
#ifdef STOP_UNLOCKED
    d_step { count_in(w) }
    if
    :: ok -> state[w] = live
    :: else
    fi;
#else
    d_step { /* under the queue's lock, which a stop takes too */
        ok = false;
        if
        :: w == 0 -> count_in(w)
        :: else
        fi;
        if
        :: ok -> state[w] = live
        :: else
        fi
    }
#endif
#ifdef LOOK_UNLOCKED
    if
    :: !ok -> d_step { count_in(w) }
    :: else
    fi;
#endif
    d_step {
        if
#ifndef LOOK_UNLOCKED
        :: !ok -> count_in(w)
#endif
        :: else
        fi;
        if
        :: ok -> state[w] = (state[w] == over -> over : live)
        :: else -> state[w] = gated; gate_count++
        fi
    }
    ok = false;
    if
    :: first -> first = false; take_turn()
    :: else
    fi
}

proctype runner(byte w) {
    bool ok, last, is_ours;
    byte turn, k;
    state[w] == live || state[w] == over;
    try_end(w);
    ok = false
}

proctype stopper() {
    bool ok, last, is_ours;
    byte turn, k, w;
    d_step {
        if
        :: outstanding > 0 -> stopping = true; stopped_generation = generation
        :: else
        fi
    }
    do
    :: w < N && stopped_generation != NONE ->
#ifndef SWEEP_ANY
        if
        :: born[w] == stopped_generation -> try_end(w)
        :: else -> ok = false
        fi;
#else
        try_end(w);
#endif
        d_step {
            assert(!ok || born[w] == stopped_generation);
            assert(born[w] != stopped_generation || state[w] == over); /* nothing of that generation is passed over */
            ok = false;
            w++
        }
    :: else -> break
    od
}

proctype waiter() {
    bool was_there[N];
    byte w;
    d_step {
        do
        :: w < N -> was_there[w] = (state[w] != nowhere); w++
        :: else -> break
        od;
        w = 0;
#ifdef GATE_UNSEEN
        is_waiting = (outstanding > 0);
#else
        is_waiting = (gate_count > 0 || outstanding > 0);
#endif
#ifndef WAKE_UNTOLD
        is_waiting = (is_waiting || generation != turns_told / 2);
#endif
        awaited = generation + (gate_count > 0 && outstanding > 0 -> 1 : 0);
        if
        :: gate_count == 0 && outstanding == 0 && is_waiting -> awaited = generation - 1
        :: else
        fi;
        has_token = !is_waiting
    }
    has_token;
    d_step {
        do
        :: w < N ->
            assert(!was_there[w] || state[w] == over);
            if
            :: was_there[w] -> assert(turns_told >= 2 * (born[w] + 1)) /* and everybody has been told */
            :: else
            fi;
            was_there[w] = false;
            w++
        :: else -> break
        od;
        w = 0;
        awaited = 0
    }
}

init {
    byte i;
    atomic {
        run waiter();
        run stopper();
        do
        :: i < N -> run runner(i); run submitter(i); i++
        :: else -> break
        od
    }
    _nr_pr == 1;
    i = 0;
    do
    :: i < N -> assert(state[i] == over); i++
    :: else -> break
    od;
    assert(outstanding == 0 && !stopping && !is_begun && gate_count == 0);
    assert(turns_due == 2 * generation && turns_told == turns_due)
}
