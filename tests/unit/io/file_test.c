/* SPDX-License-Identifier: MIT
 *
 * unit/io/file_test.c - files when the system fails, and what happens between two pieces.
 *
 * Every call is made with its first system call failing, then its second, and so on until none fails any more: each time it says
 * so or has done what it promises, and nothing is left open, allocated or lying about. The harness looks after the first two.
 */
#include "base/point.h"
#include "os/fault.h"
#include "support/parked.h"
#include "support/scratch.h"

enum { KEPT_SIZE = 3 };

static weft_fd file;

/* ---- Every system call fails ---- */

/* A call, what it must have done when it returns 0, and what is true after an error. The scratch folder has "kept", a file that
 * reads "old", and "tree/a/b/c/d/file"; file is open. */
struct attempt {
    const char *name;
    int (*call)(void);
    bool (*is_done)(void);
    bool (*is_undone)(void); /* NULL: nothing is promised */
};

static int call_open(void) {
    weft_fd fd;
    int error = weft_file_open(&fd, AT("new"), WEFT_OPEN_WRITE | WEFT_OPEN_CREATE, 0);
    return error ? error : weft_close(fd);
}

static bool new_is_there(void) {
    return exists("new");
}

static bool new_is_not_there(void) {
    return !exists("new");
}

static int call_open_fifo(void) {
    weft_fd fd;
    if (!exists("fifo"))
        CHECK_EQ(mkfifo(AT("fifo"), 0600), 0);
    int error = weft_file_open(&fd, AT("fifo"), WEFT_OPEN_READ, 0);
    return error ? error : weft_close(fd);
}

static int call_temporary(void) {
    char path[SCRATCH_PATH];
    weft_fd fd;
    int error = weft_file_temporary(&fd, scratch, path, sizeof path);
    if (error)
        return error;
    unlink(path);
    return weft_close(fd);
}

static int call_temporary_nameless(void) {
    weft_fd fd;
    int error = weft_file_temporary(&fd, scratch, NULL, 0);
    return error ? error : weft_close(fd);
}

/* kept, tree and perhaps fifo and new: nothing else. */
static bool nothing_lies_about(void) {
    return count_in("") == 2 + exists("fifo") + exists("new");
}

static int call_bytes(void) {
    char buffer[8];
    int error = weft_pwrite_all(file, "12345678", 8, 0, NULL);
    ssize_t count = error ? error : weft_pread_full(file, buffer, sizeof buffer, 0, NULL);
    if (count >= 0)
        count = weft_file_truncate(file, 4);
    if (count >= 0)
        count = weft_file_sync_data(file);
    return count < 0 ? (int)count : weft_file_sync(file);
}

static int call_names(void) {
    weft_file_info info;
    char text[16];
    int error = weft_file_symlink("kept", AT("new"));
    if (!error)
        error = weft_file_stat(AT("new"), &info);
    if (!error)
        error = weft_file_stat_link(AT("new"), &info);
    ssize_t length = error ? error : weft_file_read_link(AT("new"), text, sizeof text);
    if (length >= 0)
        length = weft_file_remove(AT("new"));
    if (length >= 0)
        length = weft_file_link(AT("kept"), AT("new"));
    if (length >= 0)
        length = weft_file_set_mode(AT("new"), 0600);
    return length < 0 ? (int)length : weft_file_stat_fd(file, &info);
}

static int call_read_whole(void) {
    void *bytes = NULL;
    size_t size = 0;
    int error = weft_file_read_whole(AT("kept"), &bytes, &size, 0);
    CHECK_EQ(error ? 0 : KEPT_SIZE, size);
    weft_file_free(bytes);
    return error;
}

static int call_write_whole(void) {
    return weft_file_write_whole(AT("kept"), "new", KEPT_SIZE, 0);
}

static bool kept_is_new(void) {
    return file_reads("kept", "new") && nothing_lies_about();
}

static bool kept_is_old_or_new(void) {
    return (file_reads("kept", "old") || file_reads("kept", "new")) && nothing_lies_about();
}

static int call_copy(void) {
    return weft_file_copy(AT("kept"), AT("new"), 0);
}

static bool new_is_a_copy(void) {
    return file_reads("new", "old");
}

static int call_folder(void) {
    weft_folder *folder;
    weft_folder_entry entry;
    int result = weft_folder_open(&folder, scratch);
    if (result)
        return result;
    do {
        result = weft_folder_next(folder, &entry);
    } while (result > 0);
    weft_folder_close(folder);
    return result;
}

static int call_make_all(void) {
    return weft_folder_make_all(AT("tree/x/y/z"), 0);
}

static bool all_are_made(void) {
    return exists("tree/x/y/z");
}

static int call_remove_all(void) {
    return weft_folder_remove_all(AT("tree"));
}

static bool all_are_removed(void) {
    return !exists("tree") && file_reads("kept", "old");
}

static bool kept_is_old(void) {
    return file_reads("kept", "old");
}

static int call_watch(void) {
    weft_watch watch;
    weft_watch_event event;
    int error = weft_watch_open(&watch);
    if (error)
        return error;
    int id = weft_watch_add(watch, scratch, WEFT_WATCH_MADE);
    error = id < 0 ? id : 0;
    if (!error)
        error = mkdir(AT("new"), 0700);
    if (!error)
        error = weft_watch_next(watch, &event, WEFT_NOW);
    if (!error)
        error = weft_watch_remove(watch, id);
    weft_watch_close(watch);
    return error;
}

static const struct attempt attempts[] = {
    {"open", call_open, new_is_there, NULL},
    {"open a fifo", call_open_fifo, NULL, NULL},
    {"temporary", call_temporary, nothing_lies_about, nothing_lies_about},
    {"temporary without a name", call_temporary_nameless, nothing_lies_about, NULL},
    {"bytes", call_bytes, NULL, NULL},
    {"names", call_names, new_is_there, NULL},
    {"read whole", call_read_whole, NULL, NULL},
    {"write whole", call_write_whole, kept_is_new, kept_is_old_or_new},
    {"copy", call_copy, new_is_a_copy, new_is_not_there},
    {"folder", call_folder, NULL, NULL},
    {"make all", call_make_all, all_are_made, NULL},
    {"remove all", call_remove_all, all_are_removed, kept_is_old},
    {"watch", call_watch, NULL, NULL},
};
enum { ATTEMPTS = sizeof attempts / sizeof *attempts };

static void attempt_begin(void) {
    scratch_begin();
    put_file("kept", "old");
    CHECK_EQ(weft_folder_make_all(AT("tree/a/b/c/d/e"), 0), 0);
    put_file("tree/a/b/c/d/file", "");
    CHECK_EQ(weft_file_temporary(&file, scratch, NULL, 0), 0);
}

static void attempt_end(void) {
    wf_fault_order(WF_CALL_COUNT, 0, 0, 0);
    CHECK_EQ(weft_close(file), 0);
    scratch_end();
}

/* Returns whether a call was made to fail. */
static bool attempt_with(const struct attempt *attempt, enum wf_system_call kind, long nth, int error, bool must_do) {
    attempt_begin();
    wf_fault_order_here(kind, nth, error, 0);
    int result = attempt->call();
    bool was_hit = wf_fault_hits() > 0;
    wf_fault_order(WF_CALL_COUNT, 0, 0, 0);
    bool is_right = result == 0 ? !attempt->is_done || attempt->is_done() : !attempt->is_undone || attempt->is_undone();
    if (!is_right || (must_do && result != 0) || (!was_hit && result != 0))
        fprintf(stderr, "%s, %s number %ld fails by %d: %d\n", attempt->name, wf_fault_name(kind), nth, error, result);
    CHECK(is_right);
    CHECK(result == 0 || (was_hit && !must_do));
    attempt_end();
    return was_hit;
}

static void sweep(int error) {
    for (int i = 0; i < ATTEMPTS; i++) {
        long nth = 1;
        while (attempt_with(&attempts[i], WF_CALL_COUNT, nth, error, false))
            CHECK_LE(++nth, 200);
        CHECK_GE(nth, 2);
    }
}

TEST(a_disk_that_fails_at_any_step_is_told_and_leaves_nothing_behind) {
    sweep(EIO);
}

TEST(a_disk_that_is_full_at_any_step_is_told_and_leaves_nothing_behind) {
    sweep(ENOSPC);
}

TEST(a_signal_at_any_step_changes_nothing) {
    static const enum wf_system_call kinds[] = {
        WF_CALL_OPEN,   WF_CALL_PREAD,   WF_CALL_PWRITE, WF_CALL_SYNC, WF_CALL_TRUNCATE, WF_CALL_NAME, WF_CALL_COPY,
        WF_CALL_FOLDER, WF_CALL_INOTIFY, WF_CALL_READ,   WF_CALL_SEND, WF_CALL_FSTAT,    WF_CALL_FCNTL};
    for (int i = 0; i < ATTEMPTS; i++)
        for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++)
            for (long nth = 1; attempt_with(&attempts[i], kinds[kind], nth, EINTR, true); nth++)
                CHECK_LE(nth, 200);
}

/* ---- Single steps ---- */

TEST(a_file_without_memory_or_descriptors_is_refused) {
    scratch_begin();
    weft_watch watch;
    weft_folder *folder;
    void *bytes;
    size_t size;
    put_file("file", "text");
    wf_fault_order(WF_CALL_ALLOC, 1, ENOMEM, 1);
    CHECK_EQ(weft_file_read_whole(AT("file"), &bytes, &size, 0), -ENOMEM);
    CHECK_EQ(weft_file_write_whole(AT("file"), "x", 1, 0), -ENOMEM);
    CHECK_EQ(weft_folder_open(&folder, scratch), -ENOMEM);
    CHECK_EQ(weft_folder_make_all(AT("x/y"), 0), -ENOMEM);
    CHECK_EQ(weft_folder_remove_all(scratch), -ENOMEM);
    wf_fault_order(WF_CALL_OPEN, 1, EMFILE, 1);
    CHECK_EQ(weft_file_open(&file, AT("file"), WEFT_OPEN_READ, 0), -EMFILE);
    CHECK_EQ(weft_file_temporary(&file, scratch, NULL, 0), -EMFILE);
    CHECK_EQ(weft_folder_open(&folder, scratch), -EMFILE);
    wf_fault_order(WF_CALL_INOTIFY, 1, EMFILE, 1);
    CHECK_EQ(weft_watch_open(&watch), -EMFILE);
    wf_fault_order(WF_CALL_COUNT, 0, 0, 0);
    CHECK(file_reads("file", "text"));
    scratch_end();
}

TEST(a_disk_that_fills_up_between_two_pieces_tells_how_far_it_came) {
    scratch_begin();
    char *bytes = big_bytes();
    size_t done = 0;
    CHECK_EQ(weft_file_temporary(&file, scratch, NULL, 0), 0);
    wf_fault_order(WF_CALL_PWRITE, 2, ENOSPC, 0);
    CHECK_EQ(weft_pwrite_all(file, bytes, BIG_FILE, 0, &done), -ENOSPC);
    CHECK_EQ(done, 1 << 20);
    CHECK_EQ(weft_pwrite_all(file, bytes, BIG_FILE, 0, &done), 0);
    wf_fault_order(WF_CALL_PREAD, 3, EIO, 0);
    CHECK_EQ(weft_pread_full(file, bytes, BIG_FILE, 0, &done), -EIO);
    CHECK_EQ(done, 2 << 20);
    wf_fault_order(WF_CALL_COUNT, 0, 0, 0);
    CHECK_EQ(weft_close(file), 0);
    free(bytes);
    scratch_end();
}

TEST(a_copy_that_the_kernel_refuses_is_made_by_hand) {
    static const int errors[] = {EXDEV, EINVAL, ENOSYS, EOPNOTSUPP, EPERM};
    scratch_begin();
    char *bytes = big_bytes();
    CHECK_EQ(weft_file_write_whole(AT("from"), bytes, BIG_FILE, 0), 0);
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        void *found;
        size_t size;
        wf_fault_order(WF_CALL_COPY, 1, errors[i], 1);
        CHECK_EQ(weft_file_copy(AT("from"), AT("to"), 0), 0);
        CHECK_EQ(wf_fault_hits(), 1);
        wf_fault_order(WF_CALL_COUNT, 0, 0, 0);
        CHECK_EQ(weft_file_read_whole(AT("to"), &found, &size, 0), 0);
        CHECK_EQ(size, BIG_FILE);
        CHECK_EQ(memcmp(found, bytes, BIG_FILE), 0);
        weft_file_free(found);
    }
    free(bytes);
    scratch_end();
}

TEST(a_file_system_without_nameless_files_gets_named_ones_that_go_at_once) {
    scratch_begin();
    wf_fault_order(WF_CALL_OPEN, 1, EOPNOTSUPP, 0);
    CHECK_EQ(weft_file_temporary(&file, scratch, NULL, 0), 0);
    CHECK_EQ(wf_fault_hits(), 1);
    wf_fault_order(WF_CALL_OPEN, 2, EEXIST, 0); /* the name is taken: another one */
    char path[SCRATCH_PATH];
    weft_fd other;
    CHECK_EQ(weft_file_temporary(&other, scratch, path, sizeof path), 0);
    CHECK_EQ(wf_fault_hits(), 1);
    wf_fault_order(WF_CALL_COUNT, 0, 0, 0);
    CHECK_EQ(count_in(""), 1);
    CHECK_EQ(weft_close(file), 0);
    CHECK_EQ(weft_close(other), 0);
    scratch_end();
}

/* The bytes are on the disk before the name is given, and the folder after. */
TEST(a_file_is_replaced_only_when_its_bytes_are_on_the_disk) {
    scratch_begin();
    put_file("file", "old");
    wf_fault_order(WF_CALL_SYNC, 1, EIO, 0);
    CHECK_EQ(weft_file_write_whole(AT("file"), "new", 3, 0), -EIO);
    CHECK(file_reads("file", "old"));
    wf_fault_order(WF_CALL_SYNC, 2, EIO, 0);
    CHECK_EQ(weft_file_write_whole(AT("file"), "new", 3, 0), -EIO);
    CHECK(file_reads("file", "new"));
    wf_fault_order(WF_CALL_SYNC, 2, EINVAL, 0); /* a file system whose folders cannot be synced */
    CHECK_EQ(weft_file_write_whole(AT("file"), "end", 3, 0), 0);
    wf_fault_order(WF_CALL_COUNT, 0, 0, 0);
    CHECK_EQ(count_in(""), 1);
    scratch_end();
}

/* ---- Between two pieces ---- */

/* What is done there; the hook itself is set before anything runs. */
static void (*_Atomic at_piece)(void);
static weft_scope *scope;

static void piece_hook(const char *name) {
    void (*act)(void) = strcmp(name, "file.piece") == 0 ? atomic_load(&at_piece) : NULL;
    if (act)
        act();
}

__attribute__((constructor)) static void piece_hook_install(void) {
    wf_point_hook = piece_hook;
}

static void cancel_at_piece(void) {
    weft_scope_cancel(scope, 0, NULL);
}

static void cancelled_call(int (*call)(char *bytes), char *bytes) {
    CHECK_EQ(weft_scope_open(&scope, NULL), 0);
    atomic_store(&at_piece, cancel_at_piece);
    CHECK_EQ(call(bytes), -ECANCELED);
    atomic_store(&at_piece, NULL);
    CHECK_EQ(weft_scope_close(scope), -ECANCELED);
}

static int piece_write(char *bytes) {
    return weft_pwrite_all(file, bytes, BIG_FILE, 0, NULL);
}

static int piece_read(char *bytes) {
    return (int)weft_pread_full(file, bytes, BIG_FILE, 0, NULL);
}

static int piece_write_whole(char *bytes) {
    return weft_file_write_whole(AT("new"), bytes, BIG_FILE, 0);
}

static int piece_read_whole(char *bytes) {
    void *found;
    size_t size;
    (void)bytes;
    return weft_file_read_whole(AT("big"), &found, &size, 0);
}

static int piece_copy(char *bytes) {
    (void)bytes;
    return weft_file_copy(AT("big"), AT("new"), 0);
}

static int piece_remove(char *bytes) {
    (void)bytes;
    return weft_folder_remove_all(scratch);
}

static void cancelled_between(void) {
    char *bytes = big_bytes();
    CHECK_EQ(weft_file_temporary(&file, scratch, NULL, 0), 0);
    CHECK_EQ(weft_file_write_whole(AT("big"), bytes, BIG_FILE, 0), 0);
    cancelled_call(piece_write, bytes);
    CHECK_EQ(weft_pwrite_all(file, bytes, BIG_FILE, 0, NULL), 0);
    cancelled_call(piece_read, bytes);
    cancelled_call(piece_write_whole, bytes);
    cancelled_call(piece_read_whole, bytes);
    cancelled_call(piece_copy, bytes);
    cancelled_call(piece_remove, bytes);
    CHECK_EQ(count_in(""), 1);
    CHECK_EQ(weft_close(file), 0);
    free(bytes);
}

TEST(a_cancellation_ends_what_is_long_between_two_pieces) {
    run_in_scratch(cancelled_between);
}

/* Somebody closes it between two pieces. The call has the descriptor and goes on to its end; the close waits for that. */
static pthread_t closing_thread;
static atomic_int close_has_begun, close_has_ended;

static void *close_plainly(void *arg) {
    CHECK_EQ(weft_close(file), 0);
    atomic_store(&close_has_ended, 1);
    return arg;
}

static void close_at_piece(void) {
    if (atomic_exchange(&close_has_begun, 1))
        return;
    closing_thread = thread_start(close_plainly, NULL);
    while (weft_fd_number(file) != -EBADF)
        sched_yield();
    CHECK_EQ(atomic_load(&close_has_ended), 0);
}

static void closed_between(void) {
    char *bytes = big_bytes();
    CHECK_EQ(weft_file_temporary(&file, scratch, NULL, 0), 0);
    CHECK_EQ(weft_file_truncate(file, BIG_FILE), 0);
    atomic_store(&at_piece, close_at_piece);
    CHECK_EQ(weft_pread_full(file, bytes, BIG_FILE, 0, NULL), BIG_FILE);
    atomic_store(&at_piece, NULL);
    thread_join(closing_thread);
    CHECK_EQ(weft_pread(file, bytes, 1, 0), -EBADF);
    free(bytes);
}

TEST(a_close_waits_for_the_call_that_is_under_way) {
    run_in_scratch(closed_between);
}
