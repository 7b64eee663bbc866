/* SPDX-License-Identifier: MIT
 *
 * support/scratch.h - a folder for one test, gone when it ends.
 *
 *     TEST(a_file_can_be_opened) { run_in_scratch(body); }         // runs body as a fiber, with the folder there
 *     ... weft_file_remove(AT("name")) ...
 *
 * It is in memory where it can be, since some disks take milliseconds for a name. AT is the path of a name in it,
 * good until the end of the block. Public headers only.
 */
#ifndef WF_SUPPORT_SCRATCH_H
#define WF_SUPPORT_SCRATCH_H

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/run.h"
#include "weft/file.h"

enum { SCRATCH_PATH = 1024, BIG_FILE = (5 << 20) / 2 + 3 /* three pieces, the last not a whole one */ };

static char scratch[256];

static inline char *scratch_path(char *path, const char *name) {
    CHECK(snprintf(path, SCRATCH_PATH, "%s/%s", scratch, name) < SCRATCH_PATH);
    return path;
}

#define AT(name) scratch_path((char[SCRATCH_PATH]){0}, (name))

static inline void scratch_begin(void) {
    const char *place = getenv("TMPDIR");
    if (!place)
        place = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    snprintf(scratch, sizeof scratch, "%s/weft-test-XXXXXX", place);
    CHECK(mkdtemp(scratch) != NULL);
}

static inline void scratch_end(void) {
    CHECK_EQ(weft_folder_remove_all(scratch), 0);
    CHECK_EQ(access(scratch, F_OK), -1);
}

static inline void run_in_scratch(void (*body)(void)) {
    scratch_begin();
    run_fibers(body);
    scratch_end();
}

/* A file with that text, by the C library. */
static inline void put_file(const char *name, const char *text) {
    FILE *file = fopen(AT(name), "w");
    CHECK(file != NULL);
    fputs(text, file);
    CHECK_EQ(fclose(file), 0);
}

/* Whether it has that text. */
static inline bool file_reads(const char *name, const char *text) {
    char found[4096];
    FILE *file = fopen(AT(name), "r");
    if (!file)
        return false;
    size_t size = fread(found, 1, sizeof found, file);
    fclose(file);
    return size == strlen(text) && memcmp(found, text, size) == 0;
}

/* BIG_FILE bytes that differ, to be freed. */
static inline char *big_bytes(void) {
    char *bytes = malloc(BIG_FILE);
    uint64_t seed = 7;
    CHECK(bytes != NULL);
    for (size_t i = 0; i < BIG_FILE; i++)
        bytes[i] = (char)random_next(&seed);
    return bytes;
}

static inline bool exists(const char *name) {
    struct stat about;
    return lstat(AT(name), &about) == 0;
}

/* How many entries the folder has: "" for the whole of it. */
static inline int count_in(const char *name) {
    weft_folder *folder;
    weft_folder_entry entry;
    int count = 0, result;
    CHECK_EQ(weft_folder_open(&folder, AT(name)), 0);
    while ((result = weft_folder_next(folder, &entry)) > 0)
        count++;
    CHECK_EQ(result, 0);
    weft_folder_close(folder);
    return count;
}

#endif
