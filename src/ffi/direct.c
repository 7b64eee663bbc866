/* SPDX-License-Identifier: MIT
 *
 * ffi/direct.c - calls in registers, without libffi.
 *
 * On the machines that weft knows, integers and pointers travel in one set of registers and floating point numbers in
 * another, each set filled in the order of its own arguments, whatever stands between them:
 *
 *     f(int a, double b, char *c)     a and c in the first two words, b in the first number
 *
 * So a function whose arguments all fit can be called as if it took all of these registers; those beyond its own
 * arguments mean nothing to it. That takes some nanoseconds, where libffi looks at each argument's type at every call.
 * Structs, arguments on the stack and variable ones are left to libffi.
 *
 * The callee may expect short integers extended to 32 bits, so they are. A float is the lower half of its register.
 */
#ifdef WF_LIBFFI

#include "ffi/direct.h"

#include <string.h>

#if !defined(__x86_64__) && !defined(__aarch64__)
#error "how arguments travel has to be looked up for this machine"
#endif

/* Of x86_64; aarch64 has two more words. */
enum { WORDS = 6, NUMBERS = 8 };

struct registers {
    uint64_t words[WORDS];
    double numbers[NUMBERS];
};

#define PARAMETERS \
    uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, double, double, double, double, double, double, \
        double, double
#define ARGUMENTS(r) \
    (r).words[0], (r).words[1], (r).words[2], (r).words[3], (r).words[4], (r).words[5], (r).numbers[0], \
        (r).numbers[1], (r).numbers[2], (r).numbers[3], (r).numbers[4], (r).numbers[5], (r).numbers[6], (r).numbers[7]

typedef uint64_t word_fn(PARAMETERS);
typedef double number_fn(PARAMETERS);

static bool is_number(char letter) {
    return letter == 'f' || letter == 'd';
}

bool wf_direct_can_call(const struct wf_signature *signature, bool is_variadic) {
    unsigned words = 0, numbers = 0;
    for (uint32_t i = 0; i < signature->count; i++) {
        if (signature->letters[i] == '{')
            return false;
        ++*(is_number(signature->letters[i]) ? &numbers : &words);
    }
    return !is_variadic && signature->result != '{' && words <= WORDS && numbers <= NUMBERS;
}

static uint64_t word_of(char letter, const weft_ffi_value *value) {
    switch (letter) {
    case 'B':
        return value->b;
    case 'c':
        return (uint64_t)value->i8;
    case 'C':
        return value->u8;
    case 's':
        return (uint64_t)value->i16;
    case 'S':
        return value->u16;
    case 'i':
        return (uint64_t)value->i;
    case 'I':
        return value->u;
    default: /* longs, 64 bits and pointers */
        return value->u64;
    }
}

uint64_t wf_direct_call(const struct wf_signature *signature, void *address, const weft_ffi_value *args) {
    struct registers registers = {.words = {0}};
    unsigned words = 0, numbers = 0;
    for (uint32_t i = 0; i < signature->count; i++) {
        if (!is_number(signature->letters[i]))
            registers.words[words++] = word_of(signature->letters[i], &args[i]);
        else
            memcpy(&registers.numbers[numbers++], &args[i],
                   signature->letters[i] == 'f' ? sizeof(float) : sizeof(double));
    }
    if (!is_number(signature->result))
        return ((word_fn *)address)(ARGUMENTS(registers));
    double number = ((number_fn *)address)(ARGUMENTS(registers));
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

#endif

typedef int wf_direct_unit_is_not_empty;
