/* SPDX-License-Identifier: MIT
 *
 * idle.pml - the protocol of src/queue/idle.c: {searching, parked} in one word, a set of sleepers, targeted wakes.
 *
 * Sequentially consistent; the fences are checked by the explorer on the C source. Taking a parked worker and counting
 * it as a searcher is one step here as there. The last task is mail for worker 0, which nobody else may run. A
 * deadlock ("invalid end state") is a lost wake-up.
 *
 * Mutants  NO_RECHECK     sleep without looking at the sources again
 *          LAST_RECHECK   only the last searcher looks again; wrong as soon as searchers are capped (CAP=1)
 *          RECHECK_FIRST  look again, and then enter the idle set
 *          WAKE_ANYBODY   mail wakes whoever is on top of the stack instead of worker 0
 * Options  W, T, CAP      workers, tasks, most searchers at a time
 */
#ifndef W
#define W 2
#endif
#ifndef T
#define T 3
#endif
#ifndef CAP
#define CAP 1
#endif

byte queued, mail, done, searching, parked;
bool is_parked[W], is_woken_to_search[W];

inline notify() {
    atomic {
        if
        :: searching == 0 && parked > 0 ->
            k = 0;
            do
            :: k < W && !is_parked[k] -> k++
            :: else -> break
            od;
            is_parked[k] = false;
            is_woken_to_search[k] = true;
            parked--;
            searching++
        :: else
        fi
    }
}

inline take_out(w) {
    atomic {
        if
        :: is_parked[w] -> is_parked[w] = false; parked--
        :: else
        fi
    }
}

inline finish() {
    if
    :: done == T ->
        atomic {
            k = 0;
            do
            :: k < W -> take_out(k); k++
            :: else -> break
            od
        }
    :: else
    fi
}

#define HAS_WORK (queued > 0 || done == T || (self == 0 && mail > 0))

proctype worker(byte self) {
    bool is_searching, is_last, has_seen_work;
    byte k;
    do
    :: done == T -> break
    :: else ->
        if
        :: atomic { self == 0 && mail > 0 -> mail--; done++ };
            finish()
        :: else
        fi;
        atomic {
            if
            :: !is_searching && searching < CAP -> searching++; is_searching = true
            :: else
            fi
        };
        if
        :: atomic { (is_searching || has_seen_work) && queued > 0 -> queued--; done++; has_seen_work = false };
            if
            :: is_searching ->
                atomic { searching--; is_searching = false; is_last = (searching == 0) };
                if
                :: is_last -> notify()
                :: else
                fi
            :: else
            fi;
            finish()
        :: else ->
#ifdef RECHECK_FIRST
            has_seen_work = HAS_WORK;
#endif
            atomic {
                is_parked[self] = true;
                parked++;
                if
                :: is_searching -> searching--; is_searching = false; is_last = (searching == 0)
                :: else -> is_last = false
                fi
            };
#if defined(NO_RECHECK)
            has_seen_work = (done == T);
#elif defined(LAST_RECHECK)
            has_seen_work = (is_last && HAS_WORK) || done == T;
#elif !defined(RECHECK_FIRST)
            has_seen_work = HAS_WORK;
#endif
            if
            :: has_seen_work -> take_out(self)
            :: else -> !is_parked[self] /* asleep */
            fi;
            atomic { is_searching = is_woken_to_search[self]; is_woken_to_search[self] = false }
        fi
    od;
    if
    :: is_searching -> searching--
    :: else
    fi
}

proctype producer() {
    byte i, k;
    do
    :: i < T - 1 -> queued++; notify(); i++
    :: else -> break
    od;
    mail++;
#ifdef WAKE_ANYBODY
    notify()
#else
    take_out(0)
#endif
}

init {
    byte i;
    atomic {
        do
        :: i < W -> run worker(i); i++
        :: else -> break
        od;
        run producer()
    }
}
