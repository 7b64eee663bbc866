/* SPDX-License-Identifier: MIT
 *
 * js/file_test.c - files of JavaScript inside a C program: nothing stays open, whatever a script leaves behind.
 */
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/js.h"

static char folder[] = "/tmp/weft-js-file-XXXXXX";

static int open_descriptors(void) {
    int count = 0;
    DIR *list = opendir("/proc/self/fd");
    CHECK(list);
    while (readdir(list))
        count++;
    closedir(list);
    return count;
}

/* A folder with a FIFO and a file, which is the current one meanwhile. */
static void in_folder(void (*body)(void)) {
    char before[4096], path[128];
    CHECK(getcwd(before, sizeof before));
    memcpy(folder + strlen(folder) - 6, "XXXXXX", 6);
    CHECK(mkdtemp(folder));
    CHECK_EQ(chdir(folder), 0);
    CHECK_EQ(mkfifo("pipe", 0600), 0);
    FILE *file = fopen("file", "w");
    CHECK(file && fputs("some bytes", file) >= 0 && fclose(file) == 0);
    int opened = open_descriptors();
    body();
    CHECK_EQ(open_descriptors(), opened);
    CHECK_EQ(chdir(before), 0);
    snprintf(path, sizeof path, "%s/pipe", folder);
    CHECK_EQ(unlink(path), 0);
    snprintf(path, sizeof path, "%s/file", folder);
    CHECK_EQ(unlink(path), 0);
    CHECK_EQ(rmdir(folder), 0);
}

/* The first descriptor of weft opens some of its own, which stay. */
static void warm_up(void) {
    int ends[2];
    weft_fd fd;
    char byte;
    CHECK_EQ(pipe(ends), 0);
    CHECK_EQ(weft_adopt(&fd, ends[0], 0), 0);
    CHECK_EQ(weft_read(fd, &byte, 1, weft_after(1)), -ETIMEDOUT);
    CHECK_EQ(weft_close(fd), 0);
    close(ends[1]);
}

/* Watches of weft:fs are few: each is one of the 128 that all processes of a user have. */
static void waits(void) {
    open_instance(NULL);
    CHECK_EQ(
        eval("const fs = require('node:fs'), files = require('weft:fs'), { go } = require('weft:go');"
             "const never = () => say('never');"
             "for (let i = 0; i < 20; i++) {"
             "  files.readText('pipe').then(never, never); go(() => files.readFile('pipe')).then(never, never);"
             "  fs.readFile('pipe', never); fs.promises.readFile('pipe').then(never, never);"
             "  fs.watch('.', never); fs.openSync('file');"
             "}"
             "for (let i = 0; i < 4; i++) {"
             "  files.watch('.').next().then(never, never); go(() => files.watch('file').next()).then(never, never);"
             "}"
             "fs.createReadStream('pipe').on('data', never); fs.createReadStream('file').on('open', () => {});"
             "fs.promises.open('pipe', 'r+').then((handle) => { globalThis.kept = handle; handle.read(); });"
             "setTimeout(() => process.exit(6), 5)"),
        6);
    close_instance();
    CHECK_TEXT(said, "");
}

static void waits_in_folder(void) {
    warm_up();
    in_folder(waits);
}
TEST(nothing_is_left_of_files_that_are_waited_for) {
    run_large(waits_in_folder);
}

static void numbers(void) {
    open_instance(NULL);
    CHECK_EQ(eval("const fs = require('node:fs'); const all = [];"
                  "for (let i = 0; i < 100; i++) all.push(fs.openSync('file'));"
                  "fs.closeSync(all[3]); say(new Set(all).size, fs.openSync('file') === all[3]);"
                  "fs.promises.open('file').then((handle) => say(fs.fstatSync(handle.fd).size, handle.fd > 2))"),
             0);
    CHECK_TEXT(said, "[100,true][10,true]");
    close_instance();
}

static void numbers_in_folder(void) {
    warm_up();
    in_folder(numbers);
}
TEST(numbers_are_closed_with_their_instance) {
    run_large(numbers_in_folder);
}

static void collected(void) {
    int before = open_descriptors();
    open_instance(NULL);
    CHECK_EQ(eval("const files = require('weft:fs'), { go } = require('weft:go'), { collect } = require('weft:trace');"
                  "go(() => { for (let i = 0; i < 200; i++) files.open('file'); collect(); }).then(() => say('open'))"),
             0);
    CHECK_TEXT(said, "[\"open\"]");
    CHECK(open_descriptors() < before + 20);
    close_instance();
}

static void collected_in_folder(void) {
    warm_up();
    in_folder(collected);
}
TEST(files_that_nobody_has_are_closed) {
    run_large(collected_in_folder);
}

/* A buffer that is taken away while it is filled, and one that is too large for the memory there is. */
static void buffers(void) {
    open_instance(&(weft_js_options){.max_memory = 24 << 20});
    CHECK_EQ(eval("const fs = require('node:fs'); const fd = fs.openSync('file', 'r+');"
                  "const gone = new Uint8Array(10); fs.read(fd, gone, 0, 10, 0, (error) => { say(error.name);"
                  "const given = new Uint8Array(4).fill(65); fs.write(fd, given, 0, 4, 0, (error, count) => {"
                  "  say(count, fs.readFileSync('file', 'utf8'));"
                  "  fs.truncateSync('file', 20 << 20);"
                  "  fs.readFile('file', 'latin1', (failure) => say(failure?.message)); });"
                  "given.buffer.transfer(); });"
                  "gone.buffer.transfer();"),
             0);
    CHECK_TEXT(said, "[\"TypeError\"][4,\"AAAA bytes\"][\"out of memory\"]");
    close_instance();
}

static void buffers_in_folder(void) {
    warm_up();
    in_folder(buffers);
}
TEST(buffers_may_go_away_and_memory_may_end) {
    run_large(buffers_in_folder);
}
