/* SPDX-License-Identifier: MIT
 *
 * merge.pml - the protocol of src/event/merge.c: a merged event, early poison, and an output slot that is used again.
 *
 * M merges, one after the other, of N inputs each, whose outputs are generations of one slot. Each has a block with a node
 * for each pending input, a countdown, and references: one for each node that is linked or about to fire, and one for
 * whoever registers or completes. An input completes at any time, ready or poisoned; its completer takes the node out
 * under the input's lock and fires it without. The last ready input *decides* the merge, and so does the first poisoned
 * one, although other nodes are still linked. Whoever decides completes the output by its handle, takes out the nodes that
 * are still linked, and gives their references up with its own; the block goes with the last. During registration a node
 * only notes its decision, and whoever registers acts on it.
 *
 * An outsider may poison an output too; then the slot goes on to the next merge while the block still names the old
 * generation. What is done under a lock is one step here. Sequentially consistent.
 *
 * Properties: each output completes exactly once; ready only when all its inputs are; poisoned only if one of them or the
 * outsider says so; nobody touches a block that is gone; no block and no linked node is left.
 *
 * Mutants  REUSE_EARLY    completes whatever generation is in the slot by now, instead of its own
 *          COUNT_RACE     counts down by a load and a store
 *          NO_EARLY_HOLD  the block goes with the decision, although nodes still point to it
 *          NO_OWN_SHARE   whoever registers has no reference
 *          NO_RECHECK     links a node without looking whether its input is complete
 * Options  M, N           merges, inputs of each
 */
#ifndef M
#define M 2
#endif
#ifndef N
#define N 2
#endif

#define READY 1
#define POISONED 2

byte input[M * N]; /* 0: pending */
bool is_linked[M * N];

byte current; /* the merge whose output is pending in the slot; 0: the slot is free */
byte completions[M + 1];
bool is_poisoned_outside[M + 1];

bool has_block[M + 1], is_registering[M + 1], is_decided[M + 1];
byte references[M + 1], needed[M + 1];

#define FIRST(m) ((m - 1) * N)
#define TOUCH(m) assert(has_block[m])

/* Of the event that is pending in the slot: m, unless a mutant does it. */
inline complete_current(how) {
    is_sound = (how == READY || is_poisoned_outside[current]);
    k = FIRST(current);
    do
    :: k < FIRST(current) + N ->
        assert(how == POISONED || input[k] == READY);
        is_sound = (is_sound || input[k] == POISONED);
        k++
    :: else -> k = 0; break
    od;
    assert(is_sound);
    is_sound = false;
    completions[current]++;
    current = 0
}

/* By handle: the first one wins. */
inline complete(m, how) {
    atomic {
        if
#ifdef REUSE_EARLY
        :: current != 0 -> complete_current(how)
#else
        :: current == m -> complete_current(how)
#endif
        :: else
        fi
    }
}

inline release(m, number) {
    atomic {
        TOUCH(m);
        assert(references[m] >= number);
        references[m] = references[m] - number;
        if
        :: references[m] == 0 -> has_block[m] = false; is_decided[m] = false; needed[m] = 0
        :: else
        fi;
        left = 0;
        decides = false
    }
}

/* Sets decides. */
inline account(m, how) {
#ifdef COUNT_RACE
    decides = false;
    if
    :: is_decided[m]
    :: !is_decided[m] && how == POISONED -> is_decided[m] = true; decides = true
    :: else -> left = needed[m] - 1; needed[m] = left; decides = (left == 0); is_decided[m] = decides
    fi
#else
    atomic {
        TOUCH(m);
        decides = false;
        if
        :: is_decided[m]
        :: !is_decided[m] && how == POISONED -> is_decided[m] = true; decides = true
        :: else -> needed[m]--; decides = (needed[m] == 0); is_decided[m] = decides
        fi;
        decides = decides && !is_registering[m]
    }
#endif
}

/* With a reference, which goes. */
inline finish(m, how) {
    complete(m, how);
    atomic { left = 1; j = FIRST(m) };
    do
    :: atomic { j < FIRST(m) + N -> TOUCH(m); left = left + is_linked[j]; is_linked[j] = false; j++ }
    :: atomic { j == FIRST(m) + N -> j = 0 }; break
    od;
#ifdef NO_EARLY_HOLD
    atomic { TOUCH(m); has_block[m] = false; references[m] = 0 }
#else
    release(m, left)
#endif
}

proctype completer(byte m; byte i) {
    byte j, k, left, how;
    bool is_taken, decides, is_sound;
    atomic {
        if
        :: how = READY
        :: how = POISONED
        fi;
        input[i] = how;
        is_taken = is_linked[i];
        is_linked[i] = false;
        assert(!is_taken || has_block[m])
    };
    if
    :: is_taken ->
        account(m, how);
        if
        :: decides -> finish(m, how)
        :: else -> release(m, 1)
        fi
    :: else
    fi
}

proctype maker() {
    byte m, i, j, k, left, how;
    bool decides, is_sound;
    for (m : 1 .. M) {
        atomic {
            current == 0 -> current = m;
            has_block[m] = true;
            is_registering[m] = true;
            needed[m] = N;
#ifndef NO_OWN_SHARE
            references[m] = 1
#endif
        };
        for (i : FIRST(m) .. FIRST(m) + N - 1) {
            atomic {
                TOUCH(m);
                decides = is_decided[m];
                references[m] = references[m] + !decides
            };
            if
            :: atomic {
                    !decides ->
#ifdef NO_RECHECK
                    how = 0;
#else
                    how = input[i];
#endif
                    is_linked[i] = (how == 0)
                };
                if
                :: how != 0 -> account(m, how); release(m, 1)
                :: else
                fi
            :: else
            fi
        };
        atomic { TOUCH(m); is_registering[m] = false; decides = is_decided[m] };
        if
        :: atomic { decides -> how = (needed[m] == 0 -> READY : POISONED) }; finish(m, how)
#ifndef NO_OWN_SHARE
        :: else -> release(m, 1)
#else
        :: else
#endif
        fi
    }
}

proctype outsider() {
    byte k;
    bool is_sound;
    if
    :: atomic { current == 1 -> is_poisoned_outside[1] = true; complete_current(POISONED) }
    :: skip
    fi
}

init {
    byte i;
    atomic {
        run maker();
        run outsider();
        i = 0;
        do
        :: i < M * N -> run completer(1 + i / N, i); i++
        :: else -> i = 1; break
        od
    };
    timeout -> assert(current == 0);
    do
    :: i <= M -> assert(completions[i] == 1 && !has_block[i]); i++
    :: else -> i = 0; break
    od;
    do
    :: i < M * N -> assert(!is_linked[i]); i++
    :: else -> break
    od
}
