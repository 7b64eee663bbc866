/* SPDX-License-Identifier: MIT
 *
 * unit/ffi/dynamic_test.c - libraries, symbols and callbacks: their lives and every way in which they fail.
 *
 * The library that is loaded is unit/ffi/fixture.c. Whether it is loaded at a moment is asked from the loader. The
 * calls work on fibers and on plain threads; errors are looked at on both.
 */
#include <dlfcn.h>
#include <unistd.h>

#include "os/fault.h"
#include "os/memory.h"
#include "support/dynamic.h"
#include "support/parked.h"

static void give_its_double(const weft_ffi_value *args, weft_ffi_value *result, void *arg) {
    if (arg)
        atomic_fetch_add((atomic_int *)arg, 1);
    result->i = args[0].i * 2;
}

#ifdef FIXTURE
static bool is_loaded(void) {
    void *handle = dlopen(FIXTURE, RTLD_NOW | RTLD_NOLOAD);
    if (handle)
        dlclose(handle);
    return handle != NULL;
}
#else /* no libffi: nothing is ever loaded, and static programs need not bring the loader */
#define FIXTURE "none"
static bool is_loaded(void) {
    return false;
}
#endif

static weft_ffi_symbol *bind_in_fixture(const char *name, const char *signature) {
    weft_ffi_library *library;
    weft_ffi_symbol *symbol;
    CHECK_EQ(weft_ffi_open(&library, FIXTURE), 0);
    CHECK_EQ(weft_ffi_bind_symbol(&symbol, library, name, signature), 0);
    weft_ffi_close(library);
    return symbol;
}

static void keep_loaded(void) {
    weft_ffi_library *library;
    weft_ffi_symbol *symbols[2];
    weft_ffi_value args[] = {{.i = 2}, {.i = 3}}, result;
    CHECK(!is_loaded());
    CHECK_EQ(weft_ffi_open(&library, FIXTURE), 0);
    CHECK(is_loaded());
    for (int i = 0; i < 2; i++)
        CHECK_EQ(weft_ffi_bind_symbol(&symbols[i], library, "fixture_add", "ii)i"), 0);
    weft_ffi_close(library);
    weft_ffi_symbol_free(symbols[0]);
    CHECK(is_loaded());
    CHECK_EQ(weft_ffi_invoke(symbols[1], args, 2, &result), 0);
    CHECK_EQ(result.i, 5);
    weft_ffi_symbol_free(symbols[1]);
    CHECK(!is_loaded());
    CHECK_EQ(weft_ffi_open(&library, FIXTURE), 0);
    weft_ffi_close(library);
    CHECK(!is_loaded());
}

TEST(symbols_keep_their_library_loaded) {
    run_both(keep_loaded);
}

static void fail_to_open(void) {
    weft_ffi_library *library = NULL;
    char path[] = "/tmp/weft-no-library-XXXXXX";
    int fd = mkstemp(path);
    CHECK_GE(fd, 0);
    CHECK_EQ(weft_ffi_open(NULL, FIXTURE), -EINVAL);
    CHECK_EQ(weft_ffi_open(&library, ""), -EINVAL);
    CHECK_EQ(weft_ffi_open(&library, "libthere-is-none.so"), -ENOENT);
    CHECK(strstr(weft_ffi_reason(), "libthere-is-none.so: ") && strstr(weft_ffi_reason(), "No such file"));
    CHECK_EQ(weft_ffi_open(&library, "/there/is/none.so"), -ENOENT);
    CHECK_EQ(weft_ffi_open(&library, path), -EINVAL); /* an empty file */
    CHECK(strstr(weft_ffi_reason(), path));
    char text[4096];
    memset(text, '#', sizeof text);
    CHECK_EQ(write(fd, text, sizeof text), sizeof text);
    CHECK_EQ(weft_ffi_open(&library, path), -EINVAL);
    CHECK(strstr(weft_ffi_reason(), "invalid ELF header"));
    CHECK_EQ(weft_ffi_open(&library, "/tmp"), -EINVAL);
    CHECK(!library);
    CHECK_EQ(unlink(path), 0);
    close(fd);
}

TEST(what_is_no_library_is_refused_with_the_loaders_words) {
    run_both(fail_to_open);
}

static void fail_to_bind(void) {
    weft_ffi_library *library;
    weft_ffi_symbol *symbol = NULL;
    CHECK_EQ(weft_ffi_open(&library, FIXTURE), 0);
    CHECK_EQ(weft_ffi_bind_symbol(&symbol, library, "fixture_none", "i)i"), -ENOENT);
    CHECK(strstr(weft_ffi_reason(), "undefined symbol: fixture_none"));
    CHECK_EQ(weft_ffi_bind_symbol(&symbol, library, "", "i)i"), -ENOENT);
    CHECK_EQ(weft_ffi_bind_symbol(&symbol, library, "fixture_add", "i"), -EINVAL);
    CHECK(strstr(weft_ffi_reason(), "signature \"i\", character 2: "));
    CHECK_EQ(weft_ffi_bind_symbol(NULL, library, "fixture_add", "ii)i"), -EINVAL);
    CHECK_EQ(weft_ffi_bind_symbol(&symbol, NULL, "fixture_add", "ii)i"), -EINVAL);
    CHECK_EQ(weft_ffi_bind_symbol(&symbol, library, NULL, "ii)i"), -EINVAL);
    CHECK_TEXT(weft_ffi_reason(), "the name is null");
    CHECK_EQ(weft_ffi_bind_symbol(&symbol, library, "fixture_add", NULL), -EINVAL);
    CHECK_EQ(weft_ffi_bind_address(NULL, (void *)strlen, "p)J"), -EINVAL);
    CHECK_EQ(weft_ffi_bind_address(&symbol, NULL, "p)J"), -EINVAL);
    CHECK_EQ(weft_ffi_bind_address(&symbol, (void *)strlen, NULL), -EINVAL);
    CHECK(!symbol);
    weft_ffi_close(library);
    CHECK(!is_loaded());
    weft_ffi_close(NULL);
    weft_ffi_symbol_free(NULL);
}

TEST(what_is_no_symbol_is_refused) {
    run_both(fail_to_bind);
}

static struct pair { double x, y; } turn(struct pair pair) {
    return (struct pair){pair.y, pair.x};
}

static void fail_to_invoke(void) {
    weft_ffi_symbol *symbol = bind_in_fixture("fixture_add", "ii)i");
    weft_ffi_value args[3] = {{.i = 1}, {.i = 2}, {.i = 3}}, result = {.i = 77};
    CHECK_EQ(weft_ffi_invoke(NULL, args, 2, &result), -EINVAL);
    CHECK_EQ(weft_ffi_invoke(symbol, NULL, 2, &result), -EINVAL);
    CHECK_EQ(weft_ffi_invoke(symbol, args, 1, &result), -EINVAL);
    CHECK_EQ(weft_ffi_invoke(symbol, args, 3, &result), -EINVAL);
    CHECK_TEXT(weft_ffi_reason(), "3 arguments where the signature has 2");
    CHECK_EQ(result.i, 77);
    weft_ffi_symbol_free(symbol);

    struct pair pair = {1, 2};
    weft_ffi_value in = {.pointer = &pair}, out = {.pointer = NULL}, null = {.pointer = NULL};
    CHECK_EQ(weft_ffi_bind_address(&symbol, (void *)turn, "{dd}){dd}"), 0);
    CHECK_EQ(weft_ffi_invoke(symbol, &null, 1, NULL), -EINVAL);
    CHECK_TEXT(weft_ffi_reason(), "argument 1 is a struct, and its pointer is null");
    CHECK_EQ(weft_ffi_invoke(symbol, &in, 1, &out), -EINVAL);
    out.pointer = &pair; /* over its own argument */
    CHECK_EQ(weft_ffi_invoke(symbol, &in, 1, &out), 0);
    CHECK(pair.x == 2 && pair.y == 1);
    weft_ffi_symbol_free(symbol);
}

TEST(what_does_not_fit_the_signature_is_refused) {
    run_both(fail_to_invoke);
}

static void fail_to_call_back(void) {
    weft_ffi_callback *callback = NULL;
    CHECK_EQ(weft_ffi_callback_new(NULL, "i)i", give_its_double, NULL, 0), -EINVAL);
    CHECK_EQ(weft_ffi_callback_new(&callback, NULL, give_its_double, NULL, 0), -EINVAL);
    CHECK_EQ(weft_ffi_callback_new(&callback, "i)i", NULL, NULL, 0), -EINVAL);
    CHECK_TEXT(weft_ffi_reason(), "the handler is null");
    CHECK_EQ(weft_ffi_callback_new(&callback, "i)i", give_its_double, NULL, 2), -EINVAL);
    CHECK_TEXT(weft_ffi_reason(), "unknown flags 0x2");
    CHECK(!callback);
    CHECK(!weft_ffi_callback_address(NULL));
    weft_ffi_callback_free(NULL);
}

TEST(what_makes_no_callback_is_refused) {
    run_both(fail_to_call_back);
}

/* Everything once. Whatever fails does so with that error, says why, and leaves nothing. */
static void do_everything(int error) {
    weft_ffi_library *library = NULL;
    weft_ffi_symbol *symbols[2] = {NULL, NULL};
    weft_ffi_callback *callback = NULL;
    int statuses[4] = {0};
    statuses[0] = weft_ffi_open(&library, FIXTURE);
    if (library)
        statuses[1] = weft_ffi_bind_symbol(&symbols[0], library, "fixture_add", "ii)i");
    statuses[2] = weft_ffi_bind_address(&symbols[1], (void *)turn, "{dd}){dd}");
    statuses[3] = weft_ffi_callback_new(&callback, "{dd}){dd}", give_its_double, NULL, 0);
    for (int i = 0; i < 4; i++)
        CHECK(statuses[i] == 0 || statuses[i] == error);
    CHECK_EQ(statuses[0] == 0, library != NULL);
    CHECK_EQ(library && statuses[1] == 0, symbols[0] != NULL);
    CHECK_EQ(statuses[2] == 0, symbols[1] != NULL);
    CHECK_EQ(statuses[3] == 0, callback != NULL);
    weft_ffi_callback_free(callback);
    weft_ffi_symbol_free(symbols[1]);
    weft_ffi_symbol_free(symbols[0]);
    weft_ffi_close(library);
}

static void sweep(enum wf_system_call call, int error, int least) {
    int64_t blocks = wf_os_live_blocks();
    int points = 0;
    for (long hits = 1, nth = 1; hits; nth++) {
        wf_fault_order(call, nth, error, 0);
        do_everything(-error);
        hits = wf_fault_hits();
        wf_fault_order(WF_CALL_COUNT, 0, 0, 0);
        CHECK(!is_loaded());
        points += hits > 0;
    }
    CHECK_GE(points, least);
    if (!weft_self().bits)
        CHECK_EQ(wf_os_live_blocks(), blocks);
}

static void sweep_all(void) {
    sweep(WF_CALL_ALLOC, ENOMEM, 7);
    sweep(WF_CALL_LIBRARY_OPEN, ENOMEM, 1);
    sweep(WF_CALL_LIBRARY_OPEN, ENOENT, 1);
    sweep(WF_CALL_LIBRARY_FIND, ENOMEM, 1);
    sweep(WF_CALL_LIBRARY_FIND, ENOENT, 1);
    sweep(WF_CALL_CLOSURE, ENOMEM, 1);
}

TEST(every_refusal_of_the_system_is_survived) {
    run_both(sweep_all);
}

static void lose_reasons(void) {
    weft_ffi_symbol *symbol = NULL;
    CHECK(strstr(weft_ffi_reason(), "no reason is known"));
    wf_fault_order(WF_CALL_ALLOC, 1, ENOMEM, 1);
    CHECK_EQ(weft_ffi_bind_address(&symbol, (void *)turn, "i)i"), -ENOMEM);
    wf_fault_order(WF_CALL_COUNT, 0, 0, 0);
    CHECK(strstr(weft_ffi_reason(), "no memory to keep it"));
    wf_fault_order(WF_CALL_ALLOC, 1, ENOMEM, 0);
    CHECK_EQ(weft_ffi_bind_address(&symbol, (void *)turn, "i)i"), -ENOMEM);
    wf_fault_order(WF_CALL_COUNT, 0, 0, 0);
    CHECK_TEXT(weft_ffi_reason(), "out of memory");
    CHECK(!symbol);
}

TEST(a_reason_that_cannot_be_kept_is_lost_and_nothing_else) {
    if (HAS_LIBFFI())
        run_fibers(lose_reasons);
}

/* One fiber is bound, and no other can be. */
struct refusal {
    weft_ffi_library *library;
    weft_ffi_symbol *symbol;
    weft_fallback fallback;
};

static void *call_unbound(void *opaque) {
    struct refusal *refusal = opaque;
    bool is_refused = refusal->fallback == WEFT_FALLBACK_ERROR;
    weft_ffi_value args[] = {{.i = 2}, {.i = 3}}, result = {.i = 0};
    weft_ffi_library *library = NULL;
    CHECK_EQ(weft_ffi_invoke(refusal->symbol, args, 2, &result), is_refused ? -EAGAIN : 0);
    CHECK_EQ(result.i, is_refused ? 0 : 5);
    CHECK_EQ(weft_ffi_open(&library, NULL), is_refused ? -EAGAIN : 0);
    CHECK_EQ(library == NULL, is_refused);
    CHECK_EQ(is_refused, strstr(weft_ffi_reason(), "no more fibers can be bound") != NULL);
    weft_ffi_close(library);
    weft_ffi_symbol_free(refusal->symbol);
    CHECK(is_loaded());
    weft_ffi_close(refusal->library); /* this cannot be refused */
    CHECK(!is_loaded());
    return NULL;
}

static weft_fallback fallback_of_run;

static void call_beyond_the_limit(void) {
    struct refusal refusal = {.fallback = fallback_of_run};
    weft_fiber fiber;
    CHECK_EQ(weft_bind(NULL), 0);
    CHECK_EQ(weft_ffi_open(&refusal.library, FIXTURE), 0);
    CHECK_EQ(weft_ffi_bind_symbol(&refusal.symbol, refusal.library, "fixture_add", "ii)i"), 0);
    SPAWN(&fiber, call_unbound, &refusal);
    JOIN(fiber, NULL);
}

TEST(a_fiber_that_cannot_be_bound_is_refused_or_calls_unbound) {
    if (!HAS_LIBFFI() || getenv("WEFT_SEED"))
        return;
    for (int i = 0; i < 2; i++) {
        fallback_of_run = i ? WEFT_FALLBACK_ERROR : WEFT_FALLBACK_BLOCKING;
        run_fibers_with(&(weft_options){.max_bound = 1, .bound_fallback = fallback_of_run}, call_beyond_the_limit);
    }
}

/* A fiber that is dropped with its runtime leaves no reason behind: the balance after the test says so. */
static void *fail_and_wait(void *arg) {
    CHECK_EQ(weft_ffi_size_of("?"), -EINVAL);
    weft_sleep(WEFT_NEVER);
    return arg;
}

static void leave_one_waiting(void) {
    weft_fiber fiber;
    SPAWN(&fiber, fail_and_wait, NULL);
    wait_parked(fiber);
}

TEST(a_dropped_fiber_leaves_no_reason_behind) {
    if (HAS_LIBFFI())
        run_fibers_with(&(weft_options){.abandon = true}, leave_one_waiting);
}

/* Foreign threads, begun beside the runtime. */
struct outside {
    weft_ffi_callback *callback;
    int value;
};

static void *call_outside(void *opaque) {
    struct outside *outside = opaque;
    int (*fn)(int) = (int (*)(int))weft_ffi_callback_address(outside->callback);
    outside->value = fn(outside->value);
    return NULL;
}

static void give_its_double_on_fiber(const weft_ffi_value *args, weft_ffi_value *result, void *arg) {
    CHECK(weft_self().bits != 0);
    weft_yield();
    give_its_double(args, result, arg);
}

static void call_from_outside(void) {
    enum { THREADS = 4 };
    atomic_int calls = 0;
    struct outside outsides[THREADS];
    struct on_thread_call threads[THREADS];
    weft_ffi_callback *callback;
    CHECK_EQ(weft_ffi_callback_new(&callback, "i)i", give_its_double_on_fiber, &calls, WEFT_CALLBACK_ON_FIBER), 0);
    for (int i = 0; i < THREADS; i++) {
        outsides[i] = (struct outside){callback, 10 + i};
        on_thread_start(&threads[i], call_outside, &outsides[i]);
    }
    for (int i = 0; i < THREADS; i++) {
        on_thread_finish(&threads[i]);
        CHECK_EQ(outsides[i].value, 2 * (10 + i));
    }
    CHECK_EQ(atomic_load(&calls), THREADS);
    weft_ffi_callback_free(callback);
}

TEST(foreign_threads_get_fibers_at_the_same_time) {
    if (HAS_LIBFFI())
        run_fibers(call_from_outside);
}

/* No fiber is to be had: the caller gets its answer all the same. */
static void *wait_for_calls(void *arg) {
    WAIT_UNTIL(atomic_load((atomic_int *)arg));
    return NULL;
}

static void call_without_fiber(void) {
    atomic_int calls = 0;
    weft_fiber second;
    struct outside outside = {.value = 4};
    struct on_thread_call thread;
    CHECK_EQ(weft_ffi_callback_new(&outside.callback, "i)i", give_its_double, &calls, WEFT_CALLBACK_ON_FIBER), 0);
    SPAWN(&second, wait_for_calls, &calls);
    on_thread_start(&thread, call_outside, &outside);
    on_thread_finish(&thread);
    JOIN(second, NULL);
    CHECK_EQ(outside.value, 8);
    CHECK_EQ(atomic_load(&calls), 1);
    weft_ffi_callback_free(outside.callback);
}

TEST(a_callback_runs_in_place_when_there_is_no_room_for_a_fiber) {
    if (HAS_LIBFFI())
        run_fibers_with(&(weft_options){.max_fibers = 2}, call_without_fiber);
}

static void call_the_fixture(void) {
    atomic_int calls = 0;
    weft_ffi_callback *callback;
    weft_ffi_symbol *symbol = bind_in_fixture("fixture_call_on_thread", "pi)i");
    CHECK_EQ(weft_ffi_callback_new(&callback, "i)i", give_its_double, &calls, 0), 0);
    weft_ffi_value args[] = {{.pointer = weft_ffi_callback_address(callback)}, {.i = 8}}, result;
    CHECK_EQ(weft_ffi_invoke(symbol, args, 2, &result), 0);
    CHECK_EQ(result.i, 16);
    CHECK_EQ(atomic_load(&calls), 1);
    weft_ffi_callback_free(callback);
    weft_ffi_symbol_free(symbol);
}

TEST(a_library_calls_back_on_a_thread_of_its_own) {
    run_both(call_the_fixture);
}

/* A panic below two calls, each of which went through libffi in both directions. Cleanups of the library's frames run,
 * so the unwinder can read those of libffi. */
struct nest {
    const weft_ffi_symbol *symbol;
    weft_ffi_callback *callback;
    int cleanups;
};

static int call_nested(struct nest *nest, int depth) {
    weft_ffi_value args[] = {
        {.pointer = weft_ffi_callback_address(nest->callback)}, {.i = depth}, {.pointer = &nest->cleanups}};
    weft_ffi_value result = {.i = -1};
    CHECK_EQ(weft_ffi_invoke(nest->symbol, args, 3, &result), 0);
    return result.i;
}

static void go_deeper(const weft_ffi_value *args, weft_ffi_value *result, void *arg) {
    if (args[0].i == 0)
        weft_panic("at the bottom");
    result->i = call_nested(arg, args[0].i - 1);
}

static void dive(void *opaque) {
    call_nested(opaque, 1);
}

static void unwind_everything(void) {
    struct nest nest = {.symbol = bind_in_fixture("fixture_call", "pip)i")};
    char why[32];
    CHECK_EQ(weft_ffi_callback_new(&nest.callback, "i)i", go_deeper, &nest, 0), 0);
    CHECK_EQ(weft_try(dive, &nest, why, sizeof why), -EOWNERDEAD);
    CHECK_TEXT(why, "at the bottom");
    CHECK_EQ(nest.cleanups, 2);
    weft_ffi_callback_free(nest.callback);
    weft_ffi_symbol_free((weft_ffi_symbol *)(uintptr_t)nest.symbol);
}

TEST(a_panic_cleans_up_every_frame_on_both_sides_of_libffi) {
    if (HAS_LIBFFI())
        run_fibers(unwind_everything);
}
