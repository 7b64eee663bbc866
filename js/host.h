/* SPDX-License-Identifier: MIT
 *
 * js/host.h - an instance, its turn, and what its native functions are made of.
 *
 * The turn
 *   The engine is entered by whoever has the turn: a callback of the loop, or the go fiber to which such a callback has lent it.
 *
 *     LOOP --begin, resume--> FIBER f --wait, end--> LOOP
 *
 *   A callback that lends it waits until it comes back, so there is one order of everything, that of the loop. A fiber gives it
 *   back before it waits, waits as any fiber does, and then asks the loop for it by a callback of its own. What belongs to a
 *   place on a stack, the engine's innermost frame and the end of the stack, changes hands with the turn.
 *
 * Jobs
 *   The engine's queue of jobs is drained by one microtask of the loop, which is there whenever the queue is not empty: so jobs
 *   come after what nextTick has put off, and before the next callback.
 */
#ifndef WF_JS_HOST_H
#define WF_JS_HOST_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>

#include "embed.h"

/* What JavaScript is told through: functions that js/lib sets with host.setHook. */
enum wf_js_hook {
    WF_JS_ON_TIMER,      /* (timer or immediate) */
    WF_JS_ON_UNCAUGHT,   /* (error) -> whether somebody cares */
    WF_JS_ON_REJECTIONS, /* ([promise, reason]...) */
    WF_JS_ON_HANDLED,    /* (promise) */
    WF_JS_ON_QUIET,      /* beforeExit */
    WF_JS_ON_EXIT,       /* (code) */
    WF_JS_RESOLVE,       /* (specifier, base) -> name */
    WF_JS_LOAD,          /* (name, attributes) -> [kind, text or value] */
    WF_JS_ON_MESSAGE,    /* (port, news, value, transferred): js/port.c */
    WF_JS_HOOKS,
};

struct wf_js_fiber {
    weft_js *js;
    struct wf_js_fiber *next, *previous; /* of the instance's */
    JSValue fn;
    JSValue settle[2];
    JSValue *arguments;
    int count;
    int64_t number; /* from 1 */
    char name[32];
    size_t stack_size;
    bool owns_events;           /* its end may poison some, a little later than JavaScript sees it end */
    struct wf_js_job *job;      /* the work that it runs, of a pool; or NULL */
    bool is_background;         /* a program that waits for it alone is over */
    struct wf_js_wait *waiting; /* what it waits for; with the turn */
    weft_semaphore turn;
    void *frame;                /* the engine's, while it has not the turn */
    JSValue surroundings;       /* so are these */
    const char *stack_end;      /* how far JavaScript may go */
    weft_scope *scope;          /* of all its waits; NULL: it has not begun */
    struct wf_js_scope *scopes; /* inside that one, the innermost first */
    bool is_cancelled;          /* before it began */
    JSValue handle;             /* not counted: the handle forgets the fiber, or the other way round */
    weft_fiber id;              /* from its beginning on */
    weft_time since;            /* when it began to wait */
    bool lends;                 /* it makes foreign calls: the loop looks whether it has lent the turn */
    int foreign_errno;          /* errno of its last foreign call */
    struct wf_js_fiber *after;  /* the next one that is back from foreign code; under returned_lock */
};

struct wf_ffi;

struct weft_js {
    uint64_t number; /* no other instance of the process has it, ever */
    weft_loop *loop;
    JSRuntime *runtime;
    JSContext *context;
    weft_js_options options;
    JSValue hooks[WF_JS_HOOKS];
    JSValue libraries; /* name -> exports */
    JSValue host;
    const char *stack_begin, *stack_end; /* of the loop's owner, where it was last found */
    struct wf_js_fiber *holder;          /* NULL: the loop */
    struct wf_js_fiber *fibers;
    weft_runtime *home;  /* of the fiber that runs the loop, when the turn was last lent */
    int64_t fiber_count; /* that there have been */
    int holds;           /* fibers and waits for which the loop is kept: once for all of them. With the turn */
    atomic_int movers;   /* those of them, and others, that do not wait for JavaScript alone: js/deadlock.c */
    struct wf_js_pool *pools;
    int job_count;       /* works of pools that are not over for JavaScript, or are still inside it */
    atomic_int posted;   /* what pools have on its way to the loop */
    weft_fiber *leaving; /* fibers that have ended for JavaScript, but may still poison events of theirs */
    size_t leaving_count, leaving_room;
    bool is_finishing;        /* somebody is in weft_js_finish, */
    bool is_looking;          /* and looks between two turns of the loop whether anything can go on */
    JSValue next_handle;      /* by which the next wait can be cancelled; undefined: it cannot */
    struct wf_js_wait *waits; /* of promises; under waits_lock, since they end on fibers of their own */
    weft_mutex waits_lock;
    struct wf_js_callback *callbacks; /* those that may still come */
    struct wf_js_timers *timers;      /* and immediates: js/timer.c */
    struct wf_js_file **files;        /* by number: js/file.c */
    int file_room;
    struct wf_js_client *client; /* fetch's; made with the first one */
    struct wf_js_server *servers;
    struct wf_js_exchange *exchanges; /* requests that JavaScript has */
    char *piece; /* room for one read that does not wait; made with the first one, for who has the turn */
    int hurried; /* results at once since the loop's last callback */
    weft_semaphore back;
    _Atomic(struct wf_js_fiber *)
        lent;                     /* by which fiber the turn is lent to the loop, which may take it; see js/lend.c */
    atomic_bool is_wanted;        /* the loop has waited long enough for its turn */
    struct wf_js_fiber *returned; /* fibers that are back from foreign code and want the turn, the first of them */
    struct wf_js_fiber **returned_end; /* where the next one goes; null: nobody is there; both under returned_lock */
    weft_mutex returned_lock;
    struct wf_ffi *ffi;          /* what js/ffi.c has */
    _Atomic uint64_t loop_owner; /* who was last in the engine as the loop's owner, as wf_js_self tells */
    _Atomic uint64_t inside;     /* who is in the engine, never two: 0, wf_js_self() or WF_JS_LOOKED_AT */
    int queued;                  /* ticks and the like that the loop has of it, and will call */
    bool drains;                 /* a microtask for the engine's jobs is queued */
    bool rejects;                /* and the end of a checkpoint for rejections */
    JSValue *rejections;         /* promise, reason, ... */
    size_t rejection_count, rejection_room;
    weft_time begun;       /* of the present callback, for max_run */
    bool is_checkpoint;    /* what was last begun is a checkpoint, which may go on */
    JSValue main;          /* the promise of the main module */
    JSValue place;         /* where what nobody has caught was thrown, if it is no error */
    atomic_bool has_ended; /* process.exit, or something that nobody caught, or it is being freed */
    int exit_code;
    /* What others bring, and ends. */
    atomic_int incoming;          /* callbacks that others have brought, and the loop will call: js/incoming.c */
    struct seat *seats;           /* ports: js/port.c */
    struct wf_js_channel *gone;   /* handles of channels: js/channel.c */
    struct seat *closing;         /* those that the close phase will end */
    struct promised *promised;    /* of Atomics.waitAsync */
    uint32_t errors;              /* that nobody has caught */
    bool has_finished;            /* by itself, with nothing left to do */
    bool is_lost;                 /* when it is freed, and has not: js/line.c */
    struct wf_js_child *child;    /* its own side, if another instance has started it: js/spawn.c */
    struct wf_js_child *children; /* those that it has started */
    weft_time deadline;           /* when it ends, whatever it does; 0: never */
    struct wf_js_embed embed;
};

/* js/instance.c */
/* Nobody's id: a dump looks at the engine, and nobody may enter for a moment. */
enum { WF_JS_LOOKED_AT = 1 };
/* Who calls: the id of a fiber, or something that no other thread has. */
uint64_t wf_js_self(void);
/* Waits for dumps, and for nobody else. */
void wf_js_be_inside(weft_js *js, uint64_t who);
static inline weft_js *wf_js_of(JSContext *context) {
    return JS_GetContextOpaque(context);
}
/* Into the engine from a callback of the loop, and out of it. False: it has ended, and nothing is to be done. */
bool wf_js_enter(weft_js *js);
/* The same for ticks and jobs: all of a checkpoint have the time of one callback. */
bool wf_js_enter_checkpoint(weft_js *js);
/* The same after the end, too: somebody has to clear away what is left. */
void wf_js_enter_any(weft_js *js);
void wf_js_leave(weft_js *js);
/* Inside: calls, and reports what is thrown. False: something was. */
bool wf_js_call(weft_js *js, JSValueConst fn, int count, JSValueConst *arguments);
void wf_js_end(weft_js *js, int code);
JSValue wf_js_throw_errno(JSContext *context, int status, const char *what);
/* The engine may go down to there from now on. */
void wf_js_set_stack(weft_js *js, const char *end);
/* How far JavaScript may go on the present stack, if that is a thread's. */
const char *wf_js_find_stack_end(void);

/* js/uncaught.c: what was thrown and nobody has caught. */
enum { WF_JS_EXIT_LISTENER = 7 };
void wf_js_uncaught(weft_js *js);
void wf_js_print_error(JSContext *context, JSValueConst error);
/* Promises that were rejected: the engine's hook; telling of those that nobody has handled; one that somebody has seen. */
void wf_js_on_rejection(JSContext *context, JSValueConst promise, JSValueConst reason, JS_BOOL is_handled,
                        void *opaque);
void wf_js_tell_rejections(weft_js *js);
bool wf_js_forget_rejection(weft_js *js, JSValueConst promise);

/* js/turn.c: fibers. */
/* Something to wait for, on any fiber; then its result, with the turn. Allocated by malloc, and freed by wf_js_perform. */
struct wf_js_wait {
    weft_js *js;
    int (*wait)(struct wf_js_wait *wait); /* without the turn: the status */
    JSValue (*finish)(JSContext *context,
                      struct wf_js_wait *wait); /* with it, whatever the status: also frees what it holds */
    bool is_local;     /* only JavaScript of this instance can end it, or its end; with that, */
    const char *what;  /* what is waited for, in words */
    weft_fiber fiber;  /* that waits; with the turn */
    atomic_bool is_up; /* it has ended, though nobody may have been told yet */
    bool is_sure;      /* on a fiber that is cancelled, too */
    bool is_promise;   /* also on a fiber */
    bool
        has_callback; /* instead of a promise, on a fiber too: callback(error), or callback(null, result if there is one) */
    JSValue callback;
    JSValue surroundings; /* of the callback */
    int status;
    JSValue handle;    /* by which JavaScript can cancel it, or undefined */
    bool is_cancelled; /* by that; under waits_lock */
    /* of a promise's wait, or a callback's */
    JSValue settle[2];
    bool is_apart;                      /* on a fiber of its own */
    bool is_idle;                       /* does not keep the loop alive */
    size_t stack_size;                  /* of that; 0: as fibers of C have */
    struct wf_js_wait *next, *previous; /* under the instance's waits_lock; so is the scope */
    weft_scope *scope;
};
/* A fiber that others have started, of whatever runtime, takes part: it waits for the turn. JavaScript may use its stack down to
 * there. Then it goes again, without the turn; the block is gone. */
struct wf_js_fiber *wf_js_attend(weft_js *js, const char *stack_end);
void wf_js_depart(struct wf_js_fiber *fiber);
/* On a fiber with the turn: what wait(arg) returns, which runs here without it. */
int wf_js_step_aside(struct wf_js_fiber *fiber, int (*wait)(struct wf_js_wait *wait), struct wf_js_wait *arg);

/* js/wait.c */
/* On a go fiber it waits and returns the result; elsewhere it returns a promise of it, or undefined when it has a callback,
 * which it takes over. */
JSValue wf_js_perform(JSContext *context, struct wf_js_wait *wait);
/* js/frame.c: whether fibers can take turns in this engine. */
bool wf_js_is_frame_safe(void);
/* Ends every wait of the instance, which has ended: then its fibers end, one turn of the loop after another. */
void wf_js_cancel_all(weft_js *js);
/* The list of waits. Nobody waits for anything in between. */
void wf_js_lock_waits(weft_js *js);
void wf_js_unlock_waits(weft_js *js);
/* What must not get lost: waits for memory. -EPIPE: the loop has ended. */
int wf_js_submit(weft_loop *loop, weft_loop_fn fn, void *arg);
/* Whether the next wait is to call back, by its handle. */
bool wf_js_is_called(weft_js *js);
/* After the end: what gets out of all JavaScript there is on a stack. */
JSValue wf_js_throw_end(JSContext *context);
/* Locks that are held for a moment, whether or not the fiber is cancelled. */
static inline void wf_js_lock(weft_mutex *mutex) {
    weft_shield();
    weft_mutex_lock(mutex, WEFT_NEVER);
}
static inline void wf_js_unlock(weft_mutex *mutex) {
    weft_mutex_unlock(mutex);
    weft_unshield();
}

/* js/incoming.c: a callback that somebody else brings, who knows that the instance is there; it comes in the poll phase, and says
 * first of all that it has been brought. keeps: the loop stays for it. 0; -EPIPE: the loop is over. */
int wf_js_bring(weft_js *js, weft_loop_fn fn, void *arg, bool keeps);
void wf_js_brought(weft_js *js);

/* Lends the fiber the turn, and waits until it is back. On the loop. */
void wf_js_resume(void *opaque);
/* Waits for the turn that was asked for. */
void wf_js_take_turn(struct wf_js_fiber *fiber);

/* js/lend.c: the turn while a fiber is in foreign code. drop: lazily, the loop takes it only if the call lasts; whether it is lent in
 * that way. regain: false when nobody is left who could give it; *was_kept: it was lent, and nobody has taken it. await: the loop
 * waits for what it has lent to a fiber, and is given it back, null, or takes it from that fiber, which is returned. */
bool wf_js_turn_drop(struct wf_js_fiber *fiber, bool lazily);
bool wf_js_turn_regain(struct wf_js_fiber *fiber, bool *was_kept);
struct wf_js_fiber *wf_js_turn_await(weft_js *js, bool may_be_lent);

/* js/error.c: throws an error in the shape of Node: "ENOENT: no such file or directory, open 'path'", or "'path' -> 'other'"; both
 * may be null. */
JSValue wf_js_throw_system(JSContext *context, int status, const char *call, const char *path, const char *other);
/* js/text.c: a string of bytes that should be UTF-8; what is not becomes U+FFFD. */
JSValue wf_js_new_text(JSContext *context, const char *bytes, size_t size);
bool wf_js_is_utf8(const void *bytes, size_t size);

/* js/deadlock.c: whether anything can still go on. */
/* A fiber, or a wait that is no fiber's, begins, which keeps the loop; and ends. With the turn. Errors of weft_loop_keep. */
int wf_js_begins(weft_js *js);
/* The same for one for which something else keeps the loop. */
void wf_js_arrives(weft_js *js);
void wf_js_ends(weft_js *js, bool is_kept);
/* The loop stays for it, or not, whatever it is. */
int wf_js_keep(weft_js *js);
void wf_js_unkeep(weft_js *js);
/* The wait begins, with the turn; and has ended, without it. */
void wf_js_lies_down(struct wf_js_wait *wait);
void wf_js_gets_up(struct wf_js_wait *wait);
/* The fiber that calls may still end waits of others after its end for JavaScript. */
void wf_js_leaves_late(weft_js *js);
/* Runs the loop until nothing is alive, or nothing can go on: 0. 1: it has been stopped; or its errors. */
int wf_js_run_until_quiet(weft_js *js);
/* All that is alive waits for JavaScript, and there is none that will run. By the owner of the loop, between two turns. */
bool wf_js_is_stranded(weft_js *js);
/* Fibers are among it: says on standard error which ones, and where. */
bool wf_js_tell_deadlock(weft_js *js);

/* js/pool.c: whether no work begins or ends by itself; what has not begun is cancelled; and how many there are of those, told if
 * out is not null. */
bool wf_js_pools_stand_still(weft_js *js);
void wf_js_cancel_works(weft_js *js);
int wf_js_tell_works(const weft_js *js, FILE *out);

/* js/scope.c: at the end of a fiber, on it. */
void wf_js_close_scopes(struct wf_js_fiber *fiber);

/* js/fetch.c: one user less. Null is allowed. */
void wf_js_client_unref(struct wf_js_client *client);
/* js/server.c: at the end, nobody will answer any more. */
void wf_js_drop_servers(weft_js *js);
/* js/ffi.c: at the end, no callback runs any more; whether the loop still has something of it; and when nothing is left on fibers. */
void wf_js_stop_ffi(weft_js *js);
bool wf_js_is_ffi_due(const weft_js *js);
void wf_js_free_ffi(weft_js *js);
/* js/ffi_memory.c: whether a buffer may be detached; else foreign code uses it, which is an exception. */
bool wf_js_is_unpinned(JSContext *context, JSValueConst buffer);
/* js/file.c: a descriptor for the same terminal or pipe that does not block, while that of the others still does; -1: it is
 * something else, or cannot be had. */
int wf_js_open_again(int number);
/* js/file.c: those with numbers; when the engine is gone, whose handles are known by them. */
void wf_js_drop_files(weft_js *js);
/* js/callback.c: at the end, nobody will call any more. As wf_js_call, in surroundings (js/engine.h) that are taken over. */
void wf_js_drop_callbacks(weft_js *js);
bool wf_js_call_in(weft_js *js, JSValue surroundings, JSValueConst fn, int count, JSValueConst *arguments);
/* js/timer.c: the same of timers. */
void wf_js_drop_timers(weft_js *js);
/* js/atomics.c: at the end, nobody will be notified any more. */
void wf_js_drop_promised(weft_js *js);
/* js/spawn.c: at the end, they end too. */
void wf_js_drop_children(weft_js *js);
/* js/value.c: texts that outlive the call, made by malloc (null: an exception); times in milliseconds, below 0 without a limit
 * (false: an exception); and a value that is at hand, which elsewhere than on a fiber becomes a promise, as if waited for. */
char *wf_js_copy_text(JSContext *context, JSValueConst value);
bool wf_js_until(JSContext *context, JSValueConst milliseconds, weft_time *until);
JSValue wf_js_at_once(JSContext *context, JSValue value);
/* Whether a call that need not wait may answer at once. Not when it is to be called back, nor too often without a look at the
 * loop: who has always something to read would keep everybody else from their turn. */
bool wf_js_may_hurry(JSContext *context);
/* An error with a code that is none of the system's, or without one. */
JSValue wf_js_throw_coded(JSContext *context, const char *code, const char *message);
/* A promise of it, on a fiber too; of an exception: rejected with that. */
JSValue wf_js_settled(JSContext *context, JSValue value);
/* The bytes of a Uint8Array, copied by malloc. False: an exception. */
bool wf_js_copy_bytes(JSContext *context, JSValueConst value, char **bytes, size_t *size);
/* What malloc has made becomes a Uint8Array's; it is freed if there is none, too. */
JSValue wf_js_give_bytes(JSContext *context, char *bytes, size_t size);
/* The same number in all instances, given when the first of them wants it. */
void wf_js_new_class(JSRuntime *runtime, JSClassID *id, const JSClassDef *definition);

/* Each adds functions to the host object. 0, or -1 with an exception. */
int wf_js_add_modules(JSContext *context, JSValueConst host);
int wf_js_add_uncaught(JSContext *context, JSValueConst host);
int wf_js_add_turn(JSContext *context, JSValueConst host);
int wf_js_add_callbacks(JSContext *context, JSValueConst host);
int wf_js_add_timers(JSContext *context, JSValueConst host);
int wf_js_add_system(JSContext *context, JSValueConst host);
int wf_js_add_text(JSContext *context, JSValueConst host);
int wf_js_add_files(JSContext *context, JSValueConst host);
int wf_js_add_channels(JSContext *context, JSValueConst host);
int wf_js_add_select(JSContext *context, JSValueConst host);
int wf_js_add_parcels(JSContext *context, JSValueConst host);
int wf_js_add_shared(JSContext *context, JSValueConst host);
int wf_js_add_ports(JSContext *context, JSValueConst host);
int wf_js_add_atomics(JSContext *context, JSValueConst host);
int wf_js_add_waits(JSContext *context, JSValueConst host);
int wf_js_add_spawn(JSContext *context, JSValueConst host);
int wf_js_add_gates(JSContext *context, JSValueConst host);
int wf_js_add_pools(JSContext *context, JSValueConst host);
int wf_js_add_works(JSContext *context, JSValueConst host);
int wf_js_add_work_groups(JSContext *context, JSValueConst host);
int wf_js_add_sleep(JSContext *context, JSValueConst host);
int wf_js_add_events(JSContext *context, JSValueConst host);
int wf_js_add_event_queues(JSContext *context, JSValueConst host);
int wf_js_add_scopes(JSContext *context, JSValueConst host);
int wf_js_add_http(JSContext *context, JSValueConst host);
int wf_js_add_heads(JSContext *context, JSValueConst host);
int wf_js_add_servers(JSContext *context, JSValueConst host);
int wf_js_add_fetch(JSContext *context, JSValueConst host);
int wf_js_add_zlib(JSContext *context, JSValueConst host);
int wf_js_add_streams(JSContext *context, JSValueConst host);
int wf_js_add_writing(JSContext *context, JSValueConst host);
int wf_js_add_sockets(JSContext *context, JSValueConst host);
int wf_js_add_datagrams(JSContext *context, JSValueConst host);
int wf_js_add_names(JSContext *context, JSValueConst host);
int wf_js_add_errors(JSContext *context, JSValueConst host);
int wf_js_add_processes(JSContext *context, JSValueConst host);
int wf_js_add_runs(JSContext *context, JSValueConst host);
int wf_js_add_signals(JSContext *context, JSValueConst host);
int wf_js_add_trace(JSContext *context, JSValueConst host);
int wf_js_add_repl(JSContext *context, JSValueConst host);
int wf_js_add_ffi(JSContext *context, JSValueConst host);

/* The files of js/lib, compiled when the library was built: see cmake/javascript.cmake. */
struct wf_js_source {
    const char *name;
    const uint8_t *code, *end;
};
extern const struct wf_js_source wf_js_sources[];
JSValue wf_js_library(JSContext *context, const char *name);

#endif
