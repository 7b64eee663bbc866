/* SPDX-License-Identifier: MIT
 *
 * cli/cache.c - finding, storing and forgetting compiled programs.
 *
 * What is found here is executed, so the directory must belong to the caller and be closed to everyone else's writing.
 * A program's modification time is set at each use; it is what pruning goes by. Pruning happens after a compilation,
 * where its cost is not felt, and touches only names that this file could have made.
 *
 * Rejected: one directory for each key, renamed as a whole. Replacing an existing one then takes two steps, and a second
 * process finds nothing in between.
 */
#include "cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file.h"
#include "sha256.h"

enum { KEPT_SECONDS = 30 * 24 * 60 * 60 };
#define WORKSPACE_PREFIX "new-"

static char *cache_program_path(const char *cache, const char *key, const char *name, const struct cli_words *inputs);
static bool cache_is_private(const char *directory);
static char *cache_list_path(const char *cache, const char *key);
static bool cache_has_changed(const struct cli_words *inputs, struct timespec since);
static bool cache_read_rule(const char *rule, struct cli_words *inputs);
static bool cache_made(const char *name);

char *cli_cache_open(const char **why) {
    const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    char *directory;
    if (base && base[0] == '/') {
        directory = cli_format("%s/weft", base);
    } else if (home && home[0] == '/') {
        directory = cli_format("%s/.cache/weft", home);
    } else {
        *why = "neither XDG_CACHE_HOME nor HOME is set";
        return NULL;
    }
    int error = cli_directory_make(directory, 0700);
    if (!error && access(directory, W_OK) != 0)
        error = -errno;
    if (error)
        *why = strerror(-error);
    else if (cache_is_private(directory))
        return directory;
    else
        *why = "the directory belongs to another user or others may write to it";
    free(directory);
    return NULL;
}

static bool cache_is_private(const char *directory) {
    struct stat status;
    return stat(directory, &status) == 0 && status.st_uid == geteuid() && !(status.st_mode & (S_IWGRP | S_IWOTH));
}

char *cli_cache_find(const char *cache, const char *key, const char *name) {
    char *list_path = cache_list_path(cache, key);
    struct cli_text list = {0};
    struct cli_words inputs = {0};
    char *program = NULL;
    if (cli_file_read(list_path, &list) == 0) {
        char *rest = list.bytes;
        for (char *line; (line = strsep(&rest, "\n"));)
            if (*line)
                cli_words_add(&inputs, "%s", line);
        program = cache_program_path(cache, key, name, &inputs);
        utimensat(AT_FDCWD, list_path, NULL, 0);
    }
    if (program && utimensat(AT_FDCWD, program, NULL, 0) != 0) { /* not there */
        free(program);
        program = NULL;
    }
    cli_words_term(&inputs);
    cli_text_term(&list);
    free(list_path);
    return program;
}

/* NULL when one of the inputs cannot be read. */
static char *cache_program_path(const char *cache, const char *key, const char *name, const struct cli_words *inputs) {
    struct cli_sha256 hash;
    cli_sha256_init(&hash);
    cli_sha256_add_string(&hash, key);
    for (size_t i = 0; i < inputs->count; i++) {
        struct cli_text contents = {0};
        int error = cli_file_read(inputs->list[i], &contents);
        cli_sha256_add_string(&hash, inputs->list[i]);
        cli_sha256_add(&hash, &contents.size, sizeof contents.size);
        cli_sha256_add(&hash, contents.bytes, contents.size);
        cli_text_term(&contents);
        if (error)
            return NULL;
    }
    char digest[CLI_SHA256_HEX];
    cli_sha256_finish(&hash, digest);
    return cli_format("%s/%s-%s", cache, name, digest);
}

static char *cache_list_path(const char *cache, const char *key) {
    return cli_format("%s/%s.inputs", cache, key);
}

char *cli_cache_workspace(const char *cache) {
    char *directory = cli_format("%s/" WORKSPACE_PREFIX "XXXXXX", cache);
    if (mkdtemp(directory))
        return directory;
    free(directory);
    return NULL;
}

char *cli_cache_store(const char *cache, const char *key, const char *name, const char *program, const char *rule_path,
                      struct timespec started) {
    struct cli_text rule = {0}, list = {0};
    struct cli_words inputs = {0};
    char *stored = NULL;
    char *list_path = cache_list_path(cache, key);
    char *fresh_list = cli_format("%s.inputs", program);
    if (cli_file_read(rule_path, &rule) != 0 || !cache_read_rule(rule.bytes, &inputs))
        goto free_all;
    for (size_t i = 0; i < inputs.count; i++)
        cli_text_add(&list, "%s\n", inputs.list[i]);
    if (cache_has_changed(&inputs, started) || cli_file_write_new(fresh_list, list.bytes, list.size, 0600) != 0)
        goto free_all;

    /* The program first. Should the list not follow, nobody will find the program, which only costs a compilation. */
    stored = cache_program_path(cache, key, name, &inputs);
    if (stored && rename(program, stored) != 0) {
        free(stored);
        stored = NULL;
    }
    if (stored)
        rename(fresh_list, list_path);
free_all:
    free(fresh_list);
    free(list_path);
    cli_words_term(&inputs);
    cli_text_term(&list);
    cli_text_term(&rule);
    return stored;
}

static bool cache_has_changed(const struct cli_words *inputs, struct timespec since) {
    for (size_t i = 0; i < inputs->count; i++) {
        struct stat status;
        if (stat(inputs->list[i], &status) != 0)
            return true;
        struct timespec changed = status.st_mtim;
        if (changed.tv_sec > since.tv_sec || (changed.tv_sec == since.tv_sec && changed.tv_nsec > since.tv_nsec))
            return true;
    }
    return false;
}

/* A rule is "target: file file \<newline> file", with "\ " and "\#" for a blank and a hash in a name and "$$" for a
 * dollar. The paths are made absolute, as the next call may come from elsewhere. Returns false when one of them makes no
 * sense: a newline in a name is beyond such a rule. */
static bool cache_read_rule(const char *rule, struct cli_words *inputs) {
    const char *at = strstr(rule, ": ");
    at = at ? at + 2 : "";
    bool is_clear = true;
    while (*at && is_clear) {
        struct cli_text name = {0};
        while (*at == ' ' || *at == '\n' || (*at == '\\' && at[1] == '\n'))
            at++;
        for (; *at && *at != ' ' && *at != '\n'; at++) {
            bool is_escape = (*at == '\\' && (at[1] == ' ' || at[1] == '#')) || (*at == '$' && at[1] == '$');
            if (is_escape)
                at++;
            cli_text_add_bytes(&name, at, 1);
        }
        char *path = name.bytes ? realpath(name.bytes, NULL) : NULL;
        if (path)
            cli_words_add(inputs, "%s", path);
        is_clear = path || !name.bytes;
        free(path);
        cli_text_term(&name);
    }
    return is_clear && inputs->count;
}

void cli_cache_prune(const char *cache) {
    DIR *directory = opendir(cache);
    if (!directory)
        return;
    time_t oldest = time(NULL) - KEPT_SECONDS;
    const struct dirent *entry;
    while ((entry = readdir(directory))) {
        struct stat status;
        int fd = dirfd(directory);
        if (!cache_made(entry->d_name) || fstatat(fd, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        if (status.st_mtime >= oldest)
            continue;
        if (S_ISDIR(status.st_mode)) {
            char *workspace = cli_format("%s/%s", cache, entry->d_name);
            cli_directory_remove(workspace);
            free(workspace);
        } else {
            unlinkat(fd, entry->d_name, 0);
        }
    }
    closedir(directory);
}

static bool cache_made(const char *name) {
    static const char digits[] = "0123456789abcdef";
    enum { DIGITS = CLI_SHA256_HEX - 1 };
    if (strncmp(name, WORKSPACE_PREFIX, strlen(WORKSPACE_PREFIX)) == 0)
        return true;
    const char *dash = strrchr(name, '-');
    const char *digest = dash ? dash + 1 : name;
    return strspn(digest, digits) == DIGITS && strcmp(digest + DIGITS, dash ? "" : ".inputs") == 0;
}
