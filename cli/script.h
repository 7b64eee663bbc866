/* SPDX-License-Identifier: MIT
 *
 * cli/script.h - JavaScript on weft.
 */
#ifndef CLI_SCRIPT_H
#define CLI_SCRIPT_H

#include "text.h"

/* Zero is the default everywhere. */
struct cli_script {
    const char *file; /* or the name of the text */
    const char *text; /* instead of a file */
    size_t text_size;
    char **arguments;      /* the script's, from its own name on; ends with NULL */
    struct cli_words host; /* options for the host of scripts: --name or --name=value */
    size_t max_memory;
    size_t max_stack;
    int64_t max_run;
    uint64_t workers;
};

/* Options of all commands that run scripts, as numbers for getopt_long. */
enum {
    CLI_SCRIPT_IMPORT_MAP = 512,
    CLI_SCRIPT_MAX_MEMORY,
    CLI_SCRIPT_MAX_STACK,
    CLI_SCRIPT_MAX_RUN,
    CLI_SCRIPT_WORKERS,
};
/* Takes one of them. CLI_DONE, or CLI_USAGE when the value is none, which the command of that name has said. */
int cli_script_option(struct cli_script *script, const char *command, int option, const char *value);

/* By its name: an ending of scripts, or none at all. */
bool cli_is_script(const char *file);
/* Runs it to its end. The exit status of the process. */
int cli_script_run(const struct cli_script *script);

#endif
