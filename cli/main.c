/* SPDX-License-Identifier: MIT
 *
 * cli/main.c - the weft command: finds the command that is meant and runs it.
 *
 * "weft --help" and "weft --version" are the commands of those names; everything else begins with the name of a command
 * from the table in command.c. What a command prints counts as done only when it has reached standard output, so a full
 * disk or a closed pipe turns success into failure.
 */
#include <errno.h>
#include <string.h>

#include "command.h"
#include "say.h"

static int main_flush(int status);

int main(int argc, char **argv) {
    if (argc < 2) {
        cli_help_print(stderr);
        return CLI_USAGE;
    }
    char *name = argv[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        name = "help";
    else if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0)
        name = "version";
    else if (name[0] == '-')
        return cli_misuse(NULL, "there is no option %s", name);

    const struct cli_command *command = cli_command_find(name);
    if (!command)
        return cli_command_unknown(name);
    argv[1] = name;
    return main_flush(command->run(argc - 1, argv + 1));
}

static int main_flush(int status) {
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    cli_fail("cannot write the output: %s", strerror(errno));
    return status ? status : CLI_FAILED;
}
