/* SPDX-License-Identifier: MIT
 *
 * cli/say.h - how the command speaks of failure, and the three exit statuses it has.
 *
 * Every message is one line on standard error that begins with "weft: " and says in plain words what did not work and,
 * where that is known, what to do about it. A wrong call (CLI_USAGE) also says where the right one is described.
 */
#ifndef CLI_SAY_H
#define CLI_SAY_H

#include "weft/base.h"

enum cli_exit {
    CLI_DONE = 0,
    CLI_FAILED = 1, /* asked for rightly, but it did not work */
    CLI_USAGE = 2   /* asked for wrongly */
};

/* Prints the message and returns CLI_FAILED. */
int cli_fail(const char *format, ...) WEFT_PRINTF(1, 2);

/* Prints the message and a hint to "weft help COMMAND" (NULL: "weft help"), and returns CLI_USAGE. */
int cli_misuse(const char *command, const char *format, ...) WEFT_PRINTF(2, 3);

/* Prints "weft: note: " and the message: something the user should know, though the work goes on. */
void cli_note(const char *format, ...) WEFT_PRINTF(1, 2);

/* What getopt_long's answer c (':' or '?') means, said as a misuse of the command. Returns CLI_USAGE. */
int cli_bad_option(const char *command, int c, char **argv);

/* There is no memory: says so and ends the process with CLI_FAILED. */
WEFT_NORETURN void cli_out_of_memory(void);

#endif
