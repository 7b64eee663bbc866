/* SPDX-License-Identifier: MIT
 *
 * spec/ffi_callback_test.c - foreign code that calls back: inside the fiber's call, on other threads, with panics.
 *
 * What a callback gives to the compiler's call is compared with what the same function gives without one in between.
 */
#include "support/child.h"
#include "support/dynamic.h"

static void compare_longs(const weft_ffi_value *args, weft_ffi_value *result, void *arg) {
    long left = *(const long *)args[0].pointer, right = *(const long *)args[1].pointer;
    ++*(int *)arg;
    result->i = left < right ? -1 : left > right;
}

static void sort_by_callback(void) {
    enum { COUNT = 100 };
    long items[COUNT];
    uint64_t state = wf_test_seed();
    int calls = 0;
    weft_ffi_callback *compare;
    for (int i = 0; i < COUNT; i++)
        items[i] = (long)random_below(&state, 1000) - 500;
    CHECK_EQ(weft_ffi_callback_new(&compare, "pp)i", compare_longs, &calls, 0), 0);
    weft_ffi_value args[] = {
        {.pointer = items}, {.uj = COUNT}, {.uj = sizeof items[0]}, {.pointer = weft_ffi_callback_address(compare)}};
    invoke_once((void *)qsort, "pJJp)v", args, 4, NULL);
    weft_ffi_callback_free(compare);
    CHECK_GE(calls, COUNT - 1);
    for (int i = 1; i < COUNT; i++)
        CHECK_LE(items[i - 1], items[i]);
}

TEST(qsort_calls_back) {
    run_both(sort_by_callback);
}

struct mixed {
    int64_t a;
    double b;
};
struct nested {
    int8_t a;
    struct {
        int16_t s;
        double d;
    } inner;
    float f;
};

static struct mixed turn_mixed(struct mixed x, int by) {
    return (struct mixed){(int64_t)x.b + by, (double)x.a};
}
static struct nested turn_nested(struct nested x, int by) {
    return (struct nested){(int8_t)(x.a + 1), {(int16_t)(x.inner.s + by), x.inner.d * 2}, x.f + 1};
}
static bool is_same_mixed(const struct mixed *x, const struct mixed *y) {
    return x->a == y->a && x->b == y->b;
}
static bool is_same_nested(const struct nested *x, const struct nested *y) {
    return x->a == y->a && x->inner.s == y->inner.s && x->inner.d == y->inner.d && x->f == y->f;
}

#define TURN_BACK(name, member) \
    static void back_##name(const weft_ffi_value *args, weft_ffi_value *result, void *arg) { \
        CHECK(arg == &result_of_handlers); \
        result->member = pass_##name(args[0].member); \
    }
static int result_of_handlers;
TURN_BACK(bool, b)
TURN_BACK(i8, i8)
TURN_BACK(u8, u8)
TURN_BACK(i16, i16)
TURN_BACK(u16, u16)
TURN_BACK(int, i)
TURN_BACK(unsigned, u)
TURN_BACK(long, j)
TURN_BACK(ulong, uj)
TURN_BACK(i64, i64)
TURN_BACK(u64, u64)
TURN_BACK(float, f32)
TURN_BACK(double, f64)
TURN_BACK(pointer, pointer)

#define CHECK_BACK(name, type, signature, value) \
    do { \
        weft_ffi_callback *back_callback; \
        CHECK_EQ(weft_ffi_callback_new(&back_callback, signature, back_##name, &result_of_handlers, 0), 0); \
        type (*back_fn)(type) = (type(*)(type))weft_ffi_callback_address(back_callback); \
        CHECK(back_fn(value) == pass_##name(value)); \
        weft_ffi_callback_free(back_callback); \
    } while (0)

static void back_nested(const weft_ffi_value *args, weft_ffi_value *result, void *arg) {
    (void)arg;
    *(struct nested *)result->pointer = turn_nested(*(const struct nested *)args[0].pointer, args[1].i);
}

static void back_mixed(const weft_ffi_value *args, weft_ffi_value *result, void *arg) {
    (void)arg;
    *(struct mixed *)result->pointer = turn_mixed(*(const struct mixed *)args[0].pointer, args[1].i);
}

static void call_back_structs(void) {
    weft_ffi_callback *callback;
    CHECK_EQ(weft_ffi_callback_new(&callback, "{c{sd}f}i){c{sd}f}", back_nested, NULL, 0), 0);
    struct nested (*turn)(struct nested, int) =
        (struct nested(*)(struct nested, int))weft_ffi_callback_address(callback);
    struct nested in = {1, {2, 3.5}, 4.5f}, want = turn_nested(in, 9), got = turn(in, 9);
    CHECK(is_same_nested(&got, &want));
    weft_ffi_callback_free(callback);
    CHECK_EQ(weft_ffi_callback_new(&callback, "{ld}i){ld}", back_mixed, NULL, 0), 0);
    struct mixed (*mix)(struct mixed, int) = (struct mixed(*)(struct mixed, int))weft_ffi_callback_address(callback);
    struct mixed first = {3, 4}, turned = turn_mixed(first, 1), mixed = mix(first, 1);
    CHECK(is_same_mixed(&mixed, &turned));
    weft_ffi_callback_free(callback);
}

static void call_back(void) {
    CHECK_BACK(bool, bool, "B)B", true);
    CHECK_BACK(i8, int8_t, "c)c", -7);
    CHECK_BACK(u8, uint8_t, "C)C", 254);
    CHECK_BACK(i16, int16_t, "s)s", -700);
    CHECK_BACK(u16, uint16_t, "S)S", 65000);
    CHECK_BACK(int, int, "i)i", -70000);
    CHECK_BACK(unsigned, unsigned, "I)I", 4000000000u);
    CHECK_BACK(long, long, "j)j", -5000000000);
    CHECK_BACK(ulong, unsigned long, "J)J", 5000000000u);
    CHECK_BACK(i64, int64_t, "l)l", -5);
    CHECK_BACK(u64, uint64_t, "L)L", UINT64_MAX - 1);
    CHECK_BACK(float, float, "f)f", 2.5f);
    CHECK_BACK(double, double, "d)d", 1e100);
    CHECK_BACK(pointer, void *, "p)p", &result_of_handlers);
    call_back_structs();
}

TEST(every_type_comes_back) {
    run_both(call_back);
}

/* A library that calls back on a thread of its own and waits for it. */
struct foreign {
    int (*fn)(int);
    int in, out;
};

static void *foreign_main(void *opaque) {
    struct foreign *foreign = opaque;
    foreign->out = foreign->fn(foreign->in);
    return NULL;
}

static int call_on_thread(int (*fn)(int), int in) {
    struct foreign foreign = {.fn = fn, .in = in};
    thread_join(thread_start(foreign_main, &foreign));
    return foreign.out;
}

struct seen {
    bool is_fiber;
    weft_fiber caller;
};

static void note_and_double(const weft_ffi_value *args, weft_ffi_value *result, void *arg) {
    struct seen *seen = arg;
    weft_yield();
    seen->is_fiber = weft_self().bits != 0;
    CHECK(!seen->is_fiber || weft_self().bits != seen->caller.bits);
    result->i = args[0].i * 2;
}

static void call_from_thread(unsigned flags, bool wants_fiber) {
    weft_ffi_callback *callback;
    weft_ffi_value result;
    struct seen seen = {.caller = weft_self()};
    CHECK_EQ(weft_ffi_callback_new(&callback, "i)i", note_and_double, &seen, flags), 0);
    weft_ffi_value args[] = {{.pointer = weft_ffi_callback_address(callback)}, {.i = 21}};
    invoke_once((void *)call_on_thread, "pi)i", args, 2, &result);
    CHECK_EQ(result.i, 42);
    CHECK_EQ(seen.is_fiber, wants_fiber);
    weft_ffi_callback_free(callback);
}

static void call_from_thread_plainly(void) {
    call_from_thread(0, false);
}

TEST(a_callback_on_a_foreign_thread_runs_there) {
    run_both(call_from_thread_plainly);
}

static void call_from_thread_on_fiber(void) {
    call_from_thread(WEFT_CALLBACK_ON_FIBER, true);
}

/* In replay there is one thread, and it waits for the library's. */
TEST(a_callback_on_a_foreign_thread_gets_a_fiber_if_asked) {
    if (!HAS_LIBFFI() || getenv("WEFT_SEED"))
        return;
    run_fibers(call_from_thread_on_fiber);
    call_from_thread(WEFT_CALLBACK_ON_FIBER, false); /* no runtime: in place */
}

static void belongs_to_caller(const weft_ffi_value *args, weft_ffi_value *result, void *arg) {
    (void)args;
    result->b = weft_self().bits == ((const struct seen *)arg)->caller.bits;
}

static bool call_here(bool (*fn)(void)) {
    return fn();
}

static void call_back_in_foreign_call(void) {
    for (unsigned flags = 0; flags <= WEFT_CALLBACK_ON_FIBER; flags++) {
        weft_ffi_callback *callback;
        weft_ffi_value result;
        struct seen seen = {.caller = weft_self()};
        CHECK_EQ(weft_ffi_callback_new(&callback, ")B", belongs_to_caller, &seen, flags), 0);
        weft_ffi_value address = {.pointer = weft_ffi_callback_address(callback)};
        invoke_once((void *)call_here, "p)B", &address, 1, &result);
        CHECK(result.b);
        weft_ffi_callback_free(callback);
    }
}

TEST(a_callback_inside_a_foreign_call_is_part_of_its_fiber) {
    run_both(call_back_in_foreign_call);
}

/* Panics */
static void panic_in_handler(const weft_ffi_value *args, weft_ffi_value *result, void *arg) {
    (void)args;
    (void)result;
    weft_panic("from %s", (const char *)arg);
}

static void sort_with_panic(void *opaque) {
    long items[] = {2, 1, 3};
    weft_ffi_callback *compare = opaque;
    weft_ffi_value args[] = {
        {.pointer = items}, {.uj = 3}, {.uj = sizeof items[0]}, {.pointer = weft_ffi_callback_address(compare)}};
    weft_ffi_symbol *symbol = bind_function((void *)qsort, "pJJp)v");
    CHECK_EQ(weft_defer((void (*)(void *))weft_ffi_symbol_free, symbol), 0);
    invoke(symbol, args, 4, NULL);
    CHECK(!"reached");
}

static void recover_from_handler(void) {
    weft_ffi_callback *compare;
    char why[32];
    CHECK_EQ(weft_ffi_callback_new(&compare, "pp)i", panic_in_handler, (void *)(uintptr_t) "below qsort", 0), 0);
    for (int i = 0; i < 3; i++) {
        CHECK_EQ(weft_try(sort_with_panic, compare, why, sizeof why), -EOWNERDEAD);
        CHECK_TEXT(why, "from below qsort");
        weft_yield();
    }
    weft_ffi_callback_free(compare);
    sort_by_callback(); /* and all goes on */
}

TEST(a_panic_passes_through_foreign_frames) {
    if (HAS_LIBFFI())
        run_fibers(recover_from_handler);
}

static void die_in_handler(void *opaque) {
    weft_ffi_callback *callback;
    CHECK_EQ(
        weft_ffi_callback_new(&callback, "i)i", panic_in_handler, (void *)(uintptr_t) "a thread", *(unsigned *)opaque),
        0);
    call_on_thread((int (*)(int))weft_ffi_callback_address(callback), 1);
}

static unsigned flags_of_dying;

static void die_in_runtime(void) {
    die_in_handler(&flags_of_dying);
}

static void die_in_handler_with_runtime(void *opaque) {
    flags_of_dying = *(unsigned *)opaque;
    run_fibers_with(&(weft_options){.workers = 2}, die_in_runtime);
}

TEST(a_panic_on_a_foreign_thread_is_fatal_and_says_so) {
    if (!HAS_LIBFFI())
        return;
    unsetenv("WEFT_WORKERS");
    for (unsigned flags = 0; flags <= WEFT_CALLBACK_ON_FIBER; flags++) {
        struct child_end end = child_run(die_in_handler, &flags);
        CHECK_CHILD_FATAL(&end, "where nobody can catch it: from a thread");
        if (getenv("WEFT_SEED")) /* see above */
            continue;
        end = child_run(die_in_handler_with_runtime, &flags);
        CHECK_CHILD_FATAL(&end, "where nobody can catch it: from a thread");
    }
}
