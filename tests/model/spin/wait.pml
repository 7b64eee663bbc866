/* SPDX-License-Identifier: MIT
 *
 * wait.pml - the protocol of src/wait/wait.c: one lock an object, one claim word a wait, one wake.
 *
 * A fiber waits for two objects at once, R times on the same stack: its frame dies with each wait and is used again by
 * the next. Object, deadline and cancellation race for it. WITH_PLAIN puts in the place of the cancellation a second
 * fiber, which waits plainly for object 0: there the lock decides. Whatever runs on the other side of the switch is a
 * process of its own, because a fiber that was woken by a timer may go on while the worker it left is still dropping its
 * locks.
 *
 * Givers, timer and cancellation may stop at any time, so a wait need not end; but when nothing can move any more,
 * nobody sleeps beside an object that has something, or past a cancellation. Sequentially consistent.
 *
 * Properties: one wake a wait, and only of a fiber whose stack was left; no lost wake; no touch of a frame after its
 * wait has returned; everything given is received or still there; an object that wins has its status seen.
 *
 * Mutants  NO_RECHECK           looks at the objects before it has their locks, and not again
 *          WAKE_BEFORE_PUBLISH  delivers, and then writes the status
 *          TIMEOUT_FREES        a deadline ends the wait without taking the nodes out
 *          CANCEL_NO_RECHECK    looks at the flag before it opens the word, and not again
 *          COMMIT_PLAIN_STORE   PARKED is added by a load and a store
 *          CLAIM_PLAIN_STORE    CLAIMED is added by a load and a store
 *          DOUBLE_WAKE          whoever delivers wakes, parked or not
 *          PLAIN_DROPS_FIRST    a plain wait drops the lock before its stack is left
 *          TIMER_LEFT_BEHIND    an object ends the wait, and the timer is not taken back
 * Options  WITH_PLAIN           see above
 *          R                    waits of the fiber, one after the other
 */
#ifndef R
#define R 2
#endif

#define OPEN 1
#define CLAIMED 2
#define PARKED 4
#define DELIVERED 8
#define TIMED_OUT 16
#define CANCELLED 32

#define NOBODY 2 /* instead of a node */
#define PLAIN 3  /* the plain waiter */

byte word;
bool is_locked[2], is_timer_locked;
byte linked[2];      /* the number of the wait whose node is in that object's queue; 0: none */
byte armed;          /* the same for the timer */
byte items[2], given, received;
bool is_cancelled;

byte wait;           /* number of the fiber's wait */
bool is_alive;       /* its frame: nodes, status, winner, list of locks */
byte winner;
bool status;
bool is_leaving, is_left, is_ready;

bool is_plain_linked, is_plain_alive, is_plain_left, is_plain_ready, plain_status;

#define TOUCH(number) assert(is_alive && wait == number)

inline take(o) {
    atomic { !is_locked[o] -> is_locked[o] = true }
}

inline drop(o) {
    is_locked[o] = false
}

inline make_ready() {
    atomic { assert(is_left && !is_ready); is_ready = true }
}

/* Sets was, and has_won. */
inline claim(with) {
    was = word;
    do
    :: (was & (OPEN | CLAIMED)) != OPEN -> has_won = false; break
    :: else ->
#ifdef CLAIM_PLAIN_STORE
        word = was | CLAIMED | with;
        has_won = true;
        break
#else
        atomic {
            if
            :: word == was -> word = was | CLAIMED | with; has_won = true
            :: else -> was = word; has_won = false
            fi
        };
        if
        :: has_won -> break
        :: else
        fi
#endif
    od
}

proctype giver(byte o) {
    byte was, number, target;
    bool has_won;
    if
    :: goto stop
    :: atomic { !is_locked[o] -> is_locked[o] = true; given++ }
    fi;
    do
    :: atomic { linked[o] -> number = linked[o]; TOUCH(number); linked[o] = 0 };
        claim(0);
        if
        :: atomic { has_won -> target = o; TOUCH(number); winner = o }; break
        :: else
        fi
    :: atomic { o == 0 && is_plain_linked -> is_plain_linked = false; target = PLAIN }; break
    :: atomic { !linked[o] && !(o == 0 && is_plain_linked) -> items[o]++; target = NOBODY }; break
    od;
#ifndef WAKE_BEFORE_PUBLISH
    if
    :: atomic { target == o -> TOUCH(number); status = true }
    :: atomic { target == PLAIN -> assert(is_plain_alive); plain_status = true }
    :: else
    fi;
#endif
    drop(o);
    if
    :: target == o ->
        atomic { TOUCH(number); was = word; word = word | DELIVERED };
        if
#ifdef DOUBLE_WAKE
        :: true -> make_ready()
#else
        :: was & PARKED -> make_ready()
        :: else
#endif
        fi
    :: target == PLAIN -> atomic { assert(is_plain_left && !is_plain_ready); is_plain_ready = true }
    :: else
    fi;
#ifdef WAKE_BEFORE_PUBLISH
    if
    :: atomic { target == o -> TOUCH(number); status = true }
    :: atomic { target == PLAIN -> assert(is_plain_alive); plain_status = true }
    :: else
    fi;
#endif
stop:
    skip
}

proctype timer() {
    byte was, number;
    bool has_won;
    do
    :: atomic { armed && !is_timer_locked -> is_timer_locked = true; number = armed; armed = 0 };
        TOUCH(number);
        claim(DELIVERED | TIMED_OUT);
        if
#ifdef DOUBLE_WAKE
        :: has_won -> make_ready()
#else
        :: has_won && (was & PARKED) -> make_ready()
#endif
        :: else
        fi;
        is_timer_locked = false
    :: break
    od
}

/* The word outlives the wait: it is in the header of the stack. */
proctype canceller() {
    byte was;
    bool has_won;
    if
    :: goto stop
    :: is_cancelled = true
    fi;
    claim(DELIVERED | CANCELLED);
    if
    :: has_won && (was & PARKED) -> make_ready()
    :: else
    fi;
stop:
    skip
}

/* What commit_word does, on the worker that the fiber has left. */
proctype other_side() {
    byte was, number;
end_idle:
    do
    :: atomic { is_leaving -> is_leaving = false; number = wait };
#ifdef COMMIT_PLAIN_STORE
        was = word;
        word = was | PARKED;
#else
        atomic { was = word; word = word | PARKED };
#endif
        atomic { TOUCH(number); drop(0) }; /* the list of locks is in the frame */
        atomic { TOUCH(number); drop(1) };
        if
        :: was & DELIVERED -> make_ready() /* goes on at once */
        :: else
        fi
    od
}

proctype fiber() {
    byte was, o;
    bool has_won, has_timer;
    do
    :: wait == R -> break
    :: else ->
#ifdef CANCEL_NO_RECHECK
        if
        :: is_cancelled -> break
        :: else
        fi;
#endif
#ifdef NO_RECHECK
        has_won = (items[0] > 0 || items[1] > 0);
#endif
        take(0);
        atomic {
            !is_locked[1] -> is_locked[1] = true;
            wait++; is_alive = true; winner = NOBODY; status = false; has_timer = false
        };
#ifdef NO_RECHECK
        if
        :: !has_won -> goto nothing
        :: else
        fi;
#endif
        if
        :: atomic { items[0] > 0 -> items[0]--; received++ }; goto have
        :: atomic { items[0] == 0 && items[1] > 0 -> items[1]--; received++ }; goto have
        :: else
        fi;
nothing:
        atomic { linked[0] = wait; linked[1] = wait; word = OPEN };
#ifndef CANCEL_NO_RECHECK
        if
        :: is_cancelled ->
            atomic {
                if
                :: word == OPEN -> word = CLAIMED; has_won = true
                :: else -> has_won = false
                fi
            };
            if
            :: atomic { has_won -> linked[0] = 0; linked[1] = 0; word = 0 }; goto have
            :: else /* its delivery is on its way */
            fi
        :: else
        fi;
#endif
        if
        :: atomic { !is_timer_locked -> armed = wait; has_timer = true }
        :: true
        fi;
        atomic { is_left = true; is_leaving = true };
end_parked:
        atomic { is_ready -> is_ready = false; is_left = false; was = word; assert(was & DELIVERED); o = 0 };
        do
        :: o < 2 ->
            if
#ifdef TIMEOUT_FREES
            :: was & TIMED_OUT
#endif
            :: o != winner -> atomic { !is_locked[o] -> linked[o] = 0 }
            :: else
            fi;
            o++
        :: else -> break
        od;
        if
#ifndef TIMER_LEFT_BEHIND
        :: has_timer && !(was & TIMED_OUT) -> atomic { !is_timer_locked -> armed = 0 }
#endif
        :: else
        fi;
        atomic {
            word = 0;
            if
            :: !(was & (TIMED_OUT | CANCELLED)) -> assert(winner < 2); assert(status); received++
            :: else -> assert(winner == NOBODY)
            fi;
            is_alive = false
        };
        goto next;
have:
        atomic { is_alive = false; drop(0) };
        drop(1);
next:
        skip
    od
}

proctype plain_fiber() {
    take(0);
    if
    :: atomic { items[0] > 0 -> items[0]--; received++ }; drop(0); goto done
    :: else
    fi;
    atomic { is_plain_alive = true; is_plain_linked = true };
#ifdef PLAIN_DROPS_FIRST
    drop(0);
    is_plain_left = true;
#else
    is_plain_left = true; /* the switch; the other side drops the lock and touches nothing else */
    drop(0);
#endif
end_parked:
    atomic { is_plain_ready -> is_plain_ready = false };
    atomic { assert(plain_status); received++; is_plain_alive = false };
done:
    skip
}

init {
    atomic {
        run fiber();
        run other_side();
        run giver(0);
        run giver(1);
        run timer();
#ifdef WITH_PLAIN
        run plain_fiber();
        run giver(0)
#else
        run canceller()
#endif
    };
    timeout -> assert(given == received + items[0] + items[1]);
    assert(!is_alive || (items[0] == 0 && items[1] == 0 && !is_cancelled));
    assert(!is_plain_alive || items[0] == 0)
}
