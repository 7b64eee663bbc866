/* SPDX-License-Identifier: MIT
 *
 * spec/whole_test.c - files as a whole: read up to a limit, replaced in one step, copied.
 */
#include "support/scratch.h"

static const char odd_name[] = "\x01\n\xff\xfe *?'\"\\\x7f-";
static char long_name[300]; /* one too long for an entry */

__attribute__((constructor)) static void make_long_name(void) {
    memset(long_name, 'n', sizeof long_name - 1);
}

static void read_whole(void) {
    char *text = NULL;
    size_t size = 99;
    put_file("file", "12345");
    put_file("empty", "");
    CHECK_EQ(weft_file_read_whole(AT("file"), (void **)&text, &size, 5), 0);
    CHECK_EQ(size, 5);
    CHECK_TEXT(text, "12345");
    weft_file_free(text);
    CHECK_EQ(weft_file_read_whole(AT("empty"), (void **)&text, &size, 1), 0);
    CHECK_EQ(size, 0);
    CHECK_TEXT(text, "");
    weft_file_free(text);
    text = NULL;
    CHECK_EQ(weft_file_read_whole(AT("file"), (void **)&text, &size, 4), -EFBIG);
    CHECK_EQ(weft_file_read_whole("/proc/self/status", (void **)&text, &size, 8), -EFBIG);
    CHECK_EQ(weft_file_read_whole(AT(""), (void **)&text, &size, 0), -EISDIR);
    CHECK_EQ(weft_file_read_whole("/dev/zero", (void **)&text, &size, 0), -EINVAL);
    CHECK_EQ(mkfifo(AT("fifo"), 0600), 0);
    CHECK_EQ(weft_file_read_whole(AT("fifo"), (void **)&text, &size, 0), -EINVAL);
    CHECK_EQ(weft_file_read_whole(AT("not"), (void **)&text, &size, 0), -ENOENT);
    CHECK_EQ(weft_file_read_whole(NULL, (void **)&text, &size, 0), -EINVAL);
    CHECK_EQ(weft_file_read_whole(AT("file"), NULL, &size, 0), -EINVAL);
    CHECK_EQ(weft_file_read_whole(AT("file"), (void **)&text, NULL, 0), -EINVAL);
    CHECK(text == NULL && size == 0);
    CHECK_EQ(weft_file_read_whole("/proc/self/status", (void **)&text, &size, 0), 0);
    CHECK(size > 0 && strlen(text) == size && strstr(text, "Pid:"));
    weft_file_free(text);
    weft_file_free(NULL);
}

TEST(a_whole_file_is_read_up_to_a_limit_also_without_a_known_size) {
    run_in_scratch(read_whole);
}

static atomic_int writing;

/* Many pieces long, all of one letter. */
static void *replace_often(void *arg) {
    char *bytes = malloc(BIG_FILE);
    CHECK(bytes != NULL);
    for (long i = 0; i < scaled(10, 4); i++) {
        memset(bytes, 'a' + (int)(i % 26), BIG_FILE);
        CHECK_EQ(weft_file_write_whole(AT("file"), bytes, i % 2 ? BIG_FILE : BIG_FILE / 2, 0), 0);
    }
    free(bytes);
    atomic_store(&writing, 0);
    return arg;
}

static void replaced(void) {
    weft_fiber writer;
    atomic_store(&writing, 1);
    CHECK_EQ(weft_file_write_whole(AT("file"), "a", 1, 0604), 0);
    SPAWN(&writer, replace_often, NULL);
    do {
        char *bytes;
        size_t size;
        CHECK_EQ(weft_file_read_whole(AT("file"), (void **)&bytes, &size, 0), 0);
        CHECK(size == 1 || size == BIG_FILE || size == BIG_FILE / 2);
        for (size_t i = 1; i < size; i += 4096)
            CHECK_EQ(bytes[i], bytes[0]);
        CHECK_EQ(bytes[size - 1], bytes[0]);
        weft_file_free(bytes);
        weft_yield();
    } while (atomic_load(&writing));
    JOIN(writer, NULL);
    weft_file_info info;
    CHECK_EQ(weft_file_stat(AT("file"), &info), 0);
    CHECK_EQ(info.mode, 0604);
    CHECK_EQ(count_in(""), 1);
}

TEST(a_file_that_is_replaced_is_never_seen_in_part) {
    run_in_scratch(replaced);
}

static void replaced_things(void) {
    put_file("file", "old");
    CHECK_EQ(weft_file_symlink("file", AT("link")), 0);
    CHECK_EQ(weft_file_write_whole(AT("link"), "new", 3, 0), 0);
    CHECK(file_reads("link", "new") && file_reads("file", "old"));
    CHECK_EQ(weft_file_write_whole(AT(odd_name), "", 0, 0), 0);
    CHECK(file_reads(odd_name, ""));
    CHECK_EQ(weft_file_write_whole(AT(""), "x", 1, 0), -EISDIR);
    CHECK_EQ(weft_file_write_whole(scratch, "x", 1, 0), -EISDIR);
    CHECK_EQ(weft_file_write_whole(AT(".."), "x", 1, 0), -EISDIR);
    CHECK_EQ(weft_file_write_whole("", "x", 1, 0), -ENOENT);
    CHECK_EQ(weft_file_write_whole(AT("not/file"), "x", 1, 0), -ENOENT);
    CHECK_EQ(weft_file_write_whole(AT("file/file"), "x", 1, 0), -ENOTDIR);
    CHECK_EQ(weft_file_write_whole(AT(long_name), "x", 1, 0), -ENAMETOOLONG);
    CHECK_EQ(weft_file_write_whole(NULL, "x", 1, 0), -EINVAL);
    CHECK_EQ(weft_file_write_whole(AT("file"), NULL, 1, 0), -EINVAL);
    CHECK_EQ(weft_file_write_whole(AT("file"), "x", 1, 010000), -EINVAL);
    CHECK_EQ(count_in(""), 3);
}

TEST(what_cannot_be_replaced_stays_and_nothing_is_left_beside_it) {
    run_in_scratch(replaced_things);
}

static void copied(void) {
    char *bytes = big_bytes(), *found;
    size_t size;
    CHECK_EQ(weft_file_write_whole(AT("from"), bytes, BIG_FILE, 0705), 0);
    put_file("to", "old and shorter");
    CHECK_EQ(weft_file_copy(AT("from"), AT("to"), WEFT_COPY_NEW), -EEXIST);
    CHECK(file_reads("to", "old and shorter"));
    CHECK_EQ(weft_file_copy(AT("from"), AT("to"), 0), 0);
    CHECK_EQ(weft_file_copy(AT("from"), AT("new"), WEFT_COPY_NEW), 0);
    for (int i = 0; i < 2; i++) {
        weft_file_info info;
        CHECK_EQ(weft_file_stat(AT(i ? "new" : "to"), &info), 0);
        CHECK_EQ(info.mode, 0705);
        CHECK_EQ(weft_file_read_whole(AT(i ? "new" : "to"), (void **)&found, &size, 0), 0);
        CHECK_EQ(size, BIG_FILE);
        CHECK_EQ(memcmp(found, bytes, BIG_FILE), 0);
        weft_file_free(found);
    }
    CHECK_EQ(weft_file_copy("/proc/self/status", AT("status"), 0), 0);
    CHECK_EQ(weft_file_read_whole(AT("status"), (void **)&found, &size, 0), 0);
    CHECK(strstr(found, "Pid:") != NULL);
    weft_file_free(found);
    free(bytes);
}

TEST(a_copy_has_the_bytes_and_the_permissions) {
    run_in_scratch(copied);
}

static void not_copied(void) {
    put_file("file", "text");
    CHECK_EQ(weft_file_symlink("file", AT("link")), 0);
    CHECK_EQ(weft_file_link(AT("file"), AT("also")), 0);
    CHECK_EQ(mkfifo(AT("fifo"), 0600), 0);
    CHECK_EQ(weft_file_copy(AT("file"), AT("file"), 0), -EINVAL);
    CHECK_EQ(weft_file_copy(AT("file"), AT("link"), 0), -EINVAL);
    CHECK_EQ(weft_file_copy(AT("also"), AT("file"), 0), -EINVAL);
    CHECK(file_reads("file", "text"));
    CHECK_EQ(weft_file_copy(AT("fifo"), AT("new"), 0), -EINVAL);
    CHECK_EQ(weft_file_copy(AT("file"), AT("fifo"), 0), -ENXIO);
    CHECK_EQ(weft_file_copy(AT("file"), "/dev/null", 0), -EINVAL);
    CHECK_EQ(weft_file_copy(AT(""), AT("new"), 0), -EISDIR);
    CHECK_EQ(weft_file_copy(AT("file"), scratch, 0), -EISDIR);
    CHECK_EQ(weft_file_copy(AT("not"), AT("new"), 0), -ENOENT);
    CHECK_EQ(weft_file_copy(AT("file"), AT("new"), 2), -EINVAL);
    CHECK_EQ(weft_file_copy(NULL, AT("new"), 0), -EINVAL);
    CHECK_EQ(weft_file_copy(AT("file"), NULL, 0), -EINVAL);
    CHECK(!exists("new"));
}

TEST(a_file_is_not_copied_over_itself_nor_anything_but_a_file) {
    run_in_scratch(not_copied);
}
