/* SPDX-License-Identifier: MIT
 *
 * cli/say.c - messages on standard error.
 *
 * Standard output is flushed before a message, so that on a terminal the two come in the order in which they were
 * written.
 */
#include "say.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

static void say_line(const char *prefix, const char *format, va_list arguments) WEFT_PRINTF(2, 0);

int cli_fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    say_line("weft: ", format, arguments);
    va_end(arguments);
    return CLI_FAILED;
}

int cli_misuse(const char *command, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    say_line("weft: ", format, arguments);
    va_end(arguments);
    fprintf(stderr, "weft: see 'weft help%s%s'\n", command ? " " : "", command ? command : "");
    return CLI_USAGE;
}

void cli_note(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    say_line("weft: note: ", format, arguments);
    va_end(arguments);
}

int cli_bad_option(const char *command, int c, char **argv) {
    const char *last = argv[optind - 1];
    bool is_long = last && last[0] == '-' && last[1] == '-';
    if (is_long)
        return cli_misuse(command, c == ':' ? "%s: the option %s needs a value" : "%s: there is no option %s", command,
                          last);
    return cli_misuse(command, c == ':' ? "%s: the option -%c needs a value" : "%s: there is no option -%c", command,
                      optopt);
}

void cli_out_of_memory(void) {
    static const char message[] = "weft: out of memory\n";
    ssize_t ignored = write(STDERR_FILENO, message, sizeof message - 1);
    (void)ignored;
    _exit(CLI_FAILED);
}

static void say_line(const char *prefix, const char *format, va_list arguments) {
    fflush(stdout);
    fputs(prefix, stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
}
