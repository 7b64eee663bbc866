/* SPDX-License-Identifier: MIT
 *
 * examples/files.c - a folder of letters is counted by one fiber each, while a watch tells of the answer.
 *
 * The letters are written so that a reader never finds half of one, every fiber reads its own, and the sum goes into a file that
 * another fiber has been waiting for. Everything is in a temporary folder and is gone at the end.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <weft.h>
#include <weft/file.h>

enum { LETTERS = 100, PATH = 512 };

static char place[] = "/tmp/weft-files-XXXXXX";

static void must(int error, const char *what) {
    if (error < 0)
        weft_fatal("%s: error %d", what, error);
}

static int count_words(void *item, void *arg) {
    int *words = item;
    char path[PATH], *text;
    size_t size;
    snprintf(path, sizeof path, "%s/letters/%d", place, (int)(words - (int *)arg));
    must(weft_file_read_whole(path, (void **)&text, &size, 4096), "cannot read a letter");
    *words = 0;
    for (char *rest = text; strsep(&rest, " ");)
        ++*words;
    weft_file_free(text);
    return 0;
}

/* Waits for the file, and returns what is in it. */
static void *wait_for_sum(void *arg) {
    weft_watch *watch = arg;
    weft_watch_event event;
    char path[PATH], *text;
    size_t size;
    must(weft_watch_next(*watch, &event, WEFT_NEVER), "cannot watch");
    snprintf(path, sizeof path, "%s/%s", place, event.name);
    must(weft_file_read_whole(path, (void **)&text, &size, 100), "cannot read the sum");
    long sum = strtol(text, NULL, 10);
    weft_file_free(text);
    return (void *)sum;
}

static int app(void *arg) {
    static int words[LETTERS];
    char path[PATH], line[32];
    weft_watch watch;
    weft_fiber reader;
    void *found;
    (void)arg;
    snprintf(path, sizeof path, "%s/letters", place);
    must(weft_folder_make_all(path, 0700), "cannot make a folder");
    must(weft_watch_open(&watch), "cannot watch");
    must(weft_watch_add(watch, place, WEFT_WATCH_CAME), "cannot watch the folder");
    must(weft_spawn(&reader, wait_for_sum, &watch), "cannot spawn");
    for (int i = 0; i < LETTERS; i++) {
        snprintf(path, sizeof path, "%s/letters/%d", place, i);
        must(weft_file_write_whole(path, "three words each", 16, 0), "cannot write a letter");
    }

    must(weft_map(count_words, words, sizeof *words, LETTERS, words, 0, WEFT_NEVER), "cannot count");
    int sum = 0;
    for (int i = 0; i < LETTERS; i++)
        sum += words[i];
    snprintf(line, sizeof line, "%d\n", sum);
    snprintf(path, sizeof path, "%s/sum", place);
    must(weft_file_write_whole(path, line, strlen(line), 0), "cannot write the sum");

    must(weft_join(reader, &found, WEFT_NEVER), "cannot join");
    printf("%d letters of three words each: %ld words\n", LETTERS, (long)found);
    must(weft_watch_close(watch), "cannot close");
    must(weft_folder_remove_all(place), "cannot clean up");
    return (long)found == 3 * LETTERS ? 0 : 1;
}

int main(void) {
    if (!mkdtemp(place))
        return 1;
    return weft_run(NULL, app, NULL);
}
