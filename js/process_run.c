/* SPDX-License-Identifier: MIT
 *
 * js/process_run.c - a program from its start to its end in one call: run of weft:process, and what Node calls spawnSync.
 *
 * One loop around weft_select moves input, output and error, so that none of the three stands still because another one is
 * full. Unlike weft_process_run, which it is made after, a program that takes too long or says too much gets a signal of the
 * caller's choice, and what it has said until then is not lost.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "process.h"

/* FIRST_ROOM: what most programs say fits. BEYOND: of what is too much, so much may be read with it. */
enum { FIRST_ROOM = 4096, BEYOND = 64 * 1024 };

struct collected {
    weft_fd fd; /* WEFT_NO_FD: at its end */
    bool is_wanted;
    char *bytes;
    size_t size, room;
};

struct running {
    struct wf_js_wait wait;
    struct wf_js_program program;
    weft_process process;
    int id;
    weft_process_end end;
    weft_fd in;
    char *input;
    size_t input_size, input_done;
    struct collected streams[2];
    size_t limit;
    int kill_signal;
    weft_time until;
    int trouble; /* -ETIMEDOUT, -ENOBUFS: why it was killed */
};

static int move(struct running *running);
static void end_streams(struct running *running);

static void close_end(weft_fd *fd) {
    if (fd->bits)
        (void)weft_close(*fd);
    *fd = WEFT_NO_FD;
}

/* ---- Without the turn ---- */

static int run_wait(struct wf_js_wait *wait) {
    struct running *running = (struct running *)wait;
    weft_fd pipes[3];
    int status = wf_js_program_start(&running->program, &running->process, pipes);
    if (status)
        return status;
    running->id = weft_process_id(running->process);
    running->in = pipes[0];
    for (int i = 0; i < 2; i++) {
        running->streams[i].fd = pipes[i + 1];
        running->streams[i].is_wanted = pipes[i + 1].bits != 0;
    }
    status = move(running);
    if (status == -ETIMEDOUT || status == -ENOBUFS) {
        running->trouble = status;
        end_streams(running);
        (void)weft_process_kill(running->process, running->kill_signal);
        status = weft_process_wait(running->process, &running->end, WEFT_NEVER);
    } else if (!status) {
        status = weft_process_wait(running->process, &running->end, running->until);
        if (status == -ETIMEDOUT) {
            running->trouble = status;
            (void)weft_process_kill(running->process, running->kill_signal);
            status = weft_process_wait(running->process, &running->end, WEFT_NEVER);
        }
    }
    if (status && weft_process_kill(running->process, SIGKILL) == 0) { /* we are cancelled, or have no memory */
        weft_shield();
        (void)weft_process_wait(running->process, NULL, WEFT_NEVER);
        weft_unshield();
    }
    end_streams(running);
    (void)weft_process_free(running->process);
    return status;
}

static void end_streams(struct running *running) {
    close_end(&running->in);
    close_end(&running->streams[0].fd);
    close_end(&running->streams[1].fd);
}

/* A program that does not want all of its input is no error. */
static int feed(struct running *running) {
    ssize_t count = weft_write(running->in, running->input + running->input_done,
                               running->input_size - running->input_done, WEFT_NOW);
    if (count == -ETIMEDOUT)
        return 0;
    if (count < 0 && count != -EPIPE && count != -ECONNRESET)
        return (int)count;
    running->input_done = count < 0 ? running->input_size : running->input_done + (size_t)count;
    if (running->input_done == running->input_size)
        close_end(&running->in);
    return 0;
}

static int widen(struct collected *stream, size_t limit) {
    size_t room = stream->room ? 2 * stream->room : FIRST_ROOM;
    if (room > limit)
        room = limit + BEYOND;
    char *longer = realloc(stream->bytes, room);
    if (!longer)
        return -ENOMEM;
    stream->bytes = longer;
    stream->room = room;
    return 0;
}

static int collect(struct running *running, struct collected *stream) {
    if (stream->size == stream->room) {
        int error = widen(stream, running->limit);
        if (error)
            return error;
    }
    ssize_t count = weft_read(stream->fd, stream->bytes + stream->size, stream->room - stream->size, WEFT_NOW);
    if (count == -ETIMEDOUT)
        return 0;
    if (count < 0)
        return (int)count;
    if (count == 0)
        close_end(&stream->fd);
    stream->size += (size_t)count;
    return stream->size <= running->limit ? 0 : -ENOBUFS;
}

/* Until all three are at their end. */
static int move(struct running *running) {
    int error = 0;
    if (running->input_size == 0)
        close_end(&running->in);
    while (!error) {
        weft_case cases[3];
        struct collected *streams[3] = {NULL, NULL, NULL};
        int count = 0;
        if (running->in.bits)
            cases[count++] = weft_on_writable(running->in);
        for (int i = 0; i < 2; i++)
            if (running->streams[i].fd.bits) {
                streams[count] = &running->streams[i];
                cases[count++] = weft_on_readable(running->streams[i].fd);
            }
        if (count == 0)
            return 0;
        int chosen = weft_select(cases, count, running->until);
        if (chosen < 0)
            return chosen;
        error = cases[chosen].status < 0  ? cases[chosen].status
                : streams[chosen] != NULL ? collect(running, streams[chosen])
                                          : feed(running);
    }
    return error;
}

/* ---- With it ---- */

static JSValue output_of(JSContext *context, struct collected *stream) {
    if (!stream->is_wanted)
        return JS_NULL;
    return JS_NewUint8ArrayCopy(context, (uint8_t *)stream->bytes, stream->size);
}

/* -> [error or 0, id, code, signal, bytes or null, bytes or null]; what keeps it from running is an error */
static JSValue run_finish(JSContext *context, struct wf_js_wait *wait) {
    struct running *running = (struct running *)wait;
    bool has_run = running->id > 0;
    JSValue list = has_run && wait->status ? wf_js_throw_errno(context, wait->status, "spawn") : JS_NewArray(context);
    if (!JS_IsException(list)) {
        int error = wait->status ? wait->status : running->trouble;
        JS_SetPropertyUint32(context, list, 0, JS_NewInt32(context, error));
        JS_SetPropertyUint32(context, list, 1, JS_NewInt32(context, running->id));
        JS_SetPropertyUint32(context, list, 2, JS_NewInt32(context, running->end.code));
        JS_SetPropertyUint32(context, list, 3, JS_NewInt32(context, running->end.signal));
        for (uint32_t i = 0; i < 2; i++)
            JS_SetPropertyUint32(context, list, 4 + i, output_of(context, &running->streams[i]));
    }
    wf_js_program_drop(context, &running->program);
    free(running->input);
    free(running->streams[0].bytes);
    free(running->streams[1].bytes);
    return list;
}

/* processRun([file, ...], input or undefined, limit, signal, milliseconds, is synchronous): nothing else of the instance runs
 * meanwhile, then */
static JSValue js_process_run(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct running *running = count > 5 ? calloc(1, sizeof *running) : NULL;
    double limit;
    (void)self;
    if (!running)
        return JS_ThrowOutOfMemory(context);
    running->wait = (struct wf_js_wait){.wait = run_wait, .finish = run_finish};
    bool is_good = !JS_ToFloat64(context, &limit, arguments[2]) &&
                   !JS_ToInt32(context, &running->kill_signal, arguments[3]) &&
                   wf_js_until(context, arguments[4], &running->until) &&
                   (JS_IsUndefined(arguments[1]) ||
                    wf_js_copy_bytes(context, arguments[1], &running->input, &running->input_size));
    if (!is_good || !wf_js_program_take(context, &running->program, arguments[0])) {
        free(running->input);
        free(running);
        return JS_EXCEPTION;
    }
    running->limit = limit >= 0 && limit < (double)(SIZE_MAX / 4) ? (size_t)limit : SIZE_MAX / 4;
    if (!JS_ToBool(context, arguments[5]))
        return wf_js_perform(context, &running->wait);
    running->wait.js = wf_js_of(context);
    running->wait.status = run_wait(&running->wait);
    JSValue result = run_finish(context, &running->wait);
    free(running);
    return result;
}

int wf_js_add_runs(JSContext *context, JSValueConst host) {
    static const JSCFunctionListEntry functions[] = {JS_CFUNC_DEF("processRun", 6, js_process_run)};
    return JS_SetPropertyFunctionList(context, host, functions, sizeof functions / sizeof *functions);
}
