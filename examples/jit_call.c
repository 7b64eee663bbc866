/* SPDX-License-Identifier: MIT
 *
 * examples/jit_call.c - what a compiler emits for a foreign call: one load and a branch where the fiber is bound.
 *
 * libgccjit makes two functions at run time, in C they would read
 *
 *     void thunk(void *arg) { struct frame *frame = arg; frame->result = cbrt(frame->x); }
 *
 *     double call(weft_ffi_site *here, double x) {
 *         struct frame frame = {x, NAN};
 *         if (here->is_bound) { fast++; weft_ffi_call_bound(here, thunk, &frame); }
 *         else                { slow++; weft_ffi_call(thunk, &frame); }
 *         return frame.result;                // still not a number when the call was refused
 *     }
 *
 * and a light fiber calls the second one: its first call takes the slow path, which binds the fiber, all others the fast
 * one. A second fiber with the same function may begin bound, because by then it is known to make foreign calls. The
 * compilation starts an assembler and takes long: it happens before weft_run; in a fiber it would go into weft_blocking.
 */
#include <libgccjit.h>
#include <math.h>
#include <stdio.h>

#include <weft.h>

enum { CALLS = 1000 };

typedef double call_fn(weft_ffi_site *here, double x);
static call_fn *call;
static uint64_t fast, slow;

/* What both functions are made of. */
struct maker {
    gcc_jit_context *context;
    gcc_jit_type *nothing, *pointer, *number, *frame;
    gcc_jit_field *x, *result;
};

static gcc_jit_function *make_thunk(struct maker *m) {
    gcc_jit_context *c = m->context;
    gcc_jit_param *arg = gcc_jit_context_new_param(c, NULL, m->pointer, "arg");
    gcc_jit_function *thunk =
        gcc_jit_context_new_function(c, NULL, GCC_JIT_FUNCTION_INTERNAL, m->nothing, "thunk", 1, &arg, 0);
    gcc_jit_block *body = gcc_jit_function_new_block(thunk, NULL);
    gcc_jit_rvalue *frame =
        gcc_jit_context_new_cast(c, NULL, gcc_jit_param_as_rvalue(arg), gcc_jit_type_get_pointer(m->frame));
    gcc_jit_type *cbrt_type = gcc_jit_context_new_function_ptr_type(c, NULL, m->number, 1, &m->number, 0);
    gcc_jit_rvalue *address = gcc_jit_context_new_rvalue_from_ptr(c, cbrt_type, (void *)(uintptr_t)cbrt);
    gcc_jit_rvalue *x = gcc_jit_lvalue_as_rvalue(gcc_jit_rvalue_dereference_field(frame, NULL, m->x));
    gcc_jit_rvalue *root = gcc_jit_context_new_call_through_ptr(c, NULL, address, 1, &x);
    gcc_jit_block_add_assignment(body, NULL, gcc_jit_rvalue_dereference_field(frame, NULL, m->result), root);
    gcc_jit_block_end_with_void_return(body, NULL);
    return thunk;
}

/* One of the two ways: counts itself, calls a function of weft and goes on to done. */
static void make_path(struct maker *m, gcc_jit_block *path, gcc_jit_block *done, uint64_t *counter, void *function,
                      gcc_jit_type *type, int count, gcc_jit_rvalue **args) {
    gcc_jit_context *c = m->context;
    gcc_jit_type *word = gcc_jit_context_get_int_type(c, sizeof *counter, 0);
    gcc_jit_rvalue *place = gcc_jit_context_new_rvalue_from_ptr(c, gcc_jit_type_get_pointer(word), counter);
    gcc_jit_block_add_assignment_op(path, NULL, gcc_jit_rvalue_dereference(place, NULL), GCC_JIT_BINARY_OP_PLUS,
                                    gcc_jit_context_one(c, word));
    gcc_jit_type *types[] = {m->pointer, m->pointer, m->pointer};
    gcc_jit_type *pointer = gcc_jit_context_new_function_ptr_type(c, NULL, type, count, types, 0);
    gcc_jit_rvalue *address = gcc_jit_context_new_rvalue_from_ptr(c, pointer, function);
    gcc_jit_block_add_eval(path, NULL, gcc_jit_context_new_call_through_ptr(c, NULL, address, count, args));
    gcc_jit_block_end_with_jump(path, NULL, done);
}

static void make_call(struct maker *m, gcc_jit_function *thunk) {
    gcc_jit_context *c = m->context;
    gcc_jit_type *word = gcc_jit_context_get_int_type(c, sizeof(uint32_t), 0);
    gcc_jit_field *is_bound = gcc_jit_context_new_field(c, NULL, word, "is_bound"); /* the first of the site */
    gcc_jit_struct *site = gcc_jit_context_new_struct_type(c, NULL, "weft_ffi_site", 1, &is_bound);
    gcc_jit_type *site_pointer = gcc_jit_type_get_pointer(gcc_jit_struct_as_type(site));
    gcc_jit_param *params[] = {gcc_jit_context_new_param(c, NULL, site_pointer, "here"),
                               gcc_jit_context_new_param(c, NULL, m->number, "x")};
    gcc_jit_function *function =
        gcc_jit_context_new_function(c, NULL, GCC_JIT_FUNCTION_EXPORTED, m->number, "call", 2, params, 0);
    gcc_jit_lvalue *frame = gcc_jit_function_new_local(function, NULL, m->frame, "frame");
    gcc_jit_lvalue *result = gcc_jit_lvalue_access_field(frame, NULL, m->result);
    gcc_jit_rvalue *here = gcc_jit_param_as_rvalue(params[0]);
    gcc_jit_rvalue *flag = gcc_jit_lvalue_as_rvalue(gcc_jit_rvalue_dereference_field(here, NULL, is_bound));
    gcc_jit_rvalue *args[] = {gcc_jit_context_new_cast(c, NULL, here, m->pointer),
                              gcc_jit_context_new_cast(c, NULL, gcc_jit_function_get_address(thunk, NULL), m->pointer),
                              gcc_jit_context_new_cast(c, NULL, gcc_jit_lvalue_get_address(frame, NULL), m->pointer)};

    gcc_jit_block *entry = gcc_jit_function_new_block(function, "entry");
    gcc_jit_block *bound = gcc_jit_function_new_block(function, "bound");
    gcc_jit_block *unbound = gcc_jit_function_new_block(function, "unbound");
    gcc_jit_block *done = gcc_jit_function_new_block(function, "done");
    gcc_jit_block_add_assignment(entry, NULL, gcc_jit_lvalue_access_field(frame, NULL, m->x),
                                 gcc_jit_param_as_rvalue(params[1]));
    gcc_jit_block_add_assignment(entry, NULL, result, gcc_jit_context_new_rvalue_from_double(c, m->number, NAN));
    gcc_jit_rvalue *test =
        gcc_jit_context_new_comparison(c, NULL, GCC_JIT_COMPARISON_NE, flag, gcc_jit_context_zero(c, word));
    gcc_jit_block_end_with_conditional(entry, NULL, test, bound, unbound);
    make_path(m, bound, done, &fast, (void *)(uintptr_t)weft_ffi_call_bound, m->nothing, 3, args);
    make_path(m, unbound, done, &slow, (void *)(uintptr_t)weft_ffi_call, gcc_jit_context_get_type(c, GCC_JIT_TYPE_INT),
              2, args + 1);
    gcc_jit_block_end_with_return(done, NULL, gcc_jit_lvalue_as_rvalue(result));
}

static gcc_jit_result *compile(void) {
    gcc_jit_context *c = gcc_jit_context_acquire();
    struct maker m = {.context = c,
                      .nothing = gcc_jit_context_get_type(c, GCC_JIT_TYPE_VOID),
                      .pointer = gcc_jit_context_get_type(c, GCC_JIT_TYPE_VOID_PTR),
                      .number = gcc_jit_context_get_type(c, GCC_JIT_TYPE_DOUBLE)};
    m.x = gcc_jit_context_new_field(c, NULL, m.number, "x");
    m.result = gcc_jit_context_new_field(c, NULL, m.number, "result");
    gcc_jit_field *fields[] = {m.x, m.result};
    m.frame = gcc_jit_struct_as_type(gcc_jit_context_new_struct_type(c, NULL, "frame", 2, fields));
    gcc_jit_context_set_int_option(c, GCC_JIT_INT_OPTION_OPTIMIZATION_LEVEL, 2);
    make_call(&m, make_thunk(&m));
    gcc_jit_result *code = gcc_jit_context_compile(c);
    gcc_jit_context_release(c);
    return code;
}

static void *take_roots(void *arg) {
    weft_ffi_site *here = weft_ffi_here();
    for (int i = 1; i <= CALLS; i++)
        if (fabs(call(here, (double)i * i * i) - i) > 1e-9)
            weft_panic("a wrong root of %d", i);
    return arg;
}

static int app(void *arg) {
    uint64_t slow_of_first = 0;
    for (int i = 0; i < 2; i++) {
        weft_fiber fiber;
        if (weft_spawn(&fiber, take_roots, arg) != 0 || weft_join(fiber, NULL, WEFT_NEVER) != 0)
            return 1;
        printf("after fiber %d: %d calls on the slow path, %d on the fast one\n", i + 1, (int)slow, (int)fast);
        slow_of_first = i == 0 ? slow : slow_of_first;
    }
    return slow_of_first == 1 && slow <= 2 && slow + fast == 2 * CALLS ? 0 : 1;
}

int main(void) {
    gcc_jit_result *code = compile();
    call = code ? (call_fn *)(uintptr_t)gcc_jit_result_get_code(code, "call") : NULL;
    if (!call)
        return 1;
    int status = weft_run(NULL, app, NULL);
    gcc_jit_result_release(code);
    return status;
}
