/* SPDX-License-Identifier: MIT
 *
 * tests/model/spin/loop.pml - a loop sleeps, is woken, ends by itself and is ended (loop/sleep.c, job.c, life.c).
 *
 * An owner; producers that submit; one that keeps the loop alive for a while and submits meanwhile; a work that comes back; a
 * timer set from outside, and a clock; one that ends the loop. What is done under the loop's lock is one step. The owner
 * sleeps in the queue, where whoever takes it out owes it a token, against its deadline by a claim; or in epoll, where the
 * wake is a descriptor that stays readable.
 *
 * Properties: whenever the lock is free nobody sleeps on work (sane); the state makes legal moves only; one wake a sleep; what
 * was accepted has run when the loop is over, if it was not closed; whoever keeps the loop finds it open; nobody writes to
 * a descriptor that was closed; and in the end everybody has come home.
 *
 * Options
 *   EPOLL            sleep there
 *   QUIET            nobody ends it: it ends by itself, and once its on_quiet adds something at the last moment
 *   CLOSE            ended by close instead of shutdown
 *   WITH_STOP        somebody stops it as well: the owner returns and comes again
 *   P, K             producers (2) and how many submits each (1)
 *
 * Mutants
 *   LOOK_UNLOCKED    the owner looks for work, and then takes the lock and sleeps
 *   SLEEPING_STORED  the owner stores SLEEPING, whatever is there
 *   WAKE_UNCLAIMED   whoever finds it asleep wakes it, but leaves the state as it is
 *   COMMIT_BLIND     nothing was alive a moment ago, so the door is closed without a second look
 *   ADMIT_UNLOCKED   whether the loop still accepts is asked before the lock is taken
 *   DRAIN_ONCE       the end does not look under the lock whether something has come meanwhile
 *   END_SILENT       an end that finds it asleep does not wake it
 *   UNKEEP_SILENT    nor does whoever lets the last one go
 *   TIMER_SILENT     nor does a timer that is earlier than its sleep
 *   STOP_UNSEEN      a stop is not looked at under the lock
 *   LIFE_UNSEEN      nor is whether anything is still alive
 *   READ_FIRST       the descriptor is read before the wait instead of after it
 *   SIGNAL_UNLOCKED  the descriptor is written after the lock was dropped
 */
#ifndef P
#define P 2
#endif
#ifndef K
#define K 1
#endif

mtype = {awake, running, asleep, terminating, terminated};
mtype state = awake;

byte ingress, track;     /* jobs outside and on the owner's side */
byte accepted, executed; /* jobs */
byte keeps, workers;
bool has_timer, timer_fired, is_due;
bool is_stopped, is_closing, is_told; /* told: those who join are woken */

/* The sleep. */
bool is_linked, is_claimed, token;       /* in the queue */
bool is_polling, is_readable, is_closed; /* in epoll */
bool has_limit;                          /* until the timer that is known */
byte wakes;                              /* of the present sleep */

#define is_ending (state == terminating || state == terminated)
#define is_alive (ingress + track + keeps + workers > 0 || has_timer)

/* At the end of every step that has the lock. */
inline sane() {
    assert(wakes <= 1);
#ifndef WAKE_UNCLAIMED /* which is to be found by what it does, not by what the word says */
    assert(state != asleep || (ingress == 0 && track == 0 && !is_closing && !is_stopped && (!has_timer || has_limit)))
#endif
}

inline move(to) {
    assert((state == awake && (to == running || to == terminating)) ||
           (state == running && (to == awake || to == asleep || to == terminating)) ||
           (state == asleep && (to == running || to == terminating)) || (state == terminating && to == terminated));
    state = to
}

/* With the lock: was_asleep is known, and the state was moved. Sets owes when a token is to be given without the lock. */
inline wake_up() {
    if
    :: was_asleep && is_polling ->
#ifdef SIGNAL_UNLOCKED
        owes_signal = true
#else
        assert(!is_closed);
        is_readable = true;
        wakes++
#endif
    :: else ->
        if
        :: is_linked ->
            is_linked = false;
            owes = !is_claimed;
            is_claimed = true
        :: else
        fi
    fi
}

inline rouse() {
    was_asleep = (state == asleep);
    if
#ifndef WAKE_UNCLAIMED
    :: was_asleep -> move(running)
#endif
    :: else
    fi;
    wake_up();
    was_asleep = false
}

/* Without the lock, which everybody has dropped by now. */
inline pay() {
    if
    :: owes -> d_step { owes = false; assert(!token); token = true; wakes++ }
#ifdef SIGNAL_UNLOCKED
    :: owes_signal -> d_step { owes_signal = false; assert(!is_closed); is_readable = true; wakes++ }
#endif
    :: else
    fi
}

inline submit() {
#ifdef ADMIT_UNLOCKED
    refused = is_ending;
    d_step {
#else
    d_step {
        refused = is_ending;
#endif
        if
        :: !refused -> ingress++; accepted++; rouse()
        :: else
        fi;
        sane()
    }
    pay()
}

proctype producer() {
    bool refused, was_asleep, owes, owes_signal;
    byte i;
    do
    :: i < K -> submit(); i++
    :: else -> break
    od
}

/* A call that keeps the loop alive, and so knows that it is open until it lets go. Where the loop is ended by somebody it
 * need not let go at all. */
proctype keeper() {
    bool refused, was_asleep, owes, owes_signal;
    d_step {
        refused = is_ending;
        if
        :: !refused -> keeps++
        :: else
        fi
    }
    if
    :: !refused ->
        submit();
#ifdef QUIET
        assert(!refused);
#endif
        if
#ifndef QUIET
        :: true -> refused = true
#endif
        :: true -> refused = false
        fi
    :: else
    fi;
    if
    :: !refused ->
        d_step {
            keeps--;
#ifndef UNKEEP_SILENT
            rouse();
#endif
            sane()
        }
        pay()
    :: else
    fi
}

/* A work that was handed out: it is accepted, but by a loop that closes or is over. */
proctype worker() {
    bool was_asleep, owes, owes_signal;
    d_step {
        workers--;
        if
        :: !is_closing && state != terminated -> ingress++; accepted++
        :: else
        fi;
        rouse();
        sane()
    }
    pay()
}

proctype setter() {
    bool was_asleep, owes, owes_signal;
    d_step {
        if
        :: !is_ending ->
            has_timer = true;
            if
#ifndef TIMER_SILENT
            :: state == asleep -> rouse() /* it sleeps without a limit */
#endif
            :: else
            fi
        :: else
        fi;
        sane()
    }
    pay()
}

/* Time passes, at any moment; a wait with a limit ends by it, unless it was ended already. */
proctype clock() {
    is_due = true;
    do
    :: atomic { is_linked && has_limit && !is_claimed -> is_claimed = true; assert(!token); token = true }
    :: state == terminated -> break
    od
}

proctype stopper() {
    bool was_asleep, owes, owes_signal;
    d_step { is_stopped = true; rouse(); sane() }
    pay()
}

/* ---- The owner ---- */

inline run_one() {
    track--;
    executed++
}

/* Everything on the owner's side, one by one: unless the loop closes. */
inline run_track() {
    do
    :: atomic { ingress > 0 && track == 0 -> track = ingress; ingress = 0 }
    :: track > 0 && !is_closing -> d_step { assert(state == running || state == terminating); run_one() }
    :: track == 0 && ingress == 0 -> break
    :: is_closing -> break
    od
}

inline finish() {
    d_step { has_timer = false }
    do
    :: true ->
        run_track();
        atomic {
            is_out = false;
#ifndef DRAIN_ONCE
            more = (ingress > 0 && !is_closing);
#endif
            if
            :: workers > 0 && !more && !is_closing -> /* in the queue, and not SLEEPING */
                is_linked = true;
                is_claimed = false;
                has_limit = false;
                wakes = 0;
                is_out = true
            :: else
            fi
        }
        if
        :: is_out -> d_step { token -> token = false }
        :: else ->
            if
            :: !more -> break
            :: else
            fi
        fi
    od;
    is_closed = true;
    d_step {
        track = 0; /* what a close has left: given back */
        assert(is_closing || ingress == 0);
        ingress = 0;
        move(terminated);
        is_told = true;
        assert(is_closing || accepted == executed);
        assert(executed <= accepted);
        more = false;
        is_out = false
    }
}

inline go_to_sleep() {
#ifdef LOOK_UNLOCKED
    stays = (ingress > 0 || state != running || is_stopped || !is_alive || (has_timer && is_due));
    d_step {
#else
    d_step {
#ifdef SLEEPING_STORED
        stays = (ingress > 0);
#else
        stays = (ingress > 0 || state != running || (has_timer && is_due));
#ifndef LIFE_UNSEEN
        stays = (stays || !is_alive);
#endif
#ifndef STOP_UNSEEN
        stays = (stays || is_stopped);
#endif
#endif
#endif
        if
        :: !stays ->
#ifdef SLEEPING_STORED
            assert(state == running); /* what the table of moves says */
            state = asleep;
#else
            move(asleep);
#endif
            wakes = 0;
            has_limit = has_timer;
#ifdef EPOLL
            is_polling = true;
#else
            is_linked = true;
            is_claimed = false;
#endif
#ifndef LOOK_UNLOCKED
            sane()
#endif
        :: else
        fi
    }
    if
    :: !stays ->
#ifdef EPOLL
#ifdef READ_FIRST
        is_readable = false;
        is_readable || (has_limit && is_due);
#else
        is_readable || (has_limit && is_due);
        is_readable = false;
#endif
        d_step {
            is_polling = false;
#else
        d_step { token -> token = false; is_linked = false }
        d_step {
#endif
            if
            :: state == asleep -> move(running)
            :: else
            fi;
            sane()
        }
    :: else
    fi;
    stays = false
}

proctype owner() {
    bool stays, more, is_out, is_asked, quiet;
    do
    :: quiet = false;
       d_step {
           if
           :: state == awake -> move(running)
           :: else -> quiet = true
           fi
       }
       if
       :: quiet -> break /* ended before it was run */
       :: else
       fi;
       do
       :: is_ending -> break
       :: else ->
           run_track();
           if
           :: has_timer && is_due && !is_ending -> d_step { has_timer = false; timer_fired = true }
           :: else
           fi;
           if
           :: is_stopped -> is_stopped = false; break
           :: else
           fi;
           if
           :: !is_alive ->
#ifdef QUIET
               if /* on_quiet */
               :: !is_asked -> d_step { is_asked = true; track++; accepted++ }
               :: else
               fi;
#endif
               d_step {
#ifdef COMMIT_BLIND
                   quiet = (state == running && track == 0);
#else
                   quiet = (state == running && !is_alive);
#endif
                   if
                   :: quiet -> move(terminating)
                   :: else
                   fi;
                   quiet = false
               }
           :: else -> go_to_sleep()
           fi
       od;
       atomic {
           quiet = (state == running);
           if
           :: quiet -> move(awake)
           :: else
           fi
       }
       if
       :: !quiet -> finish(); break
       :: else -> quiet = false
       fi
    od
}

proctype ender() {
    bool was_asleep, owes, owes_signal, stays, more, is_out;
    d_step {
        if
        :: state == terminated -> is_out = true
        :: else ->
#ifdef CLOSE
            is_closing = true;
#endif
            stays = (state == awake);
            was_asleep = (state == asleep);
            if
            :: state != terminating -> move(terminating)
            :: else
            fi;
            if
#ifndef END_SILENT
            :: !stays -> wake_up()
#endif
            :: else
            fi
        fi
    }
    if
    :: is_out
    :: !is_out && stays -> finish() /* nobody runs it: it is finished here */
    :: !is_out && !stays -> pay()
    fi;
    is_told
}

init {
    byte i;
    atomic {
        workers = 1;
        run owner();
        run worker();
        run keeper();
        run setter();
        run clock();
#ifdef WITH_STOP
        run stopper();
#endif
#ifndef QUIET
        run ender();
#endif
        do
        :: i < P -> run producer(); i++
        :: else -> break
        od
    }
    _nr_pr == 1;
    assert(state == terminated && !is_linked && !is_polling && !token);
    assert(is_closing || accepted == executed);
#ifdef QUIET
    assert(!has_timer && keeps == 0 && workers == 0)
#endif
}
