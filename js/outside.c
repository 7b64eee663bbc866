/* SPDX-License-Identifier: MIT
 *
 * js/outside.c - what other threads want of an instance: that something is done, or that it stops.
 *
 * Each wish is in a list, under the lock, and has a callback of the loop, which takes the first one of the list. At the end the list is
 * closed: those that are in it still get their callback, if the loop lives, and are dropped there; or they are dropped with the loop.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

static void run_post(void *opaque);
static struct wf_js_post *take_post(weft_js *js);

weft_js *weft_js_ref(weft_js *js) {
    if (js)
        atomic_fetch_add(&js->embed.references, 1);
    return js;
}

void weft_js_unref(weft_js *js) {
    if (js && atomic_fetch_sub(&js->embed.references, 1) == 1)
        free(js);
}

/* ---- The list ---- */

int wf_js_post(weft_js *js, struct wf_js_post *post) {
    struct wf_js_embed *embed = &js->embed;
    wf_js_lock(&embed->outside);
    int error = embed->is_over || js->has_ended ? -EPIPE : weft_loop_submit(js->loop, run_post, js);
    if (!error) {
        post->next = NULL;
        *embed->last_post = post;
        embed->last_post = &post->next;
        embed->posts++;
    }
    wf_js_unlock(&embed->outside);
    return error;
}

static struct wf_js_post *take_post(weft_js *js) {
    struct wf_js_embed *embed = &js->embed;
    struct wf_js_post *post = embed->first_post;
    if (post && !(embed->first_post = post->next))
        embed->last_post = &embed->first_post;
    return post;
}

static void run_post(void *opaque) {
    weft_js *js = opaque;
    wf_js_lock(&js->embed.outside);
    js->embed.posts--;
    struct wf_js_post *post = take_post(js);
    wf_js_unlock(&js->embed.outside);
    if (!wf_js_enter(js)) {
        post->run(NULL, post);
        return;
    }
    post->run(js, post);
    wf_js_leave(js);
}

void wf_js_outside_close(weft_js *js) {
    wf_js_lock(&js->embed.outside);
    js->embed.is_over = true;
    wf_js_unlock(&js->embed.outside);
}

bool wf_js_has_posts(weft_js *js) {
    wf_js_lock(&js->embed.outside);
    bool has_posts = js->embed.posts > 0;
    wf_js_unlock(&js->embed.outside);
    return has_posts;
}

void wf_js_outside_drop(weft_js *js) {
    for (struct wf_js_post *post; (post = take_post(js)) != NULL;)
        post->run(NULL, post);
}

/* ---- Something to do ---- */

struct task {
    struct wf_js_post post;
    void (*fn)(weft_js *js, void *arg);
    void (*drop)(void *arg);
    void *arg;
};

static weft_js_value call_task(weft_js *js, void *opaque) {
    struct task *task = opaque;
    task->fn(js, task->arg);
    return weft_js_undefined();
}

static void run_task(weft_js *js, struct wf_js_post *post) {
    struct task *task = (struct task *)post;
    if (js && JS_IsException(wf_js_in_frame(js, call_task, task)))
        wf_js_uncaught(js);
    else if (!js && task->drop)
        task->drop(task->arg);
    free(task);
}

int weft_js_submit(weft_js *js, void (*fn)(weft_js *js, void *arg), void (*drop)(void *arg), void *arg) {
    if (!js || !fn)
        return -EINVAL;
    struct task *task = malloc(sizeof *task);
    if (!task)
        return -ENOMEM;
    *task = (struct task){{.run = run_task}, fn, drop, arg};
    int error = wf_js_post(js, &task->post);
    if (error)
        free(task);
    return error;
}

/* ---- Stopping ---- */

int weft_js_interrupt(weft_js *js) {
    if (!js || js->has_ended)
        return js ? -EPIPE : -EINVAL;
    atomic_store(&js->embed.is_interrupted, true);
    return 0;
}

bool wf_js_is_stopped(weft_js *js) {
    struct wf_js_embed *embed = &js->embed;
    if (atomic_load(&embed->is_terminated)) {
        if (!js->has_ended) {
            js->exit_code = atomic_load(&embed->terminated_code);
            js->has_ended = true;
            weft_loop_stop(js->loop);
        }
        return true;
    }
    if (!atomic_load(&embed->is_interrupted) || !atomic_exchange(&embed->is_interrupted, false))
        return false;
    wf_engine_explain(js->runtime, "interrupted by the program");
    return true;
}

/* The loop may sleep: nobody else would look. */
static void look(weft_js *js, struct wf_js_post *post) {
    if (js)
        (void)wf_js_is_stopped(js);
    free(post);
}

int weft_js_terminate(weft_js *js, int code) {
    if (!js || js->has_ended)
        return js ? -EPIPE : -EINVAL;
    struct wf_js_post *post = malloc(sizeof *post);
    if (!post)
        return -ENOMEM;
    post->run = look;
    wf_js_lock(&js->embed.outside);
    if (!atomic_load(&js->embed.is_terminated)) {
        atomic_store(&js->embed.terminated_code, code);
        atomic_store(&js->embed.is_terminated, true);
    }
    wf_js_unlock(&js->embed.outside);
    int error = wf_js_post(js, post); /* without memory for it, what runs now ends all the same, or what runs next */
    if (error)
        free(post);
    return error;
}
