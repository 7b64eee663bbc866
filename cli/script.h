/* SPDX-License-Identifier: MIT
 *
 * cli/script.h - JavaScript on weft.
 */
#ifndef CLI_SCRIPT_H
#define CLI_SCRIPT_H

#include <stdbool.h>

/* By its name. */
bool cli_is_script(const char *file);
/* Runs it to its end: a file, or (text) what stands there instead; arguments end with NULL and begin with the script's own name.
 * The exit status of the process. */
int cli_script_run(const char *file, const char *text, char **arguments);

#endif
