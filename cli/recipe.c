/* SPDX-License-Identifier: MIT
 *
 * cli/recipe.c - the compiler command and its key.
 *
 * One call of the compiler both compiles and links. Its order matters to the linker: the source, then the libraries of
 * the user, then weft, then what weft needs. The mathematical library comes last of all, since nearly every small
 * program wants it and naming it costs nothing.
 */
#include "recipe.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file.h"
#include "process.h"
#include "say.h"

static char *recipe_program_name(const char *file);
static void recipe_add_file_stamp(struct cli_sha256 *hash, const char *path);
static void recipe_add_places(struct cli_sha256 *hash, const struct cli_recipe *recipe);
static bool options_are_absolute(const struct cli_words *options);
static bool list_is_absolute(const char *list);

int cli_recipe_prepare(struct cli_recipe *recipe) {
    char *missing;
    if (cli_compiler_find(recipe->compiler, &recipe->compiler_words, &recipe->compiler_path, &missing) != 0) {
        if (missing)
            cli_fail("cannot find the compiler '%s' that %s names", missing, recipe->compiler ? "--cc" : "$CC");
        else
            cli_fail("there is no C compiler here: install gcc or clang, or name one with --cc");
        free(missing);
        return CLI_FAILED;
    }
    struct cli_text looked_in = {0};
    int error = cli_kit_find(&recipe->kit, &looked_in);
    if (error)
        cli_fail("cannot find weft.h and libweft: looked in %s", looked_in.bytes);
    cli_text_term(&looked_in);
    if (error)
        return CLI_FAILED;
    recipe->name = recipe_program_name(recipe->file);
    return CLI_DONE;
}

void cli_recipe_term(struct cli_recipe *recipe) {
    cli_words_term(&recipe->preprocessor);
    cli_words_term(&recipe->linker);
    cli_words_term(&recipe->compiler_words);
    cli_kit_term(&recipe->kit);
    free(recipe->compiler_path);
    free(recipe->name);
}

/* Becomes part of file names, so only harmless characters, and not too many of them. */
static char *recipe_program_name(const char *file) {
    static const char harmless[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
    enum { LONGEST = 40 };
    const char *base = cli_path_name(file);
    char *name = cli_format("%.*s", (int)(strlen(base) - strlen(".c")), base);
    if (strlen(name) > LONGEST)
        name[LONGEST] = '\0';
    for (char *at = name; *at; at++)
        if (!strchr(harmless, *at))
            *at = '_';
    return name;
}

void cli_recipe_command(const struct cli_recipe *recipe, const char *output, const char *rule, struct cli_words *out) {
    cli_words_add_all(out, &recipe->compiler_words);
    cli_words_add(out, "-std=gnu11");
    cli_words_add(out, "-Wall");
    cli_words_add(out, "-O%s", recipe->level ? recipe->level : "2");
    if (recipe->has_debug)
        cli_words_add(out, "-g");
    if (recipe->sanitizers) {
        cli_words_add(out, "-fsanitize=%s", recipe->sanitizers);
        cli_words_add(out, "-fno-omit-frame-pointer");
    }
    cli_words_add(out, "-pthread");
    cli_words_add_all(out, &recipe->preprocessor);
    cli_words_add_all(out, &recipe->kit.compile);
    if (rule) {
        cli_words_add(out, "-MMD");
        cli_words_add(out, "-MF");
        cli_words_add(out, "%s", rule);
    }
    cli_words_add(out, "-o");
    cli_words_add(out, "%s", output);
    bool looks_like_option = recipe->file[0] == '-' || recipe->file[0] == '@';
    cli_words_add(out, "%s%s", looks_like_option ? "./" : "", recipe->file);
    cli_words_add_all(out, &recipe->linker);
    cli_words_add_all(out, &recipe->kit.link);
    cli_words_add(out, "-lm");
}

int cli_recipe_key(const struct cli_recipe *recipe, char out[CLI_SHA256_HEX]) {
    struct cli_text source = {0};
    struct cli_words command = {0};
    struct cli_sha256 hash;
    int error = cli_file_read(recipe->file, &source);
    if (error)
        goto free_source;

    cli_sha256_init(&hash);
    cli_sha256_add_string(&hash, "weft run, layout 1");
    cli_sha256_add(&hash, &source.size, sizeof source.size);
    cli_sha256_add(&hash, source.bytes, source.size);
    cli_recipe_command(recipe, "program", NULL, &command);
    for (size_t i = 0; i < command.count; i++)
        cli_sha256_add_string(&hash, command.list[i]);
    recipe_add_file_stamp(&hash, recipe->compiler_path);
    recipe_add_file_stamp(&hash, recipe->kit.library);
    recipe_add_places(&hash, recipe);
    cli_sha256_finish(&hash, out);
    cli_words_term(&command);
free_source:
    cli_text_term(&source);
    return error;
}

static void recipe_add_file_stamp(struct cli_sha256 *hash, const char *path) {
    struct stat status;
    cli_sha256_add_string(hash, path ? path : "");
    if (!path || stat(path, &status) != 0)
        return;
    cli_sha256_add(hash, &status.st_size, sizeof status.st_size);
    cli_sha256_add(hash, &status.st_mtim.tv_sec, sizeof status.st_mtim.tv_sec);
    cli_sha256_add(hash, &status.st_mtim.tv_nsec, sizeof status.st_mtim.tv_nsec);
}

/* Quoted includes are looked for beside the file. Options and variables may name directories relative to the current
 * one, and only then does it matter where we are. */
static void recipe_add_places(struct cli_sha256 *hash, const struct cli_recipe *recipe) {
    static const char *const names[] = {"CPATH", "C_INCLUDE_PATH", "LIBRARY_PATH", "COMPILER_PATH", "GCC_EXEC_PREFIX"};
    bool is_absolute = options_are_absolute(&recipe->preprocessor) && options_are_absolute(&recipe->linker);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);
        cli_sha256_add_string(hash, value ? value : "");
        is_absolute = is_absolute && (!value || list_is_absolute(value));
    }
    char *file = realpath(recipe->file, NULL), *here = is_absolute ? NULL : getcwd(NULL, 0);
    cli_sha256_add_string(hash, file ? file : "");
    cli_sha256_add_string(hash, here ? here : "");
    free(here);
    free(file);
}

static bool options_are_absolute(const struct cli_words *options) {
    for (size_t i = 0; i < options->count; i++) {
        const char *option = options->list[i];
        bool names_directory = option[1] == 'I' || option[1] == 'L';
        if (names_directory && option[2] != '/')
            return false;
    }
    return true;
}

/* Directories parted by colons; an empty one is the current directory. */
static bool list_is_absolute(const char *list) {
    while (*list == '/') {
        list += strcspn(list, ":");
        if (!*list)
            return true;
        list++;
    }
    return false;
}

int cli_recipe_compile(const struct cli_recipe *recipe, const char *workspace, int *signal_number) {
    struct cli_words command = {0};
    char *output = cli_format("%s/%s", workspace, recipe->name);
    char *rule = cli_format("%s/rule", workspace);
    cli_recipe_command(recipe, output, rule, &command);
    int status = cli_program_run(recipe->compiler_path, &command, NULL, signal_number);
    if (status < 0 && status != -EINTR)
        cli_fail("cannot start the compiler %s: %s", recipe->compiler_path, strerror(-status));
    else if (status > 0)
        cli_fail("%s does not compile", recipe->file);
    cli_words_term(&command);
    free(rule);
    free(output);
    return status == 0 ? CLI_DONE : CLI_FAILED;
}
