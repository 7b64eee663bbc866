/* SPDX-License-Identifier: MIT
 *
 * tests/model/spin/work.pml - the word of a work (pool/pool.h): one end, nobody who waits is forgotten, the record goes once.
 *
 * One work in one record. Runners take it out of the queue, claim it, run it, and end it quietly, loudly, or by a retry; somebody
 * cancels it, somebody waits for it, somebody stops it by force and gives it up. Whoever lets go last gives the record to
 * its next user, a work of another generation, which nobody who knows the old one may touch. Each line that reads or
 * changes the word is one step.
 *
 *   R                  runners (2); as many attempts as there are
 *
 * Mutants
 *   QUIET_STORE        a quiet end stores its word instead of swapping it
 *   WAIT_UNFLAGGED     a waiter waits without having said so in the word
 *   OVER_LATE          OVER is set after the waiters were taken
 *   SEIZE_STORE        a cancel stores its word instead of swapping it
 *   NO_TOMBSTONE       a cancel frees the record although a queue has it
 *   NO_INSIDE          giving up does not keep the record for the function that is still inside
 *   END_UNLOCKED       a runner ends without waiting for whoever stops it by force
 *   REQUEUE_FORCED     a retry does not look whether the work was stopped by force
 *   FLAG_ANY           flags are set without comparing generations
 */
#ifndef R
#define R 2
#endif

#define FREE 0
#define QUEUED 2
#define CLAIMED 3
#define DONE 4
#define PHASE 7
#define WAITED 8
#define LISTED 16
#define BUSY 32
#define INSIDE 64
#define FORCE 128
#define OVER 256
#define NEXT 512 /* the generation: that of the next user */
#define KEEPS (LISTED | BUSY | INSIDE)
#define IS_OURS(w) (((w) & NEXT) == 0 && ((w) & PHASE) != FREE)
#define IS(w, phase) (((w) & PHASE) == phase)
#define WITH(w, phase) (((w) & ~PHASE) | phase)

short word = QUEUED | LISTED;
bool lock, in_queue = true, is_waiting, has_token;
bool has_runner[R]; /* what stands in work->runner may be used */
byte runner_of = 255;
byte begun, ends, freed, sides = 3;
bool was_cancelled;

#define LOCK atomic { !lock -> lock = true }
#define UNLOCK lock = false

/* ok: the word was old, and is new. */
#define SWAP(old, new, ok) d_step { ok = (word == (old)); if :: ok -> word = (new) :: else fi }

inline recycle() {
    d_step {
        freed++;
        assert(freed == 1 && !is_waiting);
        word = NEXT | QUEUED /* somebody else's from here on */
    }
}

inline let_go(flags) {
    d_step {
        assert(IS_OURS(word) && IS(word, DONE) && (word & (flags)) == (flags));
        word = word & ~(flags);
        is_last = (word & KEEPS) == 0
    }
    if
    :: is_last -> recycle()
    :: else
    fi
}

/* DONE | BUSY, and ours. */
inline tell() {
    d_step {
        ends++;
        assert(ends == 1)
    }
    LOCK;
#ifndef OVER_LATE
    word = word | OVER;
#endif
    d_step {
        if
        :: is_waiting -> is_waiting = false; has_token = true
        :: else
        fi
    }
    UNLOCK;
#ifdef OVER_LATE
    word = word | OVER;
#endif
    let_go(BUSY)
}

inline seize_claimed(flags, ok) {
    ok = false;
    w = word;
    do
    :: !IS(w, CLAIMED) -> break
    :: else ->
        SWAP(w, WITH(w, DONE) | BUSY | (flags), ok);
        if
        :: ok -> break
        :: else -> w = word
        fi
    od
}

inline came_back() {
#ifndef END_UNLOCKED
    LOCK;
    UNLOCK;
#endif
    let_go(INSIDE)
}

inline end_run() {
#ifndef END_UNLOCKED
    LOCK;
#endif
    seize_claimed(0, ok);
#ifndef END_UNLOCKED
    UNLOCK;
#endif
    if
    :: ok -> tell()
    :: else -> came_back()
    fi
}

inline requeue() {
    w = word;
    do
    :: IS(w, DONE) -> came_back(); break
#ifndef REQUEUE_FORCED
    :: !IS(w, DONE) && (w & FORCE) -> end_run(); break
    :: !IS(w, DONE) && !(w & FORCE) ->
#else
    :: !IS(w, DONE) ->
#endif
        SWAP(w, WITH(w, QUEUED) | LISTED, ok);
        if
        :: ok -> in_queue = true; break
        :: else -> w = word
        fi
    od
}

inline end_quietly(ok) {
    ok = false;
    w = word;
    if
    :: w == CLAIMED ->
#ifdef QUIET_STORE
        word = FREE;
        ok = true;
#else
        SWAP(w, FREE, ok);
#endif
        if
        :: ok ->
            d_step {
                ends++;
                assert(ends == 1)
            }
            recycle()
        :: else
        fi
    :: else
    fi
}

proctype runner(byte self) {
    short w;
    bool ok, is_last;
    if
    :: atomic { in_queue -> in_queue = false }
    :: sides == 0 && !in_queue && freed == 1 -> goto gone /* nothing will come any more */
    fi;
    has_runner[self] = true;
    w = word;
    do
    :: IS(w, QUEUED) ->
        runner_of = self;
        SWAP(w, WITH(w & ~LISTED, CLAIMED), ok);
        if
        :: ok -> break
        :: else -> w = word
        fi
    :: else -> let_go(LISTED); goto ended
    od;
    atomic {
        begun++;
        assert(!was_cancelled && !(w & FORCE) && !(w & NEXT))
    }
    if
    :: true ->
        end_quietly(ok);
        if
        :: !ok ->
            w = word;
            if
            :: IS(w, DONE) -> came_back()
            :: else -> end_run()
            fi
        :: else
        fi
    :: self + 1 < R -> requeue() /* it failed, and there is an attempt left */
    :: true ->
        w = word;
        if
        :: IS(w, DONE) -> came_back()
        :: else -> end_run()
        fi
    fi;
ended:
    has_runner[self] = false;
gone:
    skip
}

proctype canceller() {
    short w;
    bool ok, is_last;
    w = word;
    do
    :: !IS_OURS(w) || !IS(w, QUEUED) -> break
    :: else ->
#ifdef SEIZE_STORE
        word = WITH(w, DONE) | BUSY;
        ok = true;
#else
        SWAP(w, WITH(w, DONE) | BUSY, ok);
#endif
        if
        :: ok ->
            was_cancelled = true;
#ifdef NO_TOMBSTONE
            word = word & ~LISTED;
#endif
            tell();
            break
        :: else -> w = word
        fi
    od;
    sides--
}

/* Sets a flag while the work is ours, and in that phase, if one is named. The word before, or 0. */
inline set_flag(flag, phase, before) {
    before = 0;
    w = word;
    do
#ifdef FLAG_ANY
    :: IS(w, FREE) || (phase != FREE && !IS(w, phase)) -> break
#else
    :: !IS_OURS(w) || (phase != FREE && !IS(w, phase)) -> break
#endif
    :: else ->
        SWAP(w, w | flag, ok);
        if
        :: ok -> before = w; break
        :: else -> w = word
        fi
    od
}

proctype waiter() {
    short w, before;
    bool ok;
    LOCK;
#ifdef WAIT_UNFLAGGED
    before = word;
    if
    :: !IS_OURS(before) -> before = 0
    :: else
    fi;
#else
    set_flag(WAITED, FREE, before);
#endif
    if
    :: before == 0 || (before & OVER) -> UNLOCK
    :: else ->
        is_waiting = true;
        UNLOCK;
        has_token;
        assert(ends == 1)
    fi;
    sides--
}

proctype forcer() {
    short w, before;
    bool ok, is_last;
    LOCK;
    set_flag(FORCE, CLAIMED, before);
    if
    :: before != 0 -> assert(has_runner[runner_of]) /* its region is cancelled */
    :: else
    fi;
    UNLOCK;
    if
    :: before == 0 -> goto through
    :: else
    fi;
    LOCK; /* the grace period is over */
    w = word;
    ok = false;
    if
    :: IS_OURS(w) && (w & FORCE) ->
#ifdef NO_INSIDE
        seize_claimed(0, ok)
#else
        seize_claimed(INSIDE, ok)
#endif
    :: else
    fi;
    if
    :: ok -> assert(has_runner[runner_of]) /* its thread is replaced */
    :: else
    fi;
    UNLOCK;
    if
    :: ok -> tell()
    :: else
    fi;
through:
    sides--
}

init {
    byte i;
    atomic {
        i = 0;
        do
        :: i < R -> run runner(i); i++
        :: else -> break
        od;
        run canceller();
        run waiter();
        run forcer()
    }
    _nr_pr == 1;
    assert(ends == 1 && freed == 1 && !in_queue && !lock);
    assert(begun > 0 || was_cancelled);
    assert(word == (NEXT | QUEUED))
}
