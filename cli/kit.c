/* SPDX-License-Identifier: MIT
 *
 * cli/kit.c - looking for compiler, headers and library.
 *
 * A place counts only when it has weft.h and a library, so that a half-installed tree is passed over instead of giving
 * a riddle from the linker. A library that was built with a sanitizer or with coverage counters says so through
 * build.h, and the options that it needs are added wherever the library is known to come from the same build.
 *
 * Nothing is remembered between calls; the search costs a few dozen stat calls.
 */
#include "kit.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "build.h"
#include "file.h"
#include "process.h"

static bool kit_try_build_tree(struct cli_kit *kit, const char *program, struct cli_text *looked_in);
static bool kit_try_prefix(struct cli_kit *kit, const char *prefix, struct cli_text *looked_in);
static bool kit_try_pkg_config(struct cli_kit *kit, struct cli_text *looked_in);
static char *kit_program_path(void);
static char *kit_library_in(const char *directory);
static void kit_take(struct cli_kit *kit, const char *include, char *library);
static bool pkg_config(const char *question, struct cli_words *answer);

int cli_kit_find(struct cli_kit *kit, struct cli_text *looked_in) {
    *kit = (struct cli_kit){0};
    char *program = kit_program_path();
    bool is_found = false;
    if (program) {
        char *directory = cli_path_parent(program);
        char *prefix = cli_path_parent(directory);
        is_found = kit_try_build_tree(kit, program, looked_in) || kit_try_prefix(kit, prefix, looked_in);
        free(prefix);
        free(directory);
        free(program);
    }
    return is_found || kit_try_prefix(kit, WEFT_PREFIX, looked_in) || kit_try_pkg_config(kit, looked_in) ? 0 : -ENOENT;
}

void cli_kit_term(struct cli_kit *kit) {
    cli_words_term(&kit->compile);
    cli_words_term(&kit->link);
    free(kit->library);
    *kit = (struct cli_kit){0};
}

/* Headers are in the source tree, the library in the build directory: the command's own or one of those above it. */
static bool kit_try_build_tree(struct cli_kit *kit, const char *program, struct cli_text *looked_in) {
#ifdef WEFT_BUILD_ROOT
    enum { LEVELS = 3 };
    char *header = cli_format("%s/include/weft.h", WEFT_BUILD_ROOT);
    bool has_header = cli_file_exists(header);
    free(header);
    char *directory = cli_path_parent(program);
    cli_text_add(looked_in, "%s%s with %s", looked_in->size ? ", " : "", WEFT_BUILD_ROOT, directory);
    char *library = NULL;
    for (int level = 0; has_header && !library && level < LEVELS; level++) {
        library = kit_library_in(directory);
        char *parent = cli_path_parent(directory);
        free(directory);
        directory = parent;
    }
    free(directory);
    if (library)
        kit_take(kit, WEFT_BUILD_ROOT "/include", library);
    return library;
#else
    (void)kit, (void)program, (void)looked_in;
    return false;
#endif
}

static bool kit_try_prefix(struct cli_kit *kit, const char *prefix, struct cli_text *looked_in) {
    cli_text_add(looked_in, "%s%s", looked_in->size ? ", " : "", prefix);
    char *include = cli_format("%s/include", prefix);
    char *header = cli_format("%s/weft.h", include);
    char *library = cli_file_exists(header) ? kit_library_in(prefix) : NULL;
    if (library)
        kit_take(kit, include, library);
    free(header);
    free(include);
    return library;
}

static bool kit_try_pkg_config(struct cli_kit *kit, struct cli_text *looked_in) {
    cli_text_add(looked_in, " and pkg-config");
    struct cli_words directory = {0};
    if (!pkg_config("--cflags", &kit->compile) || !pkg_config("--libs", &kit->link)) {
        cli_words_term(&kit->compile);
        return false;
    }
    if (pkg_config("--variable=libdir", &directory) && directory.count == 1) {
        kit->library = kit_library_in(directory.list[0]);
        cli_words_add(&kit->link, "-Wl,-rpath,%s", directory.list[0]);
    }
    cli_words_term(&directory);
    return true;
}

static char *kit_program_path(void) {
    char path[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    return length > 0 ? cli_format("%.*s", (int)length, path) : NULL;
}

static char *kit_library_in(const char *directory) {
    static const char *const names[] = {"libweft.a", "libweft.so"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *places[] = {
            cli_format("%s/%s", directory, names[i]),
            cli_format("%s/lib/%s", directory, names[i]),
            cli_format("%s/lib/%s/%s", directory, cli_build_multiarch(), names[i]),
            cli_format("%s/lib64/%s", directory, names[i]),
        };
        char *found = NULL;
        for (size_t j = 0; j < sizeof places / sizeof *places; j++) {
            if (!found && cli_file_exists(places[j]))
                found = places[j];
            else
                free(places[j]);
        }
        if (found)
            return found;
    }
    return NULL;
}

static void kit_take(struct cli_kit *kit, const char *include, char *library) {
    kit->library = library;
    cli_words_add(&kit->compile, "-I%s", include);
    cli_words_add(&kit->link, "%s", library);
    if (cli_path_has_suffix(library, ".so")) {
        char *directory = cli_path_parent(library);
        cli_words_add(&kit->link, "-Wl,-rpath,%s", directory);
        free(directory);
    }
    cli_words_add(&kit->link, "-ldl");
    if (*cli_build_sanitizers())
        cli_words_add(&kit->link, "-fsanitize=%s", cli_build_sanitizers());
    if (cli_build_has_coverage())
        cli_words_add(&kit->link, "--coverage");
}

static bool pkg_config(const char *question, struct cli_words *answer) {
    const char *asked = getenv("PKG_CONFIG");
    char *path = cli_program_find(asked && *asked ? asked : "pkg-config");
    if (!path)
        return false;
    struct cli_words command = {0};
    struct cli_text output = {0};
    cli_words_add(&command, "pkg-config");
    cli_words_add(&command, "%s", question);
    cli_words_add(&command, "weft");
    int signal_number;
    bool is_done = cli_program_run(path, &command, &output, &signal_number) == 0;
    if (is_done && output.bytes)
        cli_words_add_line(answer, output.bytes);
    cli_text_term(&output);
    cli_words_term(&command);
    free(path);
    return is_done;
}

int cli_compiler_find(const char *asked, struct cli_words *command, char **path, char **missing) {
    static const char *const usual[] = {"cc", "gcc", "clang"};
    const char *wanted = asked ? asked : getenv("CC");
    *missing = NULL;
    if (wanted)
        cli_words_add_line(command, wanted);
    if (command->count) {
        *path = cli_program_find(command->list[0]);
        if (*path)
            return 0;
        *missing = cli_format("%s", command->list[0]);
        cli_words_term(command);
        return -ENOENT;
    }
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++) {
        *path = cli_program_find(usual[i]);
        if (*path) {
            cli_words_add(command, "%s", usual[i]);
            return 0;
        }
    }
    return -ENOENT;
}
