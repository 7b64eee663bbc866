/* SPDX-License-Identifier: MIT
 *
 * io/process_run.c - a program from its start to its end in one call.
 *
 * Input, output and error are moved by one loop around weft_select, so that none of the three can stand still because another
 * one is full; no fiber of its own is needed, and a plain thread may call it. However the call fails, the child is dead and
 * reaped when it returns.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "io/process.h"
#include "os/memory.h"
#include "wait/wait.h"

/* FIRST_ROOM: what most programs say fits. DROP_SIZE: at once, of what is too much. */
enum { COMMAND_FIRST_ROOM = 4096, COMMAND_DROP_SIZE = 4096, COMMAND_LIMIT = 16 << 20 };

/* Something that is collected. */
struct command_stream {
    weft_fd fd; /* WEFT_NO_FD: at its end */
    char *bytes;
    size_t size;
    size_t room; /* without the zero behind it */
    bool was_cut;
};

struct command {
    weft_process process;
    weft_fd in; /* WEFT_NO_FD: everything is written, or wanted */
    const char *input;
    size_t input_left;
    size_t limit;
    struct command_stream streams[2];
};

static int command_begin(struct command *command, const char *const *argv, const weft_process_options *options);
static int command_move(struct command *command, weft_time deadline);
static int command_feed(struct command *command);
static int command_collect(struct command *command, struct command_stream *stream);
static int command_widen(struct command_stream *stream, size_t limit);
static void command_close(weft_fd *fd);

int weft_process_run(weft_process_output *output, const char *const *argv, const weft_process_options *options,
                     weft_time deadline) {
    weft_process_options chosen = options ? *options : (weft_process_options){0};
    weft_process_end end = {0};
    struct command command = {0};
    if (!output || (!chosen.input && chosen.input_size > 0))
        return -EINVAL;
    int error = wf_wait_enter(deadline);
    if (error)
        return error;
    error = command_begin(&command, argv, &chosen);
    if (!error) {
        error = command_move(&command, deadline);
        if (!error)
            error = weft_process_wait(command.process, &end, deadline);
        /* One that has become another user's cannot be killed, and is not waited for. */
        if (error && weft_process_kill(command.process, SIGKILL) == 0)
            wf_process_wait_surely(command.process, NULL);
        weft_process_free(command.process);
    }
    command_close(&command.in);
    command_close(&command.streams[0].fd);
    command_close(&command.streams[1].fd);
    weft_process_output collected = {
        .out = command.streams[0].bytes,
        .out_size = command.streams[0].size,
        .err = command.streams[1].bytes,
        .err_size = command.streams[1].size,
        .was_cut = command.streams[0].was_cut || command.streams[1].was_cut,
        .end = end,
    };
    if (error)
        weft_process_output_free(&collected);
    else
        *output = collected;
    return error;
}

void weft_process_output_free(weft_process_output *output) {
    wf_os_free(output->out);
    wf_os_free(output->err);
    *output = (weft_process_output){0};
}

static int command_begin(struct command *command, const char *const *argv, const weft_process_options *options) {
    weft_process_options chosen = *options;
    weft_fd pipes[3];
    if (chosen.in.kind == WEFT_STDIO_DEFAULT)
        chosen.in.kind = chosen.input ? WEFT_STDIO_PIPE : WEFT_STDIO_NULL;
    if (chosen.out.kind == WEFT_STDIO_DEFAULT)
        chosen.out.kind = WEFT_STDIO_PIPE;
    if (chosen.err.kind == WEFT_STDIO_DEFAULT)
        chosen.err.kind = WEFT_STDIO_PIPE;
    command->input = chosen.input;
    command->input_left = chosen.input_size;
    command->limit = chosen.limit ? chosen.limit : COMMAND_LIMIT;
    const int kinds[2] = {chosen.out.kind, chosen.err.kind};
    for (int i = 0; i < 2; i++)
        if (kinds[i] == WEFT_STDIO_PIPE && command_widen(&command->streams[i], command->limit) != 0)
            return -ENOMEM;
    int error = weft_process_spawn(&command->process, argv, &chosen, pipes);
    if (error)
        return error;
    command->in = pipes[0];
    command->streams[0].fd = pipes[1];
    command->streams[1].fd = pipes[2];
    return 0;
}

/* Until all three are at their end. */
static int command_move(struct command *command, weft_time deadline) {
    int error = 0;
    if (command->input_left == 0)
        command_close(&command->in);
    while (!error) {
        weft_case cases[3];
        struct command_stream *streams[3] = {NULL, NULL, NULL};
        int count = 0;
        if (command->in.bits)
            cases[count++] = weft_on_writable(command->in);
        for (int i = 0; i < 2; i++)
            if (command->streams[i].fd.bits) {
                streams[count] = &command->streams[i];
                cases[count++] = weft_on_readable(command->streams[i].fd);
            }
        if (count == 0)
            break;
        int chosen = weft_select(cases, count, deadline);
        if (chosen < 0)
            return chosen;
        if (cases[chosen].status < 0) /* it cannot be waited for */
            return cases[chosen].status;
        error = streams[chosen] ? command_collect(command, streams[chosen]) : command_feed(command);
    }
    return error;
}

/* A program that does not want all of its input is no error. */
static int command_feed(struct command *command) {
    ssize_t count = weft_write(command->in, command->input, command->input_left, WEFT_NOW);
    if (count == -ETIMEDOUT)
        return 0;
    if (count < 0 && count != -EPIPE)
        return (int)count;
    command->input += count > 0 ? count : 0;
    command->input_left -= count > 0 ? (size_t)count : command->input_left;
    if (command->input_left == 0)
        command_close(&command->in);
    return 0;
}

static int command_collect(struct command *command, struct command_stream *stream) {
    char rest[COMMAND_DROP_SIZE];
    bool is_full = stream->size == command->limit;
    if (!is_full && stream->size == stream->room && command_widen(stream, command->limit) != 0)
        return -ENOMEM;
    ssize_t count = is_full
                        ? weft_read(stream->fd, rest, sizeof rest, WEFT_NOW)
                        : weft_read(stream->fd, stream->bytes + stream->size, stream->room - stream->size, WEFT_NOW);
    if (count < 0)
        return count == -ETIMEDOUT ? 0 : (int)count;
    if (count == 0)
        command_close(&stream->fd);
    else if (is_full)
        stream->was_cut = true;
    else
        stream->size += (size_t)count;
    return 0;
}

static int command_widen(struct command_stream *stream, size_t limit) {
    size_t room = stream->room ? 2 * stream->room : COMMAND_FIRST_ROOM;
    if (room > limit)
        room = limit;
    char *bytes = wf_os_alloc(room + 1); /* zeroed: there is always one behind */
    if (!bytes)
        return -ENOMEM;
    if (stream->bytes)
        memcpy(bytes, stream->bytes, stream->size);
    wf_os_free(stream->bytes);
    stream->bytes = bytes;
    stream->room = room;
    return 0;
}

static void command_close(weft_fd *fd) {
    if (fd->bits)
        weft_close(*fd);
    *fd = WEFT_NO_FD;
}
