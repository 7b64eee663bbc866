/* SPDX-License-Identifier: MIT
 *
 * park.pml - idle set, one wake token for each worker, and a searching count that throttles wakes.
 *
 * Sequentially consistent: the orders are checked by the explorer, on the C sources. This model shows the reserving
 * variant, in which a notifier takes the searcher's place before it knows of a sleeper; src/queue/idle.c avoids its
 * retry by doing both in one step, and this is the proof that one or the other is needed.
 *
 * Property: when nothing can move any more, no task is left.
 *
 * Mutants  NO_RECHECK  enter the idle set and sleep without looking at the queue again
 *          DEC_AFTER   leave the searching count only after looking again
 *          NO_RETRY    a notifier that finds the idle set empty just gives its place back
 *          NO_HANDOFF  the last searcher that finds work wakes no successor; hurts with PAIR only
 * Options  PAIR        the first two tasks wait for each other
 *          NW, NP, K   workers, producers, tasks of each producer
 */
#ifndef NW
#define NW 2
#endif
#ifndef NP
#define NP 2
#endif
#ifndef K
#define K 1
#endif

byte queued, idle, searching, consumed, running;
bool token[NW];

/* After a push. Uses the caller's variables victim and is_mine. */
inline notify() {
    do
    :: searching != 0 -> break
    :: else ->
        if
        :: idle == 0 -> break
        :: else
        fi;
        atomic {
            if
            :: searching == 0 -> searching = 1; is_mine = true
            :: else -> is_mine = false
            fi
        };
        if
        :: !is_mine -> break
        :: else
        fi;
        atomic {
            victim = NW;
            if
            :: idle & 1 -> victim = 0
            :: NW > 1 && (idle & 2) -> victim = 1
            :: NW > 2 && (idle & 4) -> victim = 2
            :: idle == 0
            fi;
            if
            :: victim < NW -> idle = idle & (255 - (1 << victim))
            :: else
            fi
        };
        if
        :: victim < NW -> token[victim] = true; break /* the place goes with the token */
        :: else -> searching-- /* somebody emptied the idle set meanwhile */
        fi;
#ifdef NO_RETRY
        break
#else
        if
        :: queued == 0 -> break
        :: else
        fi
#endif
    od
}

proctype producer() {
    byte i, victim;
    bool is_mine;
    do
    :: i < K -> queued++; i++; notify()
    :: else -> break
    od
}

proctype worker(byte self) {
    byte victim;
    bool is_mine, has_task, is_searching, is_last;
search:
    atomic {
        if
        :: queued > 0 -> queued--; has_task = true
        :: else -> has_task = false
        fi
    };
    if
    :: has_task ->
        if
        :: is_searching ->
            atomic { searching--; is_searching = false; is_last = (searching == 0) };
#ifndef NO_HANDOFF
            if
            :: is_last && queued > 0 -> notify()
            :: else
            fi
#endif
        :: else
        fi;
        running++;
#ifdef PAIR
        (running > 1 || consumed > 0);
#endif
        atomic { consumed++; running-- };
        goto search
    :: else
    fi;
    idle = idle | (1 << self);
#ifndef DEC_AFTER
    if
    :: is_searching -> searching--; is_searching = false
    :: else
    fi;
#endif
#ifndef NO_RECHECK
    if
    :: queued > 0 ->
        atomic {
            if
            :: idle & (1 << self) -> idle = idle & (255 - (1 << self)); has_task = true
            :: else -> has_task = false
            fi
        };
        if
        :: has_task -> goto search
        :: else /* a notifier picked this worker: its token is coming */
        fi
    :: else
    fi;
#endif
#ifdef DEC_AFTER
    if
    :: is_searching -> searching--; is_searching = false
    :: else
    fi;
#endif
end_park:
    token[self];
    token[self] = false;
    is_searching = true;
    goto search
}

init {
    byte i;
    atomic {
        i = 0;
        do
        :: i < NW -> run worker(i); i++
        :: else -> break
        od;
        i = 0;
        do
        :: i < NP -> run producer(); i++
        :: else -> break
        od
    };
    timeout -> assert(queued == 0 && consumed == NP * K)
}
