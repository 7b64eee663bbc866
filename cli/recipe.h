/* SPDX-License-Identifier: MIT
 *
 * cli/recipe.h - from a C file and the wishes of the user to a compiler command, a cache key and a program.
 *
 * A recipe is filled in by "weft run" from its options; the rest is looked up when it is prepared. Everything that can
 * change what the compiler makes of the source goes into the key.
 */
#ifndef CLI_RECIPE_H
#define CLI_RECIPE_H

#include "kit.h"
#include "sha256.h"
#include "text.h"

struct cli_recipe {
    /* Set by the user's options. */
    const char *file;
    const char *compiler;          /* null: $CC, or what is there */
    const char *level;             /* of optimisation; null: 2 */
    const char *sanitizers;        /* for -fsanitize=; null: none */
    bool has_debug;                /* -g */
    struct cli_words preprocessor; /* -I and -D */
    struct cli_words linker;       /* -L and -l */
    /* Set by cli_recipe_prepare. */
    struct cli_kit kit;
    struct cli_words compiler_words;
    char *compiler_path;
    char *name; /* of the program: the file's, without directory and ".c" */
};

/* Finds compiler and library. Returns CLI_DONE, or CLI_FAILED after saying what is missing. */
int cli_recipe_prepare(struct cli_recipe *recipe);
void cli_recipe_term(struct cli_recipe *recipe);

/* The command that compiles and links the file into output. rule, if not null, is where the compiler is to list the
 * files that it has read. */
void cli_recipe_command(const struct cli_recipe *recipe, const char *output, const char *rule, struct cli_words *out);

/* A hash of the source and of all that is known to bear on it. Returns 0, or a negative errno value when the source
 * cannot be read. */
int cli_recipe_key(const struct cli_recipe *recipe, char out[CLI_SHA256_HEX]);

/* Compiles into workspace/NAME. The compiler's messages go to standard error by themselves. Returns CLI_DONE or
 * CLI_FAILED; *signal_number is set when a signal ended the compiler. */
int cli_recipe_compile(const struct cli_recipe *recipe, const char *workspace, int *signal_number);

#endif
