/* SPDX-License-Identifier: MIT
 *
 * spec/folder_test.c - the laws of folders: every entry told once, trees made and removed whole, links never followed.
 */
#include "support/parked.h"
#include "support/scratch.h"

enum { MANY = 300, DEEP = 100, CONTENDERS = 8, LENGTH = 200 };

static void *read_entries(void *arg) {
    unsigned char seen[MANY] = {0};
    weft_folder *folder;
    weft_folder_entry entry;
    int count = 0, result;
    CHECK_EQ(weft_folder_open(&folder, AT("many")), 0);
    while ((result = weft_folder_next(folder, &entry)) == 1) {
        int number = atoi(entry.name);
        CHECK_EQ(strlen(entry.name), LENGTH);
        CHECK(number >= 0 && number < MANY);
        CHECK_EQ(seen[number]++, 0);
        CHECK_EQ(entry.kind, WEFT_FILE_LINK);
        CHECK(entry.number != 0);
        count++;
    }
    CHECK_EQ(result, 0);
    CHECK_EQ(weft_folder_next(folder, &entry), 0);
    CHECK_EQ(count, MANY);
    weft_folder_close(folder);
    return arg;
}

/* More than one system call tells. */
static void every_entry(void) {
    char name[LENGTH + 8];
    CHECK_EQ(weft_folder_make(AT("many"), 0), 0);
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "many/%0*d", LENGTH, i);
        CHECK_EQ(symlink("nowhere", AT(name)), 0);
    }
    read_entries(NULL);
    on_thread(read_entries, NULL);
    CHECK_EQ(weft_folder_remove(AT("many")), -ENOTEMPTY);
}

TEST(every_entry_is_told_once) {
    run_in_scratch(every_entry);
}

static void kinds(void) {
    weft_folder *folder;
    weft_folder_entry entry;
    put_file("plain", "");
    CHECK_EQ(weft_folder_make(AT("folder"), 0700), 0);
    CHECK_EQ(weft_file_symlink("folder", AT("link")), 0);
    CHECK_EQ(mkfifo(AT("fifo"), 0600), 0);
    CHECK_EQ(weft_folder_open(&folder, scratch), 0);
    for (int i = 0; i < 4; i++) {
        CHECK_EQ(weft_folder_next(folder, &entry), 1);
        int kind = entry.name[0] == 'p'   ? WEFT_FILE_PLAIN
                   : entry.name[0] == 'l' ? WEFT_FILE_LINK
                   : entry.name[1] == 'o' ? WEFT_FILE_FOLDER
                                          : WEFT_FILE_FIFO;
        CHECK_EQ(entry.kind, kind);
    }
    CHECK_EQ(weft_folder_next(folder, &entry), 0);
    CHECK_EQ(weft_folder_next(NULL, &entry), -EINVAL);
    CHECK_EQ(weft_folder_next(folder, NULL), -EINVAL);
    weft_folder_close(folder);
    weft_folder_close(NULL);
    CHECK_EQ(weft_folder_open(&folder, AT("plain")), -ENOTDIR);
    CHECK_EQ(weft_folder_open(&folder, AT("not")), -ENOENT);
    CHECK_EQ(weft_folder_open(NULL, scratch), -EINVAL);
    CHECK_EQ(weft_folder_open(&folder, NULL), -EINVAL);
}

TEST(entries_have_the_kind_of_what_they_are) {
    run_in_scratch(kinds);
}

static void removed_meanwhile(void) {
    weft_folder *folder;
    weft_folder_entry entry;
    CHECK_EQ(weft_folder_make(AT("folder"), 0), 0);
    CHECK_EQ(weft_folder_open(&folder, AT("folder")), 0);
    CHECK_EQ(weft_folder_remove(AT("folder")), 0);
    CHECK_EQ(weft_folder_next(folder, &entry), 0);
    weft_folder_close(folder);
}

TEST(a_folder_that_is_removed_has_no_entries) {
    run_in_scratch(removed_meanwhile);
}

static void made(void) {
    weft_file_info info;
    put_file("file", "");
    CHECK_EQ(weft_folder_make(AT("a/b"), 0), -ENOENT);
    CHECK_EQ(weft_folder_make_all(AT("a//b/c/"), 0), 0);
    CHECK_EQ(weft_folder_make_all(AT("a/b/c"), 0), 0);
    CHECK_EQ(weft_folder_make(AT("a"), 0), -EEXIST);
    CHECK_EQ(weft_folder_make_all(AT("a/d"), 0701), 0);
    CHECK_EQ(weft_file_stat(AT("a/d"), &info), 0);
    CHECK_EQ(info.kind, WEFT_FILE_FOLDER);
    CHECK_EQ(info.mode, 0701);
    CHECK_EQ(weft_folder_make_all(AT("file"), 0), -EEXIST);
    CHECK_EQ(weft_folder_make_all(AT("file/x"), 0), -ENOTDIR);
    CHECK_EQ(weft_folder_make_all(AT("file/x/y"), 0), -ENOTDIR);
    CHECK_EQ(weft_folder_make_all("/", 0), 0);
    CHECK_EQ(weft_folder_make_all(".", 0), 0);
    CHECK_EQ(weft_folder_make_all("", 0), -ENOENT);
    CHECK_EQ(weft_folder_make_all(NULL, 0), -EINVAL);
    CHECK_EQ(weft_folder_make(NULL, 0), -EINVAL);
    CHECK_EQ(weft_file_symlink("a", AT("link")), 0);
    CHECK_EQ(weft_folder_make_all(AT("link/e/f"), 0), 0);
    CHECK(exists("a/e/f"));
    CHECK_EQ(weft_folder_remove(AT("a/b/c")), 0);
    CHECK_EQ(weft_folder_remove(AT("a/b/c")), -ENOENT);
    CHECK_EQ(weft_folder_remove(AT("file")), -ENOTDIR);
    CHECK_EQ(weft_folder_remove(NULL), -EINVAL);
    CHECK_EQ(weft_folder_remove_all(NULL), -EINVAL);
}

TEST(folders_are_made_with_those_above_them) {
    run_in_scratch(made);
}

static void *make_same(void *arg) {
    CHECK_EQ(weft_folder_make_all(AT("a/b/c/d/e/f/g"), 0), 0);
    return arg;
}

static void *remove_same(void *arg) {
    CHECK_EQ(weft_folder_remove_all(AT("a")), 0);
    return arg;
}

/* All of them at the same time. */
static void contend(weft_fn fn) {
    weft_fiber fibers[CONTENDERS];
    for (int i = 0; i < CONTENDERS; i++)
        SPAWN(&fibers[i], fn, NULL);
    for (int i = 0; i < CONTENDERS; i++)
        JOIN(fibers[i], NULL);
}

static void contended(void) {
    for (long i = 0; i < scaled(50, 5); i++) {
        contend(make_same);
        CHECK(exists("a/b/c/d/e/f/g"));
        put_file("a/b/x", "");
        put_file("a/b/c/d/e/y", "");
        contend(remove_same);
        CHECK(!exists("a"));
    }
}

TEST(many_make_and_remove_one_tree_and_all_of_them_can) {
    run_in_scratch(contended);
}

/* ---- Removing trees ---- */

static void tree_with_links(void) {
    CHECK_EQ(weft_folder_make_all(AT("outside/inner"), 0), 0);
    put_file("outside/inner/file", "kept");
    CHECK_EQ(weft_folder_make_all(AT("tree/a/b"), 0), 0);
    put_file("tree/\xff\n", "");
    CHECK_EQ(mkfifo(AT("tree/a/fifo"), 0600), 0);
    CHECK_EQ(weft_file_symlink("../../outside", AT("tree/a/out")), 0);
    CHECK_EQ(weft_file_symlink("..", AT("tree/a/b/loop")), 0);
    CHECK_EQ(weft_file_symlink("loop", AT("tree/loop")), 0);
    CHECK_EQ(weft_file_symlink("nowhere", AT("tree/dangling")), 0);
    CHECK_EQ(weft_file_link(AT("outside/inner/file"), AT("tree/hard")), 0);
    CHECK_EQ(weft_file_symlink("tree", AT("link")), 0);

    CHECK_EQ(weft_folder_remove_all(AT("link/")), -ENOTDIR);
    CHECK_EQ(weft_folder_remove_all(AT("link")), 0);
    CHECK(!exists("link") && exists("tree/a/b"));
    CHECK_EQ(weft_folder_remove_all(AT("tree/.")), -EINVAL);
    CHECK_EQ(weft_folder_remove_all(AT("tree/a/..")), -EINVAL);
    CHECK_EQ(weft_folder_remove_all(AT("tree/a/..//")), -EINVAL);
    CHECK_EQ(weft_folder_remove_all("."), -EINVAL);
    CHECK_EQ(weft_folder_remove_all(""), -ENOENT);
    CHECK(exists("tree/a/b"));
    CHECK_EQ(weft_folder_remove_all(AT("tree//")), 0);
    CHECK(!exists("tree"));
    CHECK(file_reads("outside/inner/file", "kept"));
    CHECK_EQ(weft_folder_remove_all(AT("tree")), 0);
    CHECK_EQ(weft_folder_remove_all(AT("not/at/all")), 0);
    CHECK_EQ(weft_folder_remove_all(AT("outside/inner/file/x")), -ENOTDIR);
    CHECK_EQ(weft_folder_remove_all(AT("outside/inner/file")), 0);
    CHECK(!exists("outside/inner/file"));
}

TEST(a_tree_is_removed_and_what_its_links_lead_to_stays) {
    run_in_scratch(tree_with_links);
}

/* Deeper than descriptors are kept open for, and than a path can say. */
static void deep_tree(void) {
    int here = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    char name[101] = {0};
    CHECK_GE(here, 0);
    memset(name, 'd', sizeof name - 1);
    CHECK_EQ(chdir(scratch), 0);
    CHECK_EQ(mkdir("top", 0700), 0);
    CHECK_EQ(chdir("top"), 0);
    for (int i = 0; i < DEEP; i++) {
        CHECK_EQ(mkdir(name, 0700), 0);
        CHECK_EQ(mkdir("wide", 0700), 0);
        close(open("wide/file", O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
        CHECK_EQ(chdir(name), 0);
    }
    CHECK_EQ(fchdir(here), 0);
    close(here);
    CHECK_EQ(weft_folder_remove_all(AT("top")), 0);
    CHECK(!exists("top"));
}

TEST(a_tree_of_any_depth_is_removed) {
    run_in_scratch(deep_tree);
}

static void wide_tree(void) {
    char name[64];
    for (int i = 0; i < 100; i++) {
        snprintf(name, sizeof name, "tree/%d/x", i);
        CHECK_EQ(weft_folder_make_all(AT(name), 0), 0);
        snprintf(name, sizeof name, "tree/%d/x/file", i);
        put_file(name, "");
    }
    CHECK_EQ(weft_folder_remove_all(AT("tree")), 0);
    CHECK(!exists("tree"));
}

TEST(a_wide_tree_is_removed) {
    run_in_scratch(wide_tree);
}

/* Somebody swaps a folder for a link out of the tree, over and over. What is outside is never touched. */
static atomic_int swapping;

static void *swap_links(void *arg) {
    while (atomic_load(&swapping)) {
        mkdir(AT("tree/a"), 0700);
        mkdir(AT("tree/a/b"), 0700);
        symlink("../outside", AT("link"));
        rename(AT("tree/a"), AT("aside"));
        rename(AT("link"), AT("tree/a"));
        unlink(AT("tree/a"));
        rename(AT("aside"), AT("tree/a"));
    }
    return arg;
}

static void swapped(void) {
    struct on_thread_call call;
    mkdir(AT("outside"), 0700);
    put_file("outside/file", "kept");
    atomic_store(&swapping, 1);
    on_thread_start(&call, swap_links, NULL);
    for (long i = 0; i < scaled(200, 20); i++) {
        mkdir(AT("tree"), 0700);
        weft_folder_remove_all(AT("tree"));
        CHECK(exists("outside/file"));
    }
    atomic_store(&swapping, 0);
    on_thread_finish(&call);
    CHECK(file_reads("outside/file", "kept"));
}

TEST(a_removal_is_not_led_out_of_its_tree) {
    run_in_scratch(swapped);
}
