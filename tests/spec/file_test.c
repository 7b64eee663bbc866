/* SPDX-License-Identifier: MIT
 *
 * spec/file_test.c - the laws of files: what is written is read back, whole or not at all where that is said, by many at once.
 *
 * What the disk does with it after a crash cannot be seen here; that every step is made, and in order, is looked at in
 * unit/io/file_test.c.
 */
#include <sys/resource.h>

#include "support/child.h"
#include "support/parked.h"
#include "support/scratch.h"

enum { WRITERS = 32, LINES = 16, LINE = 32 };

static const char odd_name[] = "\x01\n\xff\xfe *?'\"\\\x7f-";
static char long_name[300]; /* one too long for an entry */
static char long_path[5000];

__attribute__((constructor)) static void make_long_names(void) {
    memset(long_name, 'n', sizeof long_name - 1);
    memset(long_path, '/', sizeof long_path - 1);
}

static weft_fd open_file(const char *name, unsigned flags) {
    weft_fd fd;
    CHECK_EQ(weft_file_open(&fd, AT(name), flags, 0), 0);
    return fd;
}

static void *write_and_read(void *arg) {
    char buffer[16] = {0};
    weft_fd fd = open_file(arg, WEFT_OPEN_READ | WEFT_OPEN_WRITE | WEFT_OPEN_NEW);
    CHECK_EQ(weft_write_all(fd, "one ", 4, WEFT_NEVER), 0);
    CHECK_EQ(weft_write_all(fd, "two", 3, WEFT_NOW), 0);
    CHECK_EQ(weft_read(fd, buffer, sizeof buffer, WEFT_NEVER), 0);
    CHECK_EQ(weft_pread(fd, buffer, sizeof buffer, 0), 7);
    CHECK_TEXT(buffer, "one two");
    CHECK_EQ(weft_wait_readable(fd, WEFT_NOW), 0);
    CHECK_EQ(weft_close(fd), 0);
    CHECK(file_reads(arg, "one two"));
    return NULL;
}

static void written_and_read(void) {
    write_and_read("fiber");
    on_thread(write_and_read, "thread");
    write_and_read((void *)odd_name);
    CHECK_EQ(weft_file_remove(AT(odd_name)), 0);
    CHECK_EQ(count_in(""), 2);
}

TEST(what_is_written_in_turn_is_read_back_in_order_under_any_name) {
    run_in_scratch(written_and_read);
}

static void open_ways(void) {
    weft_fd fd, none = WEFT_NO_FD;
    char byte;
    put_file("there", "abc");
    CHECK_EQ(weft_file_open(&fd, AT("there"), WEFT_OPEN_WRITE | WEFT_OPEN_NEW, 0), -EEXIST);
    CHECK_EQ(weft_file_open(&fd, AT("not"), WEFT_OPEN_READ, 0), -ENOENT);
    CHECK_EQ(weft_file_open(&fd, AT("there/not"), WEFT_OPEN_READ, 0), -ENOTDIR);
    CHECK_EQ(weft_file_open(&fd, AT(""), WEFT_OPEN_WRITE, 0), -EISDIR);
    CHECK_EQ(weft_file_open(&fd, AT(long_name), WEFT_OPEN_READ | WEFT_OPEN_CREATE, 0), -ENAMETOOLONG);
    CHECK_EQ(weft_file_open(&fd, long_path, WEFT_OPEN_READ, 0), -ENAMETOOLONG);
    CHECK_EQ(weft_file_open(&fd, "", WEFT_OPEN_READ, 0), -ENOENT);
    CHECK_EQ(weft_file_open(&fd, AT("there"), 0, 0), -EINVAL);
    CHECK_EQ(weft_file_open(&fd, AT("there"), WEFT_OPEN_CREATE, 0), -EINVAL);
    CHECK_EQ(weft_file_open(&fd, AT("there"), WEFT_OPEN_READ | WEFT_OPEN_EMPTY, 0), -EINVAL);
    CHECK_EQ(weft_file_open(&fd, AT("there"), WEFT_OPEN_READ | 256, 0), -EINVAL);
    CHECK_EQ(weft_file_open(NULL, AT("there"), WEFT_OPEN_READ, 0), -EINVAL);
    CHECK_EQ(weft_file_open(&fd, NULL, WEFT_OPEN_READ, 0), -EINVAL);
    CHECK_EQ(weft_file_symlink("there", AT("link")), 0);
    CHECK_EQ(weft_file_open(&none, AT("link"), WEFT_OPEN_READ | WEFT_OPEN_NO_FOLLOW, 0), -ELOOP);
    CHECK_EQ(none.bits, 0);

    fd = open_file("link", WEFT_OPEN_READ);
    CHECK_EQ(weft_write(fd, "x", 1, WEFT_NEVER), -EBADF);
    CHECK_EQ(fcntl(weft_fd_number(fd), F_GETFD), FD_CLOEXEC);
    CHECK_EQ(fcntl(weft_fd_number(fd), F_GETFL) & O_NONBLOCK, 0);
    CHECK_EQ(weft_close(fd), 0);
    fd = open_file("there", WEFT_OPEN_WRITE | WEFT_OPEN_EMPTY | WEFT_OPEN_SYNC);
    CHECK_EQ(weft_read(fd, &byte, 1, WEFT_NEVER), -EBADF);
    CHECK_EQ(weft_close(fd), 0);
    CHECK(file_reads("there", ""));
}

TEST(a_file_opens_as_its_flags_say_or_says_why_not) {
    run_in_scratch(open_ways);
}

static void *append_lines(void *arg) {
    char line[LINE];
    weft_fd fd = open_file("log", WEFT_OPEN_APPEND | WEFT_OPEN_CREATE);
    for (int i = 0; i < LINES; i++) {
        memset(line, 'a' + (int)(intptr_t)arg % 26, sizeof line - 1);
        line[sizeof line - 1] = '\n';
        CHECK_EQ(weft_write(fd, line, sizeof line, WEFT_NEVER), LINE);
    }
    CHECK_EQ(weft_close(fd), 0);
    return NULL;
}

static void appended(void) {
    weft_fiber fibers[WRITERS];
    char *text;
    size_t size;
    for (int i = 0; i < WRITERS; i++)
        SPAWN(&fibers[i], append_lines, (void *)(intptr_t)i);
    for (int i = 0; i < WRITERS; i++)
        JOIN(fibers[i], NULL);
    CHECK_EQ(weft_file_read_whole(AT("log"), (void **)&text, &size, 0), 0);
    CHECK_EQ(size, WRITERS * LINES * LINE);
    for (size_t i = 0; i < size; i++)
        CHECK_EQ(text[i], i % LINE == LINE - 1 ? '\n' : text[i - i % LINE]);
    weft_file_free(text);
}

TEST(lines_that_many_append_are_all_there_and_whole) {
    run_in_scratch(appended);
}

static void at_places(void) {
    char *bytes = big_bytes(), *found = calloc(1, BIG_FILE);
    size_t done = 99;
    CHECK(found != NULL);
    weft_fd fd = open_file("big", WEFT_OPEN_READ | WEFT_OPEN_WRITE | WEFT_OPEN_NEW);
    CHECK_EQ(weft_pwrite_all(fd, bytes, BIG_FILE, 10, &done), 0);
    CHECK_EQ(done, BIG_FILE);
    CHECK_EQ(weft_pread_full(fd, found, BIG_FILE, 10, &done), BIG_FILE);
    CHECK_EQ(memcmp(bytes, found, BIG_FILE), 0);
    CHECK_EQ(weft_pread_full(fd, found, BIG_FILE, 20, &done), BIG_FILE - 10);
    CHECK_EQ(done, BIG_FILE - 10);
    CHECK_EQ(weft_pread_full(fd, found, BIG_FILE, BIG_FILE + 10, NULL), 0);
    CHECK_EQ(weft_pread_full(fd, NULL, 0, 0, NULL), 0);
    CHECK_EQ(weft_pwrite_all(fd, NULL, 0, 0, NULL), 0);
    CHECK_EQ(weft_pwrite(fd, "0123456789", 10, 0), 10);
    CHECK_EQ(weft_read(fd, found, 4, WEFT_NEVER), 4); /* where it stands has not moved */
    CHECK_EQ(memcmp(found, "0123", 4), 0);
    CHECK_EQ(weft_pread(fd, found, 1, -1), -EINVAL);
    CHECK_EQ(weft_pwrite(fd, found, 1, -1), -EINVAL);
    CHECK_EQ(weft_pread(fd, NULL, 1, 0), -EINVAL);
    CHECK_EQ(weft_pwrite(fd, NULL, 1, 0), -EINVAL);
    CHECK_EQ(weft_pread_full(fd, NULL, 1, 0, &done), -EINVAL);
    CHECK_EQ(weft_pwrite_all(fd, NULL, 1, 0, &done), -EINVAL);
    CHECK_EQ(done, 0);
    CHECK_EQ(weft_close(fd), 0);
    free(bytes);
    free(found);
}

TEST(bytes_at_a_place_are_moved_whole_and_leave_the_position_alone) {
    run_in_scratch(at_places);
}

static void without_places(void) {
    weft_fd ends[2];
    char byte;
    CHECK_EQ(weft_pipe(ends), 0);
    CHECK_EQ(weft_pread(ends[0], &byte, 1, 0), -ESPIPE);
    CHECK_EQ(weft_pwrite(ends[1], "x", 1, 0), -ESPIPE);
    CHECK_EQ(weft_file_truncate(ends[1], 0), -EINVAL);
    CHECK_EQ(weft_file_sync(ends[1]), -EINVAL);
    weft_close(ends[0]);
    weft_close(ends[1]);
}

TEST(pipes_have_no_places_and_are_not_synced) {
    run_in_scratch(without_places);
}

static void stale_handles(void) {
    weft_file_info info;
    size_t done = 99;
    char byte;
    weft_fd closed = open_file("file", WEFT_OPEN_WRITE | WEFT_OPEN_NEW);
    CHECK_EQ(weft_close(closed), 0);
    weft_fd bad[] = {closed, WEFT_NO_FD, {.bits = UINT64_MAX}};
    for (int i = 0; i < 3; i++) {
        CHECK_EQ(weft_pread(bad[i], &byte, 1, 0), -EBADF);
        CHECK_EQ(weft_pwrite(bad[i], "x", 1, 0), -EBADF);
        CHECK_EQ(weft_pread_full(bad[i], &byte, 1, 0, &done), -EBADF);
        CHECK_EQ(weft_pwrite_all(bad[i], "x", 1, 0, &done), -EBADF);
        CHECK_EQ(done, 0);
        CHECK_EQ(weft_file_sync(bad[i]), -EBADF);
        CHECK_EQ(weft_file_sync_data(bad[i]), -EBADF);
        CHECK_EQ(weft_file_truncate(bad[i], 0), -EBADF);
        CHECK_EQ(weft_file_stat_fd(bad[i], &info), -EBADF);
        CHECK_EQ(weft_close(bad[i]), -EBADF);
    }
}

TEST(what_is_not_open_is_a_bad_descriptor_for_every_call) {
    run_in_scratch(stale_handles);
}

static void looked_at(void) {
    weft_file_info info, other;
    put_file("file", "12345");
    CHECK_EQ(weft_file_set_mode(AT("file"), 0640), 0);
    CHECK_EQ(weft_file_symlink("file", AT("link")), 0);
    CHECK_EQ(weft_file_link(AT("file"), AT("also")), 0);
    CHECK_EQ(mkfifo(AT("fifo"), 0600), 0);
    CHECK_EQ(weft_file_stat(AT("link"), &info), 0);
    CHECK_EQ(info.kind, WEFT_FILE_PLAIN);
    CHECK_EQ(info.size, 5);
    CHECK_EQ(info.mode, 0640);
    CHECK_EQ(info.links, 2);
    CHECK_EQ(info.user, geteuid());
    CHECK(info.modified_ns > 0 && info.changed_ns >= info.modified_ns);
    CHECK_EQ(weft_file_stat(AT("also"), &other), 0);
    CHECK(other.number == info.number && other.device == info.device);
    CHECK_EQ(weft_file_stat_link(AT("link"), &info), 0);
    CHECK_EQ(info.kind, WEFT_FILE_LINK);
    CHECK_EQ(info.size, 4);
    CHECK_EQ(weft_file_stat(AT("fifo"), &info), 0);
    CHECK_EQ(info.kind, WEFT_FILE_FIFO);
    CHECK_EQ(weft_file_stat("/dev/null", &info), 0);
    CHECK_EQ(info.kind, WEFT_FILE_CHARACTERS);
    CHECK_EQ(weft_file_stat(AT(""), &info), 0);
    CHECK_EQ(info.kind, WEFT_FILE_FOLDER);

    weft_fd fd = open_file("file", WEFT_OPEN_WRITE);
    CHECK_EQ(weft_file_truncate(fd, 3), 0);
    CHECK(file_reads("file", "123"));
    CHECK_EQ(weft_file_truncate(fd, 1000), 0);
    CHECK_EQ(weft_file_truncate(fd, -1), -EINVAL);
    CHECK_EQ(weft_file_stat_fd(fd, &info), 0);
    CHECK_EQ(info.size, 1000);
    CHECK_EQ(weft_file_sync(fd), 0);
    CHECK_EQ(weft_file_sync_data(fd), 0);
    CHECK_EQ(weft_file_stat_fd(fd, NULL), -EINVAL);
    CHECK_EQ(weft_close(fd), 0);

    CHECK_EQ(weft_file_stat(AT("not"), &info), -ENOENT);
    CHECK_EQ(weft_file_stat(NULL, &info), -EINVAL);
    CHECK_EQ(weft_file_stat(AT("file"), NULL), -EINVAL);
    CHECK_EQ(weft_file_stat_link(NULL, &info), -EINVAL);
}

TEST(a_file_is_told_by_path_by_link_and_by_descriptor) {
    run_in_scratch(looked_at);
}

static void named(void) {
    char text[8];
    put_file("a", "a");
    put_file("b", "b");
    CHECK_EQ(weft_file_rename(AT("a"), AT("b")), 0);
    CHECK(!exists("a") && file_reads("b", "a"));
    CHECK_EQ(weft_file_rename(AT("a"), AT("b")), -ENOENT);
    CHECK_EQ(weft_file_link(AT("b"), AT("b")), -EEXIST);
    CHECK_EQ(weft_file_symlink("1234567", AT("link")), 0);
    CHECK_EQ(weft_file_symlink("x", AT("link")), -EEXIST);
    CHECK_EQ(weft_file_read_link(AT("link"), text, sizeof text), 7);
    CHECK_TEXT(text, "1234567");
    CHECK_EQ(weft_file_read_link(AT("link"), text, 7), -ENOSPC);
    CHECK_EQ(weft_file_read_link(AT("link"), text, 0), -ENOSPC);
    CHECK_EQ(weft_file_read_link(AT("b"), text, sizeof text), -EINVAL);
    CHECK_EQ(weft_file_remove(AT("link")), 0);
    CHECK_EQ(weft_file_remove(AT("link")), -ENOENT);
    CHECK_EQ(weft_file_remove(AT("")), -EISDIR);
    CHECK_EQ(weft_file_set_mode(AT("b"), 010000), -EINVAL);
    CHECK_EQ(weft_file_set_mode(AT("a"), 0600), -ENOENT);
    CHECK_EQ(weft_file_rename(NULL, "x"), -EINVAL);
    CHECK_EQ(weft_file_rename("x", NULL), -EINVAL);
    CHECK_EQ(weft_file_link(NULL, "x"), -EINVAL);
    CHECK_EQ(weft_file_symlink("x", NULL), -EINVAL);
    CHECK_EQ(weft_file_read_link(NULL, text, sizeof text), -EINVAL);
    CHECK_EQ(weft_file_remove(NULL), -EINVAL);
    CHECK_EQ(weft_file_set_mode(NULL, 0), -EINVAL);
}

TEST(names_are_given_and_taken) {
    run_in_scratch(named);
}

static void temporary(void) {
    char path[SCRATCH_PATH], other[SCRATCH_PATH], small[20];
    weft_file_info info;
    weft_fd fd, fds[2];
    CHECK_EQ(weft_file_temporary(&fd, scratch, NULL, 0), 0);
    CHECK_EQ(weft_pwrite_all(fd, "x", 1, 0, NULL), 0);
    CHECK_EQ(count_in(""), 0);
    CHECK_EQ(weft_file_stat_fd(fd, &info), 0);
    CHECK_EQ(info.links, 0);
    CHECK_EQ(weft_close(fd), 0);
    CHECK_EQ(weft_file_temporary(&fds[0], scratch, path, sizeof path), 0);
    CHECK_EQ(weft_file_temporary(&fds[1], scratch, other, sizeof other), 0);
    CHECK(strcmp(path, other) != 0);
    CHECK_EQ(weft_file_stat(path, &info), 0);
    CHECK_EQ(info.mode, 0600);
    CHECK_EQ(weft_close(fds[0]), 0);
    CHECK_EQ(weft_close(fds[1]), 0);
    CHECK_EQ(weft_file_remove(path), 0);
    CHECK_EQ(weft_file_remove(other), 0);
    CHECK_EQ(weft_file_temporary(&fd, NULL, NULL, 0), 0);
    CHECK_EQ(weft_close(fd), 0);
    CHECK_EQ(weft_file_temporary(&fd, scratch, small, sizeof small), -ENOSPC);
    CHECK_EQ(weft_file_temporary(&fd, AT("not"), NULL, 0), -ENOENT);
    CHECK_EQ(weft_file_temporary(&fd, AT("not"), path, sizeof path), -ENOENT);
    CHECK_EQ(weft_file_temporary(NULL, NULL, NULL, 0), -EINVAL);
    CHECK_EQ(count_in(""), 0);
}

TEST(temporary_files_are_nobody_elses) {
    run_in_scratch(temporary);
}

/* ---- Cancellation, room ---- */

static void refused(void) {
    weft_scope *scope;
    weft_file_info info;
    weft_folder *folder, *later;
    weft_folder_entry entry;
    weft_fd fd;
    void *bytes;
    size_t size;
    char text[64];
    put_file("file", "text");
    weft_fd open = open_file("file", WEFT_OPEN_READ | WEFT_OPEN_WRITE);
    CHECK_EQ(weft_folder_open(&folder, scratch), 0);
    CHECK_EQ(weft_scope_open(&scope, NULL), 0);
    CHECK_EQ(weft_scope_cancel(scope, 0, NULL), 0);
    CHECK_EQ(weft_file_open(&fd, AT("file"), WEFT_OPEN_READ, 0), -ECANCELED);
    CHECK_EQ(weft_file_temporary(&fd, scratch, NULL, 0), -ECANCELED);
    CHECK_EQ(weft_pread(open, text, 1, 0), -ECANCELED);
    CHECK_EQ(weft_pwrite(open, "x", 1, 0), -ECANCELED);
    CHECK_EQ(weft_pread_full(open, text, 1, 0, NULL), -ECANCELED);
    CHECK_EQ(weft_pwrite_all(open, "x", 1, 0, NULL), -ECANCELED);
    CHECK_EQ(weft_file_sync(open), -ECANCELED);
    CHECK_EQ(weft_file_sync_data(open), -ECANCELED);
    CHECK_EQ(weft_file_truncate(open, 0), -ECANCELED);
    CHECK_EQ(weft_file_stat(AT("file"), &info), -ECANCELED);
    CHECK_EQ(weft_file_stat_link(AT("file"), &info), -ECANCELED);
    CHECK_EQ(weft_file_stat_fd(open, &info), -ECANCELED);
    CHECK_EQ(weft_file_rename(AT("file"), AT("x")), -ECANCELED);
    CHECK_EQ(weft_file_remove(AT("file")), -ECANCELED);
    CHECK_EQ(weft_file_link(AT("file"), AT("x")), -ECANCELED);
    CHECK_EQ(weft_file_symlink("file", AT("x")), -ECANCELED);
    CHECK_EQ(weft_file_read_link(AT("x"), text, sizeof text), -ECANCELED);
    CHECK_EQ(weft_file_set_mode(AT("file"), 0600), -ECANCELED);
    CHECK_EQ(weft_file_read_whole(AT("file"), &bytes, &size, 0), -ECANCELED);
    CHECK_EQ(weft_file_write_whole(AT("file"), "x", 1, 0), -ECANCELED);
    CHECK_EQ(weft_file_copy(AT("file"), AT("x"), 0), -ECANCELED);
    CHECK_EQ(weft_folder_make(AT("x"), 0), -ECANCELED);
    CHECK_EQ(weft_folder_make_all(AT("x/y"), 0), -ECANCELED);
    CHECK_EQ(weft_folder_remove(AT("x")), -ECANCELED);
    CHECK_EQ(weft_folder_remove_all(scratch), -ECANCELED);
    CHECK_EQ(weft_folder_open(&later, scratch), -ECANCELED);
    CHECK_EQ(weft_folder_next(folder, &entry), -ECANCELED);
    weft_shield();
    CHECK_EQ(weft_file_stat(AT("file"), &info), 0);
    CHECK_EQ(weft_folder_next(folder, &entry), 1);
    weft_unshield();
    CHECK_EQ(weft_close(open), 0);
    CHECK_EQ(weft_scope_close(scope), -ECANCELED);
    weft_folder_close(folder);
    CHECK(file_reads("file", "text"));
    CHECK_EQ(count_in(""), 1);
}

TEST(a_cancelled_fiber_changes_nothing_unless_it_is_shielded) {
    run_in_scratch(refused);
}

/* A limit for files, inside a piece: the kernel writes a part and refuses the rest. */
static void limited_child(void *arg) {
    struct rlimit limit = {1000, 1000};
    char bytes[1500] = {0};
    size_t done = 0;
    (void)arg;
    weft_fd fd = open_file("cut", WEFT_OPEN_WRITE | WEFT_OPEN_NEW);
    signal(SIGXFSZ, SIG_IGN);
    CHECK_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
    CHECK_EQ(weft_pwrite(fd, bytes, sizeof bytes, 0), 1000);
    CHECK_EQ(weft_pwrite_all(fd, bytes, sizeof bytes, 0, &done), -EFBIG);
    CHECK_EQ(done, 1000);
    CHECK_EQ(weft_file_write_whole(AT("kept"), bytes, sizeof bytes, 0), -EFBIG);
    CHECK_EQ(weft_file_copy(AT("big"), AT("copy"), 0), -EFBIG);
    CHECK(file_reads("kept", "text") && !exists("copy"));
    CHECK_EQ(weft_close(fd), 0);
}

TEST(a_write_that_is_cut_short_goes_on_and_tells_how_far_it_came) {
    scratch_begin();
    put_file("kept", "text");
    put_file("big", "");
    CHECK_EQ(truncate(AT("big"), 2000), 0);
    struct child_end end = child_run(limited_child, NULL);
    CHECK_CHILD_WELL(&end);
    CHECK_EQ(count_in(""), 3);
    scratch_end();
}

/* ---- FIFOs ---- */

static void *read_fifo(void *arg) {
    char byte = 0;
    weft_fd *fd = arg;
    CHECK_EQ(weft_read(*fd, &byte, 1, weft_after(PATIENCE_NS)), 1);
    CHECK_EQ(byte, 'x');
    CHECK_EQ(weft_read(*fd, &byte, 1, weft_after(PATIENCE_NS)), 0); /* the writer has gone */
    return NULL;
}

static void fifos(void) {
    weft_fd reader, writer;
    char byte;
    CHECK_EQ(mkfifo(AT("fifo"), 0600), 0);
    CHECK_EQ(weft_file_open(&writer, AT("fifo"), WEFT_OPEN_WRITE, 0), -ENXIO);
    reader = open_file("fifo", WEFT_OPEN_READ);
    CHECK_EQ(weft_wait_readable(reader, WEFT_NOW), -ETIMEDOUT);
    CHECK_EQ(weft_read(reader, &byte, 1, WEFT_NOW), -ETIMEDOUT);
    weft_fiber fiber = spawn_parked(read_fifo, &reader);
    writer = open_file("fifo", WEFT_OPEN_WRITE);
    CHECK_EQ(weft_write_all(writer, "x", 1, WEFT_NEVER), 0);
    CHECK_EQ(weft_close(writer), 0);
    JOIN(fiber, NULL);
    CHECK_EQ(weft_close(reader), 0);
}

TEST(a_fifo_opens_at_once_and_its_reader_waits_in_the_poller) {
    run_in_scratch(fifos);
}

/* ---- Many ---- */

enum { FILES = 10 };
static atomic_long bytes_read;
static atomic_int ticks;

static void *read_all_files(void *arg) {
    char name[2] = {0};
    for (int i = 0; i < FILES; i++) {
        char *text;
        size_t size;
        name[0] = (char)('0' + i);
        CHECK_EQ(weft_file_read_whole(AT(name), (void **)&text, &size, 100), 0);
        CHECK_EQ(text[0], name[0]);
        atomic_fetch_add(&bytes_read, (long)size);
        weft_file_free(text);
    }
    return arg;
}

static void *count_tick(void *arg) {
    atomic_fetch_add(&ticks, 1);
    return arg;
}

static void many_readers(void) {
    long count = scaled(1000, 50);
    weft_timer timer;
    char text[2] = {0};
    atomic_store(&bytes_read, 0);
    atomic_store(&ticks, 0);
    for (int i = 0; i < FILES; i++) {
        text[0] = (char)('0' + i);
        put_file(text, text);
    }
    CHECK_EQ(weft_timer_start(&timer, WEFT_NOW, WEFT_MILLISECOND, count_tick, NULL), 0);
    weft_fiber *fibers = calloc((size_t)count, sizeof *fibers);
    CHECK(fibers != NULL);
    for (long i = 0; i < count; i++)
        SPAWN(&fibers[i], read_all_files, NULL);
    for (long i = 0; i < count; i++)
        JOIN(fibers[i], NULL);
    CHECK_EQ(atomic_load(&bytes_read), count * FILES);
    WAIT_UNTIL(atomic_load(&ticks) >= 3);
    CHECK_GE(weft_timer_stop(timer), 0);
    free(fibers);
}

TEST(a_thousand_fibers_read_ten_files_each_while_timers_go_on) {
    run_in_scratch(many_readers);
}
