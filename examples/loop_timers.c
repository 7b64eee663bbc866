/* SPDX-License-Identifier: MIT
 *
 * examples/loop_timers.c - timers and promises of a loop, in C: what a page of JavaScript would do with setTimeout and then.
 *
 * First the order in which a loop runs what it was given, all of it before it is run. Then a breakfast: water and toast take
 * their time, both have to be there (all), a guest is waited for but not for ever (race, catch), and the kitchen is cleaned
 * either way (finally). The clock is virtual: it goes to the next timer when nothing else can happen, so the breakfast takes
 * a microsecond, happens the same way each time, and what happened is checked to the letter.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <weft.h>

static char journal[1024];
static size_t journal_used;

static void must(int error, const char *what) {
    if (error)
        weft_fatal("%s: error %d", what, -error);
}

__attribute__((format(printf, 1, 2))) static void note(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    journal_used += (size_t)vsnprintf(journal + journal_used, sizeof journal - journal_used, format, arguments);
    va_end(arguments);
}

static bool check(const char *what, const char *wanted) {
    bool is_right = strcmp(journal, wanted) == 0;
    printf("%s:\n%s", what, journal);
    if (!is_right)
        printf("but wanted was:\n%s", wanted);
    journal_used = 0;
    journal[0] = '\0';
    return is_right;
}

static void say(void *word) {
    note("  %s\n", (const char *)word);
}

static weft_reply say_value(void *value, void *arg) {
    (void)arg;
    say(value);
    return weft_reply_value(NULL);
}

/* Everything is given to the loop before it runs. In JavaScript the lines would be the same, and so would be the answer. */
static bool show_order(weft_loop *loop) {
    weft_promise *promise;
    must(weft_set_timeout(loop, NULL, 0, say, "timeout"), "cannot set a timer");
    must(weft_set_immediate(loop, NULL, say, "immediate"), "cannot set an immediate");
    must(weft_loop_submit(loop, say, "submitted"), "cannot submit");
    must(weft_loop_promise(loop, &promise), "cannot make a promise");
    must(weft_loop_then(loop, promise, NULL, say_value, NULL, NULL), "cannot go on");
    must(weft_promise_resolve(promise, "reaction of a promise"), "cannot resolve");
    must(weft_loop_microtask(loop, say, "microtask"), "cannot add a microtask");
    must(weft_loop_next_tick(loop, say, "next tick"), "cannot add a tick");
    must(weft_loop_run(loop, WEFT_LOOP_UNTIL_QUIET, WEFT_NEVER), "cannot run");
    weft_promise_unref(promise);
    return check("order", "  next tick\n  reaction of a promise\n  microtask\n  timeout\n  immediate\n  submitted\n");
}

struct kitchen {
    weft_loop *loop;
    weft_time began;
    weft_loop_timer clock; /* strikes every second */
    int strikes;
    weft_promise *toast;
    weft_promise *guest; /* kept: one that nobody could resolve any more would be rejected */
};

static void event(struct kitchen *kitchen, const char *what) {
    note("  %.1f s: %s\n", (double)(weft_loop_now(kitchen->loop) - kitchen->began) / WEFT_SECOND, what);
}

static void strike(void *arg) {
    struct kitchen *kitchen = arg;
    event(kitchen, "the clock strikes");
    if (++kitchen->strikes == 3)
        must(weft_clear_timer(kitchen->loop, kitchen->clock), "cannot clear"); /* inside its own callback */
}

static void pop_up(void *arg) {
    struct kitchen *kitchen = arg;
    event(kitchen, "the toast pops up");
    must(weft_promise_resolve(kitchen->toast, "toast"), "cannot resolve");
}

/* The tea has to draw: the answer is another promise, which the derived one follows. */
static weft_reply make_tea(void *value, void *arg) {
    struct kitchen *kitchen = arg;
    weft_promise *drawn;
    (void)value;
    event(kitchen, "the water boils");
    must(weft_loop_sleep_promise(kitchen->loop, &drawn, WEFT_SECOND), "cannot wait");
    return weft_reply_follow(drawn);
}

static weft_reply have_breakfast(void *values, void *arg) {
    (void)values; /* an array, in the order of the inputs */
    event(arg, "breakfast is ready");
    return weft_reply_value(NULL);
}

static weft_reply begin_alone(const weft_outcome *outcome, void *arg) {
    if (outcome->error != -ETIMEDOUT)
        return weft_reply_error(outcome->error, outcome->text);
    event(arg, "the guest is late, so we begin");
    return weft_reply_value(NULL);
}

static weft_reply wash_up(void *arg) {
    event(arg, "washed up");
    return weft_reply_value(NULL);
}

static void have_toast(struct kitchen *kitchen, weft_promise **ready) {
    weft_promise *water, *both[2], *all;
    must(weft_loop_promise(kitchen->loop, &kitchen->toast), "cannot make a promise");
    must(weft_set_timeout(kitchen->loop, NULL, 2500 * WEFT_MILLISECOND, pop_up, kitchen), "cannot set a timer");
    must(weft_loop_sleep_promise(kitchen->loop, &water, 1500 * WEFT_MILLISECOND), "cannot wait");
    must(weft_loop_then(kitchen->loop, water, &both[0], make_tea, NULL, kitchen), "cannot go on");
    both[1] = kitchen->toast;
    must(weft_loop_all(kitchen->loop, &all, both, 2), "cannot combine");
    must(weft_loop_then(kitchen->loop, all, ready, have_breakfast, NULL, kitchen), "cannot go on");
    weft_promise_unref(water);
    weft_promise_unref(both[0]);
    weft_promise_unref(all);
}

static void await_guest(struct kitchen *kitchen, weft_promise **here) {
    weft_promise *either[2], *first;
    must(weft_loop_promise(kitchen->loop, &kitchen->guest), "cannot make a promise");
    either[0] = kitchen->guest;
    must(weft_loop_timeout_promise(kitchen->loop, &either[1], 4 * WEFT_SECOND), "cannot wait");
    must(weft_loop_race(kitchen->loop, &first, either, 2), "cannot combine");
    must(weft_loop_catch(kitchen->loop, first, here, begin_alone, kitchen), "cannot go on");
    weft_promise_unref(either[1]);
    weft_promise_unref(first);
}

static bool show_breakfast(weft_loop *loop) {
    struct kitchen kitchen = {.loop = loop, .began = weft_loop_now(loop)};
    weft_promise *ready, *here, *both[2], *all;
    must(weft_set_interval(loop, &kitchen.clock, WEFT_SECOND, strike, &kitchen), "cannot set a timer");
    have_toast(&kitchen, &ready);
    await_guest(&kitchen, &here);
    both[0] = ready;
    both[1] = here;
    must(weft_loop_all(loop, &all, both, 2), "cannot combine");
    must(weft_loop_finally(loop, all, NULL, wash_up, &kitchen), "cannot go on");
    must(weft_loop_run(loop, WEFT_LOOP_UNTIL_QUIET, WEFT_NEVER), "cannot run");
    weft_promise_unref(kitchen.toast);
    weft_promise_unref(kitchen.guest);
    weft_promise_unref(ready);
    weft_promise_unref(here);
    weft_promise_unref(all);
    return check("breakfast", "  1.0 s: the clock strikes\n"
                              "  1.5 s: the water boils\n"
                              "  2.0 s: the clock strikes\n"
                              "  2.5 s: the toast pops up\n"
                              "  2.5 s: breakfast is ready\n"
                              "  3.0 s: the clock strikes\n"
                              "  4.0 s: the guest is late, so we begin\n"
                              "  4.0 s: washed up\n");
}

int main(void) {
    weft_loop *loop;
    weft_loop_options options = {.name = "kitchen", .virtual_time = true, .stays = true}; /* it is run twice */
    must(weft_loop_new(&loop, &options), "cannot make a loop");
    bool is_good = show_order(loop);
    is_good = show_breakfast(loop) && is_good;
    must(weft_loop_shutdown(loop, WEFT_NEVER), "cannot end");
    weft_loop_unref(loop);
    return is_good ? 0 : 1;
}
