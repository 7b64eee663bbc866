/* SPDX-License-Identifier: MIT
 *
 * cli/kit.h - what a program needs to be compiled against weft: a compiler, the headers, the library.
 *
 * The kit is looked for in this order, and the first place that has both headers and library is taken:
 *
 *   1. the build tree that this command was made in (only in the command that lives there)
 *   2. beside the command itself: ../include and ../lib, so an installed tree may be moved
 *   3. the prefix that weft was configured with
 *   4. wherever pkg-config says
 *
 * In the first three the static library is preferred, as the program then runs without looking for a shared one.
 */
#ifndef CLI_KIT_H
#define CLI_KIT_H

#include "text.h"

struct cli_kit {
    struct cli_words compile; /* options that find the headers */
    struct cli_words link;    /* the library and what it needs in turn */
    char *library;            /* the library's file; null when pkg-config does not tell */
};

/* Returns 0, or -ENOENT: then looked_in lists where it has been looked for, for the message. */
int cli_kit_find(struct cli_kit *kit, struct cli_text *looked_in);
void cli_kit_term(struct cli_kit *kit);

/* The compiler as the first words of a command: what is asked for (may be null), else $CC, else the first of cc, gcc and
 * clang that is there. path gets where the first word was found. Returns 0, or -ENOENT: then missing is what was not
 * found, or null when nothing was asked for and none of the three exists. */
int cli_compiler_find(const char *asked, struct cli_words *command, char **path, char **missing);

#endif
