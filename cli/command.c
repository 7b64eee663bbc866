/* SPDX-License-Identifier: MIT
 *
 * cli/command.c - the table of commands, and finding a name in it, rightly or nearly rightly written.
 *
 * Likeness is the number of letters to insert, delete, replace or swap with a neighbour (optimal string alignment).
 * Two such slips are forgiven, but never so many that nothing of the word is left.
 */
#include "command.h"

#include <string.h>

#include "file.h"
#include "say.h"

enum { SLIPS_FORGIVEN = 2, NAME_LONGEST = 32 };

const struct cli_command cli_commands[] = {
    {"run", "run a script, or compile a C program and run it", cli_run_usage, cli_run},
    {"repl", "run JavaScript line by line as it is typed", cli_repl_usage, cli_repl},
    {"new", "start a project in a new directory", cli_new_usage, cli_new},
    {"serve", "serve the files of a directory over HTTP", cli_serve_usage, cli_serve},
    {"load", "send requests to an HTTP server and time the answers", cli_load_usage, cli_load},
    {"doctor", "tell what this machine offers and what weft makes of it", cli_doctor_usage, cli_doctor},
    {"version", "print the version and how it was built", cli_version_usage, cli_version},
    {"help", "explain a command", cli_help_usage, cli_help},
    {NULL, NULL, NULL, NULL},
};

static const struct cli_command *command_nearest(const char *name);
static size_t command_slips(const char *a, const char *b);
static size_t smaller(size_t a, size_t b);

const struct cli_command *cli_command_find(const char *name) {
    for (const struct cli_command *command = cli_commands; command->name; command++)
        if (strcmp(command->name, name) == 0)
            return command;
    return NULL;
}

int cli_command_unknown(const char *name) {
    if (cli_path_has_suffix(name, ".c"))
        return cli_misuse(NULL, "there is no command '%s'; to run a program: weft run %s", name, name);
    const struct cli_command *nearest = command_nearest(name);
    if (nearest)
        return cli_misuse(NULL, "there is no command '%s'; did you mean '%s'?", name, nearest->name);
    return cli_misuse(NULL, "there is no command '%s'", name);
}

static const struct cli_command *command_nearest(const char *name) {
    const struct cli_command *nearest = NULL;
    size_t fewest = SLIPS_FORGIVEN + 1;
    for (const struct cli_command *command = cli_commands; command->name; command++) {
        size_t slips = command_slips(command->name, name);
        if (slips < fewest && slips < strlen(name) && slips < strlen(command->name)) {
            nearest = command;
            fewest = slips;
        }
    }
    return nearest;
}

static size_t command_slips(const char *a, const char *b) {
    size_t rows = strlen(a), columns = strlen(b);
    size_t cost[NAME_LONGEST + 1][NAME_LONGEST + 1];
    if (rows > NAME_LONGEST || columns > NAME_LONGEST)
        return SIZE_MAX;
    for (size_t i = 0; i <= rows; i++)
        cost[i][0] = i;
    for (size_t j = 0; j <= columns; j++)
        cost[0][j] = j;
    for (size_t i = 1; i <= rows; i++) {
        for (size_t j = 1; j <= columns; j++) {
            size_t replaced = cost[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            cost[i][j] = smaller(replaced, smaller(cost[i - 1][j], cost[i][j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                cost[i][j] = smaller(cost[i][j], cost[i - 2][j - 2] + 1);
        }
    }
    return cost[rows][columns];
}

static size_t smaller(size_t a, size_t b) {
    return a < b ? a : b;
}
