/* SPDX-License-Identifier: MIT
 *
 * cli/new.c - "weft new NAME": a directory with a small project that builds and runs.
 *
 * The files are templates in new_files.c with @NAME@ in them. The name becomes a directory, a program, a CMake project
 * and a make target, so it has to be fit for all four. Nothing that exists is ever overwritten, and when one file cannot
 * be written, those before it are taken back.
 */
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command.h"
#include "file.h"
#include "new_files.h"
#include "say.h"

const char cli_new_usage[] = "usage: weft new NAME\n"
                             "\n"
                             "Makes the directory NAME with a program that uses weft, and builds with make (through\n"
                             "pkg-config) or CMake (through find_package). NAME is made of letters, digits, '-' and\n"
                             "'_' and begins with a letter. A directory that exists must be empty.\n";

enum { NAME_LONGEST = 64 };

static const char *new_what_is_wrong_with(const char *name);
static int new_prepare_directory(const char *name, bool *was_made);
static int new_write_files(const char *name);
static char *new_fill_in(const char *template, const char *name);

int cli_new(int argc, char **argv) {
    static const struct option options[] = {{"help", no_argument, NULL, 'h'}, {0}};
    for (int c; (c = getopt_long(argc, argv, "+:h", options, NULL)) != -1;) {
        if (c != 'h')
            return cli_bad_option("new", c, argv);
        printf("%s", cli_new_usage);
        return CLI_DONE;
    }
    if (optind == argc)
        return cli_misuse("new", "new: which name?");
    if (optind + 1 < argc)
        return cli_misuse("new", "new: one name only, but there is also '%s'", argv[optind + 1]);

    const char *name = argv[optind];
    const char *complaint = new_what_is_wrong_with(name);
    if (complaint)
        return cli_misuse("new", "new: cannot use the name '%s': %s", name, complaint);
    bool was_made;
    int status = new_prepare_directory(name, &was_made);
    if (status != CLI_DONE)
        return status;
    status = new_write_files(name);
    if (status != CLI_DONE && was_made)
        rmdir(name);
    if (status == CLI_DONE)
        printf("%s: a project that builds. Next:\n\n    cd %s\n    make run\n", name, name);
    return status;
}

static const char *new_what_is_wrong_with(const char *name) {
    /* Targets that make and CMake have already; "weft" would shadow the library that it links. */
    static const char *const taken[] = {
        "all",  "check",   "clean", "edit_cache",    "help", "install", "list_install_components",
        "main", "package", "run",   "rebuild_cache", "test", "weft",    "package_source"};
    if (!isalpha((unsigned char)name[0]))
        return "it does not begin with a letter";
    for (const char *at = name; *at; at++)
        if (!isalnum((unsigned char)*at) && *at != '-' && *at != '_')
            return "only letters, digits, '-' and '_' are allowed";
    if (strlen(name) > NAME_LONGEST)
        return "it is too long";
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        if (strcmp(taken[i], name) == 0)
            return "build tools use it for something else";
    return NULL;
}

static int new_prepare_directory(const char *name, bool *was_made) {
    *was_made = mkdir(name, 0777) == 0;
    if (*was_made)
        return CLI_DONE;
    if (errno != EEXIST)
        return cli_fail("cannot make the directory %s: %s", name, strerror(errno));
    int is_empty = cli_directory_is_empty(name);
    if (is_empty == -ENOTDIR)
        return cli_fail("%s exists and is not a directory", name);
    if (is_empty < 0)
        return cli_fail("cannot read the directory %s: %s", name, strerror(-is_empty));
    if (!is_empty)
        return cli_fail("the directory %s exists and is not empty", name);
    return CLI_DONE;
}

static int new_write_files(const char *name) {
    size_t count = 0;
    int error = 0;
    for (; cli_new_files[count].name && !error; count++) {
        const struct cli_new_file *file = &cli_new_files[count];
        char *path = cli_format("%s/%s", name, file->name);
        char *contents = new_fill_in(file->template, name);
        error = cli_file_write_new(path, contents, strlen(contents), 0666);
        if (error)
            cli_fail("cannot write %s: %s", path, strerror(-error));
        free(contents);
        free(path);
    }
    if (!error)
        return CLI_DONE;
    for (size_t i = 0; i + 1 < count; i++) {
        char *path = cli_format("%s/%s", name, cli_new_files[i].name);
        unlink(path);
        free(path);
    }
    return CLI_FAILED;
}

static char *new_fill_in(const char *template, const char *name) {
    static const char mark[] = "@NAME@";
    struct cli_text text = {0};
    for (const char *found; (found = strstr(template, mark)); template = found + strlen(mark)) {
        cli_text_add_bytes(&text, template, (size_t)(found - template));
        cli_text_add(&text, "%s", name);
    }
    cli_text_add(&text, "%s", template);
    return text.bytes;
}
