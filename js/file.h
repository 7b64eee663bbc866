/* SPDX-License-Identifier: MIT
 *
 * js/file.h - files for JavaScript: open ones, and calls on them and on paths.
 *
 * A call is made in one of four ways, by the first argument of its function, all of them with the same two halves:
 *
 *     0          at once, with the turn: what is thrown or returned is the result      readFileSync
 *     1          on a go fiber its result, elsewhere a promise                          weft:fs
 *     2          a promise                                                              node:fs/promises
 *     function   (error) or (null, result), as a callback of the loop                   node:fs
 *
 * run, the first half, works without the turn, on a fiber that may block its thread; it sees nothing of the engine but what was
 * copied for it. result, the second, has the turn and makes a value of what run has found.
 *
 * An open file is a weft_fd, counted by handles of JavaScript, by the table of numbers and by calls. The table of an instance
 * leads from the numbers that JavaScript has to them; a number that somebody else has opened, as 0, is adopted when it is first
 * used. References and the table are used with the turn.
 */
#ifndef WF_JS_FILE_H
#define WF_JS_FILE_H

#include <sys/stat.h>
#include <sys/vfs.h>

#include "host.h"

struct wf_js_file {
    weft_fd fd;
    int number;       /* of the table; -1: not in it */
    int references;   /* with the turn */
    bool is_counted;  /* one of them is the table's */
    bool is_borrowed; /* the number is not the one of fd, or does not go with it: it was adopted */
    weft_rwlock lock; /* read while the number is in a system call that weft has not; written by closing */
};

/* Entries of a folder, and of those in it. */
struct wf_js_entry {
    char *name;   /* in its folder */
    int kind;     /* WEFT_FILE_... */
    int32_t home; /* index of the folder it is in; -1: the first */
};

struct wf_js_listing {
    struct wf_js_entry *entries;
    int32_t count, room;
};

struct wf_js_file_call {
    struct wf_js_wait wait;
    const struct wf_js_file_operation *operation;
    bool is_now;
    /* what it is given: see wf_js_file_operation.arguments */
    struct wf_js_file *file;
    char *path, *other;
    int64_t numbers[4];
    double times[2];
    JSValue view;     /* undefined: none */
    const char *text; /* of a string, which goes with it; else bytes are */
    char *bytes;      /* freed with it, unless they are borrowed */
    size_t size;
    bool is_file, is_borrowed;
    /* what run has found */
    ssize_t count;
    union {
        struct statx about;
        struct statfs system;
        weft_fd fd;
        struct wf_js_listing listing;
        weft_watch_event event;
    };
    /* what an error tells, if not the usual */
    const char *failed_call;
    char *failed_path;
    bool hides_path;
};

struct wf_js_file_operation {
    const char *name;
    /* One letter for each argument: f an open file, p a path, q another one, x a file or a path, i a whole number, d one with a
     * fraction, b bytes or a text to be written, v a Uint8Array to be filled. */
    const char *arguments;
    const char *call, *file_call; /* what errors name: with a path, with a file */
    bool blocks;                  /* run makes system calls of its own */
    bool closes; /* the file is out of the table before; numbers[0]: what else is to be closed, or -1 */
    ssize_t (*run)(struct wf_js_file_call *call);                        /* 0, a count, or a negative error */
    JSValue (*result)(JSContext *context, struct wf_js_file_call *call); /* null: undefined */
};

/* Each ends with a null name: js/file_bytes.c, file_names.c, file_folders.c. */
extern const struct wf_js_file_operation wf_js_file_bytes[], wf_js_file_names[], wf_js_file_folders[];

/* Between the pieces of what is long: -ECANCELED, or 0. */
enum { WF_JS_FILE_PIECE = 1 << 20 };
int wf_js_file_look(struct wf_js_file_call *call);
/* An error of this call on this path, which is taken over; null: none. Returns status. */
int wf_js_file_fail(struct wf_js_file_call *call, int status, const char *name, char *path);
/* The number of the file for one system call, and its end. -EBADF, -ECANCELED. */
int wf_js_file_begin(struct wf_js_file *file);
void wf_js_file_end(struct wf_js_file *file);

/* With the turn. A handle, or a number, for what is open; it is closed if there is none. */
JSValue wf_js_file_give(JSContext *context, weft_fd fd, bool is_number);
/* Out of the table: from here on its number may be another's. */
void wf_js_file_forget(weft_js *js, struct wf_js_file *file);

#endif
