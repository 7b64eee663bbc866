/* SPDX-License-Identifier: MIT
 *
 * examples/embed_js.c - a program whose rules are JavaScript: a function and a class of C for a script, its functions for C.
 *
 *     embed_js
 *
 * The script has a basket, an object of C, and says what it costs; prices come from C and take a while. C calls the script's
 * function twice, gets promises, and runs the loop until they are settled: one has a value, the other an error.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft.h>
#include <weft/js.h>

static const char script[] = "async function cost(name, rebate) {\n"
                             "    const basket = new Basket(2);\n"
                             "    basket.add(1);\n"
                             "    return basket.count * await priceOf(name) * (1 - rebate);\n"
                             "}\n";

/* ---- A class, whose objects stand for a number in C ---- */

/* After a wrong argument a TypeError is pending, which is thrown whatever these return. */
static void *basket_new(weft_js *js, const weft_js_arguments *given) {
    int64_t *count = malloc(sizeof *count);
    if (count)
        *count = weft_js_as_int64(js, given->values[0]);
    return count;
}

static weft_js_value basket_add(weft_js *js, const weft_js_arguments *given) {
    *(int64_t *)given->pointer += weft_js_as_int64(js, given->values[0]);
    return weft_js_undefined();
}

static weft_js_value basket_count(weft_js *js, const weft_js_arguments *given) {
    return weft_js_int64(js, *(int64_t *)given->pointer);
}

static void basket_free(void *pointer, void *arg) {
    (void)arg;
    free(pointer);
}

static const weft_js_member basket_members[] = {
    {.name = "add", .length = 1, .method = basket_add}, {.name = "count", .get = basket_count}, {0}};
static const weft_js_class basket_class = {
    .name = "Basket", .length = 1, .construct = basket_new, .members = basket_members, .finalize = basket_free};

/* ---- A function that waits ---- */

struct question {
    char name[16];
    double price;
};

/* On a fiber, without the instance: JavaScript goes on meanwhile. */
static int look_up(void *arg) {
    struct question *question = arg;
    int error = weft_sleep(weft_after(WEFT_MILLISECOND)); /* here a program would ask a database */
    question->price = 0.5;
    return error ? error : strcmp(question->name, "apples") == 0 ? 0 : -ENOENT;
}

/* Inside again. It is called in any case, so it frees. */
static weft_js_value tell(weft_js *js, int status, void *arg) {
    struct question *question = arg;
    weft_js_value result =
        status < 0 ? weft_js_throw_errno(js, status, "priceOf") : weft_js_number(js, question->price);
    free(question);
    return result;
}

static weft_js_value price_of(weft_js *js, const weft_js_arguments *given) {
    const char *name = weft_js_as_text(js, given->values[0], NULL);
    struct question *question = name ? calloc(1, sizeof *question) : NULL;
    if (!question)
        return weft_js_throw_errno(js, -ENOMEM, "priceOf"); /* or what is pending */
    snprintf(question->name, sizeof question->name, "%s", name);
    return weft_js_perform(js, look_up, tell, question);
}

/* ---- The program ---- */

/* Inside, when a promise is resolved: what C wants to know of its value. */
static void *take_cost(weft_js *js, weft_js_value value, void *arg) {
    double *cost = arg;
    *cost = weft_js_as_number(js, value);
    return cost;
}

static weft_promise *ask(weft_js *js, const char *name, double rebate, double *cost) {
    weft_js_value values[] = {weft_js_text(js, name), weft_js_number(js, rebate)};
    weft_promise *promise = NULL;
    weft_js_to_promise(js, weft_js_call_method(js, weft_js_global(js), "cost", 2, values), take_cost, cost, &promise);
    return promise; /* NULL when something is pending */
}

static bool show(const char *name, weft_promise *promise) {
    weft_outcome outcome;
    if (!promise || weft_promise_await(promise, &outcome, WEFT_NEVER) != 0)
        return false;
    if (outcome.state == WEFT_PROMISE_RESOLVED)
        printf("%s: %.2f\n", name, *(double *)outcome.value);
    else
        printf("%s: %s\n", name, outcome.text);
    weft_promise_unref(promise);
    return true;
}

static int run(weft_js *js) {
    double costs[2];
    weft_js_error error;
    if (weft_js_enter(js) != 0)
        return 1;
    weft_js_set(js, weft_js_global(js), "Basket", weft_js_constructor(js, &basket_class));
    weft_js_set(js, weft_js_global(js), "priceOf", weft_js_function(js, "priceOf", 1, price_of, NULL, NULL));
    weft_js_evaluate(js, script, sizeof script - 1, "rules.js");
    weft_promise *apples = ask(js, "apples", 0.1, &costs[0]), *stars = ask(js, "stars", 0, &costs[1]);
    int status = weft_js_catch(js, &error); /* one look is enough: after an error all calls do nothing */
    weft_js_leave(js);
    if (status)
        fprintf(stderr, "%s: %s\n%s", error.name, error.message, error.stack);
    int code = weft_js_finish(js); /* runs the loop until nothing is left to do */
    bool has_apples = show("apples", apples), has_stars = show("stars", stars);
    return has_apples && has_stars ? code : 1;
}

static int app(void *arg) {
    weft_loop *loop;
    weft_js *js;
    (void)arg;
    if (weft_loop_new(&loop, &(weft_loop_options){.stays = true}) != 0)
        return 1;
    int code = 1;
    if (weft_js_new(&js, loop, NULL) == 0) {
        code = run(js);
        weft_js_free(js);
    }
    weft_loop_close(loop, WEFT_NEVER);
    weft_loop_unref(loop);
    return code;
}

int main(void) {
    return weft_run(NULL, app, NULL);
}
