/* SPDX-License-Identifier: MIT
 *
 * cli/help.c - "weft help": the list of commands, or the usage text of one.
 *
 * The list is printed from the table, so a command that exists is also explained. Asking for help is no error, so the
 * answer goes to standard output; only who calls weft without a command gets the list on standard error.
 */
#include <string.h>

#include "command.h"
#include "say.h"

const char cli_help_usage[] = "usage: weft help [COMMAND]\n"
                              "       weft COMMAND --help\n"
                              "\n"
                              "Without COMMAND lists the commands, with one explains it.\n";

int cli_help(int argc, char **argv) {
    if (argc > 2)
        return cli_misuse("help", "help: one command at a time");
    bool is_about_one = argc == 2 && strcmp(argv[1], "--help") != 0 && strcmp(argv[1], "-h") != 0;
    if (is_about_one) {
        const struct cli_command *command = cli_command_find(argv[1]);
        if (!command)
            return cli_command_unknown(argv[1]);
        printf("%s", command->usage);
        return CLI_DONE;
    }
    cli_help_print(stdout);
    return CLI_DONE;
}

void cli_help_print(FILE *out) {
    fprintf(out, "usage: weft COMMAND [ARGUMENT...]\n\n");
    fprintf(out, "weft is a concurrency runtime for C: fibers on every core.\n\n");
    fprintf(out, "Commands:\n");
    for (const struct cli_command *command = cli_commands; command->name; command++)
        fprintf(out, "  %-10s%s\n", command->name, command->summary);
    fprintf(out, "\n'weft help COMMAND' or 'weft COMMAND --help' explains one of them; weft(1) is the manual.\n");
}
