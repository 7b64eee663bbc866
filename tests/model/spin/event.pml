/* SPDX-License-Identifier: MIT
 *
 * event.pml - the slot of a generational event: one lock, one word that is read without it, verdicts in the nodes.
 *
 * The slot lives through G generations. For each, a trigger and a poison race. Waiters pick any generation that was
 * handed out, look at the word, take the lock, look again, and link a node; they may give up at any time before they
 * are woken. The word holds the last completed generation, a window of WINDOW poison marks, and a mark that a poisoned
 * generation has left the window; here it is three variables written in one step. Sequentially consistent.
 *
 * I1  the completed generation never goes back         I2  each generation is completed by exactly one call
 * I3  a verdict that was seen is never seen otherwise, but for "expired" once the window has passed
 * I4  nobody returns before his generation completes   I5  nobody sleeps on one that has
 * I6  a registered waiter gets the verdict of his generation, however often the slot was used again
 * And: one wake a node, none after giving up, no touch of a node whose wait has returned.
 *
 * Mutants  NO_RECHECK           links without looking again under the lock
 *          GENERATION_FIRST     publishes the generation, and then the poison mark
 *          WAKE_BEFORE_PUBLISH  wakes the waiters before the word says that it is complete
 *          VERDICT_FROM_WORD    a woken waiter asks the word instead of its node
 *          NO_STICKY_MARK       forgets that a poisoned generation has left the window
 *          TIMEOUT_FREES        who gives up returns without taking its node out
 * Options  G, W, WINDOW         generations, waiters, poison marks kept
 */
#ifndef G
#define G 2
#endif
#ifndef W
#define W 2
#endif
#ifndef WINDOW
#define WINDOW 1
#endif

#define PENDING 0
#define READY 1
#define POISONED 2
#define EXPIRED 3

bool is_locked;
byte current;                /* under the lock; 0: idle */
byte done, window;          /* the word: bit k of window stands for generation done - k */
bool has_lost;              /* the word: a poisoned generation has left the window */
byte made;                  /* generations handed out */

byte truth[G + 1], completions[G + 1];

byte linked[W];             /* generation in whose queue the node is; 0: none */
bool is_alive[W], is_woken[W];
byte verdict[W];            /* in the node */

inline take() {
    atomic { !is_locked -> is_locked = true }
}

/* One load of the word, and what it says of generation g. */
inline query(g, answer) {
    atomic {
        assert(done >= seen); /* I1 */
        seen = done;
        if
        :: g > done -> answer = PENDING
        :: g <= done && done - g < WINDOW -> answer = ((window & (1 << (done - g))) -> POISONED : READY)
        :: g <= done && done - g >= WINDOW -> answer = (has_lost -> EXPIRED : READY)
        fi;
        assert(answer == PENDING || answer == EXPIRED || answer == truth[g]) /* I3 */
    }
}

inline shift_window(how) {
#ifndef NO_STICKY_MARK
    has_lost = has_lost || (window & (1 << (WINDOW - 1)));
#endif
    window = ((window << 1) & ((1 << WINDOW) - 1)) | (how == POISONED -> 1 : 0)
}

inline publish(how) {
#ifdef GENERATION_FIRST
    atomic { truth[g] = how; completions[g]++; done = g };
    shift_window(how)
#else
    atomic { truth[g] = how; completions[g]++; done = g; shift_window(how) }
#endif
}

inline wake_all() {
    i = 0;
    do
    :: i < W ->
        if
        :: atomic { taken & (1 << i) -> assert(is_alive[i] && !is_woken[i]); is_woken[i] = true }
        :: else
        fi;
        i++
    :: else -> break
    od
}

/* Trigger or poison, whichever how says, of each generation. */
proctype completer(byte how) {
    byte g, i, taken, seen, answer;
    for (g : 1 .. G) {
        made >= g;
        take();
        if
        :: current == g ->
            atomic {
                current = 0;
                taken = 0;
                i = 0;
                do
                :: i < W ->
                    if
                    :: linked[i] ->
                        assert(is_alive[i]);
                        assert(linked[i] == g);
                        linked[i] = 0;
                        verdict[i] = how;
                        taken = taken | (1 << i)
                    :: else
                    fi;
                    i++
                :: else -> i = 0; break
                od
            };
#ifdef WAKE_BEFORE_PUBLISH
            wake_all();
            publish(how);
            is_locked = false
#else
            publish(how);
            is_locked = false;
            wake_all()
#endif
        :: else ->
            is_locked = false;
            query(g, answer);
            assert(answer != PENDING) /* the other one was faster, and has said so */
        fi
    }
}

proctype creator() {
    byte g;
    for (g : 1 .. G) {
        atomic { !is_locked && current == 0 && done == g - 1 -> current = g };
        made = g
    }
}

proctype waiter(byte self) {
    byte g, seen, answer;
    if
    :: atomic { made >= 1 -> g = 1 }
    :: atomic { made >= G -> g = G }
    fi;
    query(g, answer);
    if
    :: answer != PENDING -> goto stop
    :: else
    fi;
    take();
#ifndef NO_RECHECK
    if
    :: current != g -> is_locked = false; query(g, answer); assert(answer != PENDING); goto stop
    :: else
    fi;
#endif
    atomic { is_alive[self] = true; linked[self] = g; is_locked = false };
    if
    :: atomic { is_woken[self] -> skip }
#ifdef TIMEOUT_FREES
    :: atomic { is_alive[self] = false }; goto stop
#else
    :: atomic { !is_locked -> is_locked = true };
        if
        :: atomic { linked[self] -> linked[self] = 0; is_alive[self] = false; is_locked = false }; goto stop
        :: else -> is_locked = false
        fi;
        is_woken[self] /* somebody has taken the node: the wake is on its way */
#endif
    fi;
    assert(completions[g] == 1); /* I4 */
    query(g, answer);
    assert(answer != PENDING);
#ifdef VERDICT_FROM_WORD
    assert(answer == truth[g]);
#else
    assert(verdict[self] == truth[g]); /* I6 */
#endif
    is_alive[self] = false;
stop:
    skip
}

init {
    byte i;
    atomic {
        run creator();
        run completer(READY);
        run completer(POISONED);
        i = 0;
        do
        :: i < W -> run waiter(i); i++
        :: else -> i = 0; break
        od
    };
    timeout -> i = 1;
    do
    :: i <= G -> assert(completions[i] == 1); i++ /* I2 */
    :: else -> break
    od;
    i = 0;
    do
    :: i < W -> assert(!linked[i] && !is_alive[i]); i++ /* I5 */
    :: else -> break
    od
}
