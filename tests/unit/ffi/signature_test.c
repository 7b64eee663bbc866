/* SPDX-License-Identifier: MIT
 *
 * unit/ffi/signature_test.c - signatures: what is accepted, how structs are laid out, and what is said about the rest.
 *
 * Every wrong signature has its place in the reason, because whoever generates signatures looks for it there.
 */
#include "support/dynamic.h"

#define COUNT_OF(list) (sizeof(list) / sizeof(list)[0])

static int add(int left, int right) {
    return left + right;
}

static const char *const good[] = {")v",   "i)i",   "BcCsSiIjJlLfdpZ)v", "{i}){i}",        "{{{{d}}}})v",
                                   "p.)i", "p.p)i", "p{ff}.{ff}d)i",     "{cc{ss}d}){dd}", "ii.ii)v"};

TEST(signatures_that_are_right_are_taken) {
    if (!HAS_LIBFFI())
        return;
    for (size_t i = 0; i < COUNT_OF(good); i++) {
        weft_ffi_symbol *symbol = NULL;
        int error = weft_ffi_bind_address(&symbol, (void *)add, good[i]);
        if (error)
            fprintf(stderr, "%s\n", weft_ffi_reason());
        CHECK_EQ(error, 0);
        weft_ffi_symbol_free(symbol);
    }
}

static const struct bad {
    const char *signature;
    int character;
    const char *about;
} wrong[] = {
    {"", 1, "no ')' and result"},
    {"dd", 3, "no ')' and result"},
    {")", 2, "no result after ')'"},
    {"dd)", 4, "no result after ')'"},
    {"d)dd", 4, "something after the result"},
    {"d)v)", 4, "something after the result"},
    {"d)v ", 4, "something after the result"},
    {"d d)v", 2, "no letter of a type"},
    {"x)v", 1, "no letter of a type"},
    {"i)x", 3, "no letter of a type"},
    {"i))", 3, "no letter of a type"},
    {"i).", 3, "no letter of a type"},
    {"D)v", 1, "no letter of a type"},
    {"\xc3\xa4)v", 1, "no letter of a type"},
    {"v)v", 1, "v is for results only"},
    {"iv)v", 2, "v is for results only"},
    {"{v})v", 2, "v is for results only"},
    {"{})v", 2, "a struct without members"},
    {"i){}", 4, "a struct without members"},
    {"i{i{}})v", 5, "a struct without members"},
    {"{i)v", 3, "no letter of a type"},
    {"{i", 3, "no '}' at the end of a struct"},
    {"{", 2, "no '}' at the end of a struct"},
    {"i){i", 5, "no '}' at the end of a struct"},
    {"i})v", 2, "no '{' before '}'"},
    {"{i}})v", 4, "no '{' before '}'"},
    {"i){i}}", 6, "something after the result"},
    {"{i.i})v", 3, "no letter of a type"},
    {".i)v", 1, "no argument before '.'"},
    {".)v", 1, "no argument before '.'"},
    {"i..i)v", 3, "a second '.'"},
    {"i.i.)v", 4, "a second '.'"},
    {"i.f)v", 3, "never a float: C passes d"},
    {"i.B)v", 3, "never that short: C passes i"},
    {"i.ic)v", 4, "never that short: C passes i"},
    {"i.C)v", 3, "never that short: C passes i"},
    {"i.s)v", 3, "never that short: C passes i"},
    {"i.S)v", 3, "never that short: C passes i"},
};

static void check_reason(const char *signature, int character, const char *about) {
    char place[160];
    snprintf(place, sizeof place, "signature \"%.80s\", character %d: ", signature, character);
    if (!strstr(weft_ffi_reason(), place) || !strstr(weft_ffi_reason(), about))
        fprintf(stderr, "%s; not: %s%s\n", weft_ffi_reason(), place, about);
    CHECK(strstr(weft_ffi_reason(), place) != NULL);
    CHECK(strstr(weft_ffi_reason(), about) != NULL);
}

static void refuse(void) {
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        const struct bad *bad = &wrong[i];
        weft_ffi_symbol *symbol = NULL;
        weft_ffi_callback *callback = NULL;
        CHECK_EQ(weft_ffi_bind_address(&symbol, (void *)add, bad->signature), -EINVAL);
        check_reason(bad->signature, bad->character, bad->about);
        CHECK_EQ(weft_ffi_callback_new(&callback, bad->signature, no_handler, NULL, 0), -EINVAL);
        CHECK(!symbol && !callback);
    }
    weft_ffi_callback *callback = NULL;
    CHECK_EQ(weft_ffi_callback_new(&callback, "i.i)v", no_handler, NULL, 0), -EINVAL);
    check_reason("i.i)v", 4, "a callback cannot have variable arguments");
    CHECK(!callback);
}

TEST(signatures_that_are_wrong_are_refused_with_the_place) {
    if (!HAS_LIBFFI())
        return;
    refuse();
    run_fibers(refuse);
}

/* n times the text, then the rest. */
static const char *repeat(char *buffer, const char *text, int n, const char *rest) {
    char *at = buffer;
    for (int i = 0; i < n; i++)
        at = stpcpy(at, text);
    strcpy(at, rest);
    return buffer;
}

static int bind_status(const char *signature) {
    weft_ffi_symbol *symbol = NULL;
    int error = weft_ffi_bind_address(&symbol, (void *)add, signature);
    weft_ffi_symbol_free(symbol);
    return error;
}

TEST(the_limits_are_where_they_are_said_to_be) {
    char text[4096], whole[4096];
    if (!HAS_LIBFFI())
        return;
    CHECK_EQ(bind_status(repeat(text, "d", 64, ")v")), 0);
    CHECK_EQ(bind_status(repeat(text, "d", 65, ")v")), -E2BIG);
    check_reason(text, 65, "over 64 arguments");
    CHECK_EQ(bind_status(repeat(text, "{ii}", 64, "){ii}")), 0);
    CHECK_EQ(bind_status(repeat(text, "i.", 1, repeat(whole, "i", 64, ")i"))), -E2BIG);

    repeat(text, "{", 16, "d");
    CHECK_EQ(bind_status(strcat(text, repeat(whole, "}", 16, ")v"))), 0);
    repeat(text, "{", 17, "d");
    CHECK_EQ(bind_status(strcat(text, repeat(whole, "}", 17, ")v"))), -E2BIG);
    CHECK(strstr(weft_ffi_reason(), "character 17: over 16 structs one inside another"));

    strcpy(text, "{");
    CHECK_EQ(weft_ffi_size_of(strcat(text, repeat(whole, "d", 1024, "}"))), 8192);
    strcpy(text, "{");
    CHECK_EQ(weft_ffi_size_of(strcat(text, repeat(whole, "d", 1025, "}"))), -E2BIG);
    CHECK(strstr(weft_ffi_reason(), "over 1,024 members"));
}

TEST(sizes_are_the_compilers) {
    static const struct {
        const char *type;
        size_t size;
    } sizes[] = {
        {"B", sizeof(bool)},
        {"c", 1},
        {"C", 1},
        {"s", 2},
        {"S", 2},
        {"i", sizeof(int)},
        {"I", sizeof(unsigned)},
        {"j", sizeof(long)},
        {"J", sizeof(unsigned long)},
        {"l", 8},
        {"L", 8},
        {"f", sizeof(float)},
        {"d", sizeof(double)},
        {"p", sizeof(void *)},
        {"Z", sizeof(char *)},
        {"{id}", sizeof(struct {
             int i;
             double d;
         })},
        {"{di}", sizeof(struct {
             double d;
             int i;
         })},
        {"{csc}", sizeof(struct {
             char a;
             short b;
             char c;
         })},
        {"{c{d}c}", sizeof(struct {
             char a;
             struct {
                 double d;
             } b;
             char c;
         })},
        {"{{cc}{ss}c}", sizeof(struct {
             struct {
                 char a, b;
             } a;
             struct {
                 short a, b;
             } b;
             char c;
         })},
    };
    static const char *const none[] = {"", "v", "ii", "{", "{}", "{i", "i}", "{i}i", "x", ".", ")i"};
    if (!HAS_LIBFFI())
        return;
    for (size_t i = 0; i < COUNT_OF(sizes); i++)
        CHECK_EQ(weft_ffi_size_of(sizes[i].type), sizes[i].size);
    for (size_t i = 0; i < COUNT_OF(none); i++) {
        CHECK_EQ(weft_ffi_size_of(none[i]), -EINVAL);
        CHECK(strstr(weft_ffi_reason(), "character"));
    }
    CHECK_EQ(weft_ffi_size_of(NULL), -EINVAL);
    CHECK_TEXT(weft_ffi_reason(), "the type is null");
}

/* Letters and brackets at random are read without harm. The library asserts that the size of each result is libffi's.
 * */
TEST(no_text_does_any_harm) {
    static const char letters[] = "BcCsSiIjJlLfdpZv{}.))";
    uint64_t state = wf_test_seed();
    long taken = 0;
    if (!HAS_LIBFFI())
        return;
    for (long i = scaled(200000, 2000); i > 0; i--) {
        char text[24];
        size_t length = 1 + random_below(&state, sizeof text - 1);
        for (size_t k = 0; k < length - 1; k++)
            text[k] = letters[random_below(&state, sizeof letters - 1)];
        text[length - 1] = 0;
        weft_ffi_symbol *symbol = NULL;
        int error = weft_ffi_bind_address(&symbol, (void *)add, text);
        CHECK(error == 0 || error == -EINVAL);
        CHECK_EQ(error == 0, symbol != NULL);
        taken += error == 0;
        weft_ffi_symbol_free(symbol);
    }
    CHECK_GE(taken, 1);
}
