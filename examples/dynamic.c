/* SPDX-License-Identifier: MIT
 *
 * examples/dynamic.c - functions of libraries that are named at run time, and one that calls back.
 *
 * pow comes out of the mathematical library, which this program is not linked with; qsort out of the program itself. Both are
 * called by the signature that is given as a text, as an interpreter would do it. qsort compares by a function pointer that
 * is made on the spot and leads to a handler, which is part of the fiber that called qsort: it may even yield. Every
 * mistake has a reason in words.
 */
#include <errno.h>
#include <stdio.h>

#include <weft.h>

enum { NUMBERS = 100 };

static void must(int error, const char *what) {
    if (error)
        weft_fatal("%s: error %d: %s", what, -error, weft_ffi_reason());
}

static bool call_pow(void) {
    weft_ffi_library *math;
    weft_ffi_symbol *pow;
    weft_ffi_value result = {.f64 = 0};
    must(weft_ffi_open(&math, "libm.so.6"), "cannot open the library");
    must(weft_ffi_bind_symbol(&pow, math, "pow", "dd)d"), "cannot find pow");
    weft_ffi_close(math); /* the symbol keeps it loaded */
    must(weft_ffi_invoke(pow, (weft_ffi_value[]){{.f64 = 2}, {.f64 = 10}}, 2, &result), "cannot call pow");
    weft_ffi_symbol_free(pow);
    printf("2 to the power of 10 is %g\n", result.f64);
    return result.f64 == 1024;
}

/* Called by qsort with two pointers into the array. */
static void compare(const weft_ffi_value *args, weft_ffi_value *result, void *arg) {
    const int *left = args[0].pointer, *right = args[1].pointer;
    int *count = arg;
    if (++*count % 100 == 0)
        weft_yield();
    result->i = (*left > *right) - (*left < *right);
}

static bool call_qsort(void) {
    weft_ffi_library *program;
    weft_ffi_symbol *qsort;
    weft_ffi_callback *callback;
    int numbers[NUMBERS], comparisons = 0;
    for (int i = 0; i < NUMBERS; i++)
        numbers[i] = i * 37 % NUMBERS; /* every number below 100 once, as 37 and 100 share no divisor */
    must(weft_ffi_open(&program, NULL), "cannot open the program");
    must(weft_ffi_bind_symbol(&qsort, program, "qsort", "pJJp)v"), "cannot find qsort");
    must(weft_ffi_callback_new(&callback, "pp)i", compare, &comparisons, 0), "cannot make a callback");
    weft_ffi_value args[] = {{.pointer = numbers},
                             {.uj = NUMBERS},
                             {.uj = sizeof *numbers},
                             {.pointer = weft_ffi_callback_address(callback)}};
    must(weft_ffi_invoke(qsort, args, 4, NULL), "cannot call qsort");
    weft_ffi_callback_free(callback);
    weft_ffi_symbol_free(qsort);
    weft_ffi_close(program);
    bool is_sorted = comparisons > 0;
    for (int i = 0; i < NUMBERS; i++)
        is_sorted = is_sorted && numbers[i] == i;
    printf("%d numbers are in order after %d comparisons\n", NUMBERS, comparisons);
    return is_sorted;
}

static bool is_refused(int error, int wanted) {
    printf("error %d: %s\n", -error, weft_ffi_reason());
    return error == wanted && weft_ffi_reason()[0];
}

static bool make_mistakes(void) {
    weft_ffi_library *library, *program;
    weft_ffi_symbol *symbol;
    must(weft_ffi_open(&program, NULL), "cannot open the program");
    bool is_well = is_refused(weft_ffi_open(&library, "libnowhere.so.0"), -ENOENT);
    is_well = is_refused(weft_ffi_bind_symbol(&symbol, program, "no_such_function", "i)i"), -ENOENT) && is_well;
    is_well = is_refused(weft_ffi_bind_symbol(&symbol, program, "qsort", "pJ?p)v"), -EINVAL) && is_well;
    weft_ffi_close(program);
    return is_well;
}

static int app(void *arg) {
    weft_ffi_library *program;
    (void)arg;
    if (weft_ffi_open(&program, NULL) == -ENOSYS) {
        printf("this weft was built without libffi\n");
        return 0;
    }
    weft_ffi_close(program);
    bool is_well = call_pow();
    is_well = call_qsort() && is_well;
    is_well = make_mistakes() && is_well;
    return is_well && weft_is_bound() ? 0 : 1; /* the first foreign call has given this fiber a thread */
}

int main(void) {
    return weft_run(NULL, app, NULL);
}
