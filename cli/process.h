/* SPDX-License-Identifier: MIT
 *
 * cli/process.h - other programs: found in PATH, called with a list of words, waited for.
 *
 * Nothing here goes through a shell, so no character in a file name or an option means anything but itself.
 */
#ifndef CLI_PROCESS_H
#define CLI_PROCESS_H

#include "text.h"

/* Where the program is: the name itself if it has a slash and can be run, else the first match in PATH. NULL when there
 * is none. To be freed. */
char *cli_program_find(const char *name);

/* Runs path with those words as its argv and waits for it; signals that we get meanwhile are passed on to it. Its
 * standard output is added to output and its standard error dropped, or both go where ours go when output is null.
 * Returns its exit status, or a negative errno value when it could not be started, or -EINTR when a signal ended it:
 * then *signal_number tells which. */
int cli_program_run(const char *path, const struct cli_words *words, struct cli_text *output, int *signal_number);

#endif
