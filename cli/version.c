/* SPDX-License-Identifier: MIT
 *
 * cli/version.c - "weft version": what this is and how it was made.
 *
 * The first line is for scripts: "weft" and the version of the library that is linked in. The command and the library
 * come out of one build, so what the compiler says of this file (optimised or not, which sanitizer) holds for both.
 */
#include <getopt.h>
#include <gnu/libc-version.h>
#include <stdio.h>

#include "build.h"
#include "command.h"
#include "say.h"

const char cli_version_usage[] = "usage: weft version\n"
                                 "\n"
                                 "Prints the version of the library, the kind of build, the compiler and the target.\n";

int cli_version(int argc, char **argv) {
    static const struct option options[] = {{"help", no_argument, NULL, 'h'}, {0}};
    for (int c; (c = getopt_long(argc, argv, "+:h", options, NULL)) != -1;) {
        if (c != 'h')
            return cli_bad_option("version", c, argv);
        printf("%s", cli_version_usage);
        return CLI_DONE;
    }
    if (optind < argc)
        return cli_misuse("version", "version: takes no argument, but there is '%s'", argv[optind]);

    printf("weft %s\n", weft_version());
    printf("build     %s\n", cli_build_kind());
    printf("sanitizer %s\n", *cli_build_sanitizers() ? cli_build_sanitizers() : "none");
    printf("compiler  %s\n", cli_build_compiler());
    printf("target    %s, glibc %s\n", cli_build_machine(), gnu_get_libc_version());
    return CLI_DONE;
}
