/* SPDX-License-Identifier: MIT
 *
 * cli/repl.c - "weft repl": scripts that are typed line by line. The whole of it is js/lib/repl.js; here are its options.
 */
#include <getopt.h>
#include <stdio.h>

#include "command.h"
#include "say.h"
#include "script.h"

const char cli_repl_usage[] = "usage: weft repl [OPTION...]\n"
                              "\n"
                              "Reads JavaScript line by line, runs it, and prints what it is worth. Input that is no\n"
                              "terminal gets no prompts.\n"
                              "\n"
                              "  --import-map FILE   what names of modules stand for\n"
                              "  --max-memory SIZE   of the heap: 64m, 1g; more is an error\n"
                              "  --max-stack SIZE    of what is typed (8m)\n"
                              "  --max-run TIME      of one callback: 500ms, 2s; a longer one is ended by an error\n"
                              "  --workers N         threads of the runtime\n"
                              "  -h, --help          this text\n"
                              "\n"
                              "What was typed is kept in $WEFT_HISTORY, else in $XDG_STATE_HOME/weft/history, else in\n"
                              "~/.weft_history; with an empty $WEFT_HISTORY nowhere.\n";

static int repl_parse(struct cli_script *script, int argc, char **argv, bool *only_help);

int cli_repl(int argc, char **argv) {
    struct cli_script script = {.file = "[repl]", .text = "", .arguments = (char *[]){NULL}};
    bool only_help = false;
    cli_words_add(&script.host, "--repl");
    int status = repl_parse(&script, argc, argv, &only_help);
    if (status == CLI_DONE && !only_help)
        status = cli_script_run(&script);
    cli_words_term(&script.host);
    return status;
}

static int repl_parse(struct cli_script *script, int argc, char **argv, bool *only_help) {
    static const struct option options[] = {
        {"import-map", required_argument, NULL, CLI_SCRIPT_IMPORT_MAP},
        {"max-memory", required_argument, NULL, CLI_SCRIPT_MAX_MEMORY},
        {"max-stack", required_argument, NULL, CLI_SCRIPT_MAX_STACK},
        {"max-run", required_argument, NULL, CLI_SCRIPT_MAX_RUN},
        {"workers", required_argument, NULL, CLI_SCRIPT_WORKERS},
        {"help", no_argument, NULL, 'h'},
        {0},
    };
    for (int c; (c = getopt_long(argc, argv, "+:h", options, NULL)) != -1;) {
        if (c == 'h') {
            printf("%s", cli_repl_usage);
            *only_help = true;
            return CLI_DONE;
        }
        if (c == ':' || c == '?')
            return cli_bad_option("repl", c, argv);
        int status = cli_script_option(script, "repl", c, optarg);
        if (status != CLI_DONE)
            return status;
    }
    if (optind < argc)
        return cli_misuse("repl", "repl: it takes no file; to run %s: weft run %s", argv[optind], argv[optind]);
    return CLI_DONE;
}
