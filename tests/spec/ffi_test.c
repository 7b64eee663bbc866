/* SPDX-License-Identifier: MIT
 *
 * spec/ffi_test.c - dynamic foreign calls: functions of the C library, every type and struct, many fibers at once.
 *
 * What a call gives is compared with the same call made by the compiler. Without libffi all of it has to say so, and
 * nothing else is looked at.
 */
#include <limits.h>

#include "support/dynamic.h"

static weft_ffi_symbol *shared_symbol;

static weft_ffi_value open_and_invoke(const char *path, const char *name, const char *signature,
                                      const weft_ffi_value *args, unsigned count) {
    weft_ffi_library *library;
    weft_ffi_symbol *symbol;
    weft_ffi_value result = {0};
    CHECK_EQ(weft_ffi_open(&library, path), 0);
    CHECK_EQ(weft_ffi_bind_symbol(&symbol, library, name, signature), 0);
    weft_ffi_close(library);
    invoke(symbol, args, count, &result);
    weft_ffi_symbol_free(symbol);
    return result;
}

static void call_the_library(void) {
    weft_ffi_value base[] = {{.f64 = 2}, {.f64 = 10}};
    weft_ffi_value text = {.string = "fourteen bytes"};
    CHECK(open_and_invoke("libm.so.6", "pow", "dd)d", base, 2).f64 == 1024);
    CHECK_EQ(open_and_invoke(NULL, "strlen", "Z)J", &text, 1).uj, 14);
}

TEST(functions_of_libraries_are_called_by_name) {
    run_both(call_the_library);
}

static void print_variable(void) {
    char buffer[64] = "";
    weft_ffi_value result;
    weft_ffi_value args[] = {{.pointer = buffer}, {.uj = sizeof buffer}, {.string = "%d %s %.2f %lld"},
                             {.i = -7},           {.string = "and"},     {.f64 = 2.5},
                             {.i64 = INT64_MIN}};
    invoke_once((void *)snprintf, "pJZ.iZdl)i", args, 7, &result);
    CHECK_TEXT(buffer, "-7 and 2.50 -9223372036854775808");
    CHECK_EQ(result.i, strlen(buffer));
    args[2].string = "none";
    invoke_once((void *)snprintf, "pJZ.)i", args, 3, &result);
    CHECK_TEXT(buffer, "none");
}

TEST(variable_arguments_arrive) {
    run_both(print_variable);
}

#define CHECK_PASS(name, signature, member, value) \
    do { \
        weft_ffi_value pass_in = {.u64 = UINT64_MAX}, pass_out = {.u64 = UINT64_MAX}; \
        pass_in.member = (value); \
        invoke_once((void *)pass_##name, signature, &pass_in, 1, &pass_out); \
        CHECK(pass_out.member == pass_##name(value)); \
        invoke_once((void *)pass_##name, signature, &pass_in, 1, NULL); \
    } while (0)

static void pass_scalars(void) {
    CHECK_PASS(bool, "B)B", b, false);
    CHECK_PASS(bool, "B)B", b, true);
    CHECK_PASS(i8, "c)c", i8, INT8_MAX);
    CHECK_PASS(i8, "c)c", i8, -5);
    CHECK_PASS(u8, "C)C", u8, UINT8_MAX);
    CHECK_PASS(i16, "s)s", i16, INT16_MAX);
    CHECK_PASS(i16, "s)s", i16, -300);
    CHECK_PASS(u16, "S)S", u16, 40000);
    CHECK_PASS(int, "i)i", i, -70000);
    CHECK_PASS(unsigned, "I)I", u, 4000000000u);
    CHECK_PASS(long, "j)j", j, -5000000000);
    CHECK_PASS(ulong, "J)J", uj, ULONG_MAX - 5);
    CHECK_PASS(i64, "l)l", i64, INT64_MIN);
    CHECK_PASS(u64, "L)L", u64, UINT64_MAX);
    CHECK_PASS(float, "f)f", f32, 1.25f);
    CHECK_PASS(double, "d)d", f64, -1e300);
    CHECK_PASS(pointer, "p)p", pointer, &shared_symbol);
    CHECK_PASS(pointer, "p)Z", pointer, &shared_symbol);
}

TEST(every_type_goes_in_and_out) {
    run_both(pass_scalars);
}

/* Structs: in registers of either kind, in both, in memory, of odd sizes, one inside another. */
struct one {
    int8_t a;
};
struct three {
    int8_t a, b, c;
};
struct floats {
    float a, b;
};
struct mixed {
    int64_t a;
    double b;
};
struct doubles {
    double v[4];
};
struct large {
    int i;
    double v[8];
    char last;
};
struct nested {
    int8_t a;
    struct {
        int16_t s;
        double d;
    } inner;
    float f;
};

static struct one turn_one(struct one x, int by) {
    return (struct one){(int8_t)(x.a + by)};
}
static struct three turn_three(struct three x, int by) {
    return (struct three){(int8_t)(x.c + by), x.b, x.a};
}
static struct floats turn_floats(struct floats x, int by) {
    return (struct floats){x.b + (float)by, x.a};
}
static struct mixed turn_mixed(struct mixed x, int by) {
    return (struct mixed){(int64_t)x.b + by, (double)x.a};
}
static struct doubles turn_doubles(struct doubles x, int by) {
    return (struct doubles){{x.v[3] + by, x.v[2], x.v[1], x.v[0]}};
}
/* What it does to its copy is nobody else's business. */
static struct large turn_large(struct large x, int by) {
    struct large result = x;
    result.i += by;
    result.v[7] = x.v[0];
    result.last++;
    *(volatile int *)&x.i = -1;
    *(volatile char *)&x.last = 0;
    return result;
}
static struct nested turn_nested(struct nested x, int by) {
    return (struct nested){(int8_t)(x.a + 1), {(int16_t)(x.inner.s + by), x.inner.d * 2}, x.f + 1};
}

/* The result is right, the argument is as before, and what lies behind the result is too. */
#define CHECK_TURN(name, letters, ...) \
    do { \
        struct name turn_in = __VA_ARGS__, turn_before = turn_in, turn_want = turn_##name(turn_in, 3); \
        struct { \
            struct name value; \
            unsigned char behind[16]; \
        } turn_out; \
        memset(&turn_out, 0x5a, sizeof turn_out); \
        weft_ffi_value turn_args[] = {{.pointer = &turn_in}, {.i = 3}}, turn_result = {.pointer = &turn_out.value}; \
        CHECK_EQ(weft_ffi_size_of(letters), sizeof(struct name)); \
        invoke_once((void *)turn_##name, letters "i)" letters, turn_args, 2, &turn_result); \
        CHECK(is_same_##name(&turn_out.value, &turn_want)); \
        CHECK(is_same_##name(&turn_in, &turn_before)); \
        for (size_t turn_i = 0; turn_i < sizeof turn_out.behind; turn_i++) \
            CHECK_EQ(turn_out.behind[turn_i], 0x5a); \
        invoke_once((void *)turn_##name, letters "i)" letters, turn_args, 2, NULL); \
    } while (0)

static bool is_same_one(const struct one *x, const struct one *y) {
    return x->a == y->a;
}
static bool is_same_three(const struct three *x, const struct three *y) {
    return memcmp(x, y, sizeof *x) == 0;
}
static bool is_same_floats(const struct floats *x, const struct floats *y) {
    return x->a == y->a && x->b == y->b;
}
static bool is_same_mixed(const struct mixed *x, const struct mixed *y) {
    return x->a == y->a && x->b == y->b;
}
static bool is_same_doubles(const struct doubles *x, const struct doubles *y) {
    return memcmp(x, y, sizeof *x) == 0;
}
static bool is_same_large(const struct large *x, const struct large *y) {
    return x->i == y->i && memcmp(x->v, y->v, sizeof x->v) == 0 && x->last == y->last;
}
static bool is_same_nested(const struct nested *x, const struct nested *y) {
    return x->a == y->a && x->inner.s == y->inner.s && x->inner.d == y->inner.d && x->f == y->f;
}

static void pass_structs(void) {
    CHECK_TURN(one, "{c}", {7});
    CHECK_TURN(three, "{ccc}", {1, 2, 3});
    CHECK_TURN(floats, "{ff}", {1.5f, 2.5f});
    CHECK_TURN(mixed, "{ld}", {-4, 1e9});
    CHECK_TURN(doubles, "{dddd}", {{1, 2, 3, 4}});
    CHECK_TURN(large, "{iddddddddc}", {.i = 5, .v = {9, 8, 7, 6, 5, 4, 3, 2}, .last = 'x'});
    CHECK_TURN(nested, "{c{sd}f}", {1, {2, 3.5}, 4.5f});
}

TEST(structs_go_in_and_out_by_value) {
    run_both(pass_structs);
}

/* As many as registers hold, in any order, and one more of either sort; short ones that must not bring their neighbours. */
static double fill_registers(int8_t a, double b, uint16_t c, float d, char *e, double f, double g, int64_t h, float i,
                             bool j, double k, uint8_t l, double m, float n) {
    return a + 2 * b + 3 * c + 4 * (double)d + 5 * (double)(intptr_t)e + 6 * f + 7 * g + 8 * (double)h + 9 * (double)i +
           10 * j + 11 * k + 12 * l + 13 * m + 14 * (double)n;
}

static float words_and_one(int a, int b, int c, int d, int e, int f, int g) {
    return (float)(a + 10 * b + 100 * c + 1000 * d + 10000 * e + 100000 * f + 1000000 * g);
}

static double numbers_and_one(double a, double b, double c, double d, double e, double f, double g, double h,
                              double i) {
    return a + 10 * b + 100 * c + 1e3 * d + 1e4 * e + 1e5 * f + 1e6 * g + 1e7 * h + 1e8 * i;
}

static void fill_all(void) {
    weft_ffi_value args[14], result;
    memset(args, 0xff, sizeof args);
    args[0].i8 = -1, args[1].f64 = 2, args[2].u16 = 65535, args[3].f32 = 4, args[4].pointer = (void *)5;
    args[5].f64 = 6, args[6].f64 = 7, args[7].i64 = -8, args[8].f32 = 9, args[9].b = true, args[10].f64 = 11;
    args[11].u8 = 255, args[12].f64 = 13, args[13].f32 = 14;
    invoke_once((void *)fill_registers, "cdSfpddlfBdCdf)d", args, 14, &result);
    CHECK(result.f64 == fill_registers(-1, 2, 65535, 4, (char *)5, 6, 7, -8, 9, true, 11, 255, 13, 14));
    for (int i = 0; i < 7; i++)
        args[i].i = i + 1;
    invoke_once((void *)words_and_one, "iiiiiii)f", args, 7, &result);
    CHECK(result.f32 == 7654321);
    for (int i = 0; i < 9; i++)
        args[i].f64 = i + 1;
    invoke_once((void *)numbers_and_one, "ddddddddd)d", args, 9, &result);
    CHECK(result.f64 == 987654321);
}

TEST(arguments_find_their_registers_and_the_stack) {
    run_both(fill_all);
}

/* At the same time */
enum { CALLERS = 16 };

static double multiply(double x, double y) {
    return x * y;
}

static void *call_shared(void *arg) {
    long rounds = scaled(200, 10);
    double base = (double)(intptr_t)arg;
    for (long i = 0; i < rounds; i++) {
        weft_ffi_value args[] = {{.f64 = base}, {.f64 = base}}, result;
        invoke(shared_symbol, args, 2, &result);
        CHECK(result.f64 == base * base);
        if (i % 8 == 0)
            weft_yield();
    }
    return NULL;
}

static void call_at_once(void) {
    weft_fiber fibers[CALLERS];
    shared_symbol = bind_function((void *)multiply, "dd)d");
    for (int i = 0; i < CALLERS; i++)
        SPAWN(&fibers[i], call_shared, (void *)(intptr_t)i);
    for (int i = 0; i < CALLERS; i++)
        JOIN(fibers[i], NULL);
    weft_ffi_symbol_free(shared_symbol);
}

TEST(many_fibers_share_a_symbol) {
    if (HAS_LIBFFI())
        run_fibers(call_at_once);
}

static weft_fiber caller_of_plain;

static int look_around(int value) {
    caller_of_plain = weft_self();
    CHECK(!weft_is_bound());
    return value + 1;
}

static void call_plainly(void) {
    weft_ffi_symbol *symbol = bind_function((void *)look_around, "i)i");
    weft_ffi_value arg = {.i = 41}, result = {.i = 0};
    CHECK_EQ(weft_ffi_invoke_plain(symbol, &arg, 1, &result), 0);
    CHECK_EQ(result.i, 42);
    CHECK(caller_of_plain.bits == weft_self().bits);
    CHECK(!weft_is_bound());
    CHECK_EQ(weft_ffi_invoke_plain(symbol, &arg, 2, &result), -EINVAL);
    CHECK_EQ(weft_ffi_invoke_plain(NULL, &arg, 1, &result), -EINVAL);
    weft_ffi_symbol_free(symbol);
}

TEST(a_plain_invocation_binds_nobody) {
    run_both(call_plainly);
}

static void find_variable(void) {
    weft_ffi_library *library = NULL;
    void *address = NULL;
    CHECK_EQ(weft_ffi_open(&library, "libc.so.6"), 0);
    CHECK_EQ(weft_ffi_find(&address, library, "program_invocation_short_name"), 0);
    CHECK(strstr(*(char **)address, "ffi"));
    CHECK_EQ(weft_ffi_find(&address, library, "no such thing"), -ENOENT);
    CHECK(strstr(weft_ffi_reason(), "undefined symbol: no such thing"));
    CHECK_EQ(weft_ffi_find(NULL, library, "environ"), -EINVAL);
    CHECK_EQ(weft_ffi_find(&address, NULL, "environ"), -EINVAL);
    CHECK_EQ(weft_ffi_find(&address, library, NULL), -EINVAL);
    weft_ffi_close(library);
}

TEST(variables_are_found_by_their_address) {
    run_both(find_variable);
}

/* Reasons belong to whoever failed, wherever it is by now. */
static void *fail_and_remember(void *arg) {
    weft_ffi_symbol *symbol = NULL;
    char signature[2] = {(char)('0' + (intptr_t)arg % 10), 0};
    char want[64];
    snprintf(want, sizeof want, "signature \"%s\", character 1: no letter of a type", signature);
    for (int i = 0; i < 20; i++) {
        CHECK_EQ(weft_ffi_bind_address(&symbol, arg ? arg : &want, signature), -EINVAL);
        CHECK(!symbol);
        weft_yield();
        CHECK_TEXT(weft_ffi_reason(), want);
    }
    return NULL;
}

static void fail_at_once(void) {
    weft_fiber fibers[CALLERS];
    for (int i = 0; i < CALLERS; i++)
        SPAWN(&fibers[i], fail_and_remember, (void *)(intptr_t)i);
    for (int i = 0; i < CALLERS; i++)
        JOIN(fibers[i], NULL);
    CHECK(strstr(weft_ffi_reason(), "no reason is known"));
}

TEST(a_reason_travels_with_its_fiber) {
    if (!HAS_LIBFFI())
        return;
    run_fibers(fail_at_once);
    fail_and_remember(NULL);
}

TEST(without_libffi_everything_says_so) {
    weft_ffi_library *library = NULL;
    weft_ffi_symbol *symbol = NULL;
    weft_ffi_callback *callback = NULL;
    if (HAS_LIBFFI())
        return;
    CHECK_EQ(weft_ffi_open(&library, NULL), -ENOSYS);
    CHECK(strstr(weft_ffi_reason(), "libffi"));
    CHECK_EQ(weft_ffi_bind_symbol(&symbol, library, "strlen", "p)J"), -ENOSYS);
    CHECK_EQ(weft_ffi_bind_address(&symbol, (void *)strlen, "p)J"), -ENOSYS);
    CHECK_EQ(weft_ffi_invoke(symbol, NULL, 0, NULL), -ENOSYS);
    CHECK_EQ(weft_ffi_invoke_plain(symbol, NULL, 0, NULL), -ENOSYS);
    CHECK_EQ(weft_ffi_find(NULL, library, "strlen"), -ENOSYS);
    CHECK_EQ(weft_ffi_callback_new(&callback, ")v", no_handler, NULL, 0), -ENOSYS);
    CHECK(!weft_ffi_callback_address(callback));
    weft_ffi_callback_free(callback);
    weft_ffi_symbol_free(symbol);
    weft_ffi_close(library);
}
