/* SPDX-License-Identifier: MIT
 *
 * cli/command.h - the commands of weft, as data.
 *
 * A command is one file with a function and a usage text, one line here for each of the two, and one line in the table
 * of command.c: the list that "weft help" prints, the dispatch and the guess at a mistyped name all come from that
 * table. A function gets its own name as argv[0] and returns the exit status of the process.
 */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include <stdio.h>

#include "weft/base.h"

struct cli_command {
    const char *name;
    const char *summary; /* one line, no full stop */
    const char *usage;   /* the whole text of "weft help NAME" */
    int (*run)(int argc, char **argv);
};

/* Ends with a command whose name is null. */
extern const struct cli_command cli_commands[];

/* The command of that name, or NULL. */
const struct cli_command *cli_command_find(const char *name);
/* Says that there is no such command, and which one may have been meant. Returns CLI_USAGE. */
int cli_command_unknown(const char *name);

/* The list of commands, as "weft help" shows it. */
void cli_help_print(FILE *out);

int cli_doctor(int argc, char **argv);
int cli_help(int argc, char **argv);
int cli_load(int argc, char **argv);
int cli_new(int argc, char **argv);
int cli_repl(int argc, char **argv);
int cli_run(int argc, char **argv);
int cli_serve(int argc, char **argv);
int cli_version(int argc, char **argv);

extern const char cli_doctor_usage[];
extern const char cli_help_usage[];
extern const char cli_load_usage[];
extern const char cli_new_usage[];
extern const char cli_repl_usage[];
extern const char cli_run_usage[];
extern const char cli_serve_usage[];
extern const char cli_version_usage[];

#endif
