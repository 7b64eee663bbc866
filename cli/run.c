/* SPDX-License-Identifier: MIT
 *
 * cli/run.c - "weft run FILE.c": a C program as if it were a script.
 *
 * A program that is in the cache is executed in place of this process, so its exit status, its signals and its process
 * id are what the caller sees. One that must not or cannot be kept runs as a child, since its file has to be removed
 * afterwards; then its exit status is passed on, and a signal that ended it ends us as well.
 *
 * Options come before FILE; everything behind it belongs to the program. Scripts are cli/script.c's.
 */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "cache.h"
#include "command.h"
#include "file.h"
#include "process.h"
#include "recipe.h"
#include "say.h"
#include "script.h"

const char cli_run_usage[] =
    "usage: weft run [OPTION...] FILE.js [ARGUMENT...]\n"
    "       weft run [OPTION...] -e TEXT [ARGUMENT...]\n"
    "       weft run [OPTION...] - [ARGUMENT...]\n"
    "       weft run [OPTION...] FILE.c [ARGUMENT...]\n"
    "\n"
    "Runs a script of JavaScript, from a file, a text or standard input; or compiles a C program\n"
    "against weft, unless the cache has it already, and runs it. The exit status is the\n"
    "program's, or 1 when it does not compile.\n"
    "\n"
    "Scripts:\n"
    "  -e, --eval TEXT     a text of JavaScript instead of a file\n"
    "  -p, --print         print what the text is worth: -p TEXT, -pe TEXT\n"
    "  -c, --check         only look whether it can be understood\n"
    "  --input-type=TYPE   what a text is: module or commonjs (else it is found out)\n"
    "  --import-map FILE   what names of modules stand for\n"
    "  --max-memory SIZE   of the script's heap: 64m, 1g; more is an error in the script\n"
    "  --max-stack SIZE    of the main script (8m)\n"
    "  --max-run TIME      of one callback: 500ms, 2s; a longer one is ended by an error\n"
    "  --workers N         threads of the runtime\n"
    "\n"
    "C programs:\n"
    "  --cc CC             compiler to use (else $CC, cc, gcc or clang)\n"
    "  -O LEVEL            level of optimisation (2)\n"
    "  -g                  with debugging information\n"
    "  --sanitize=LIST     address, thread, undefined; several with commas\n"
    "  -I, -D, -L, -l      passed on to the compiler\n"
    "  --no-cache          compile in any case and keep nothing\n"
    "  --keep              keep the program in the cache (as always) and say where\n"
    "  --print             print the compiler command and do nothing\n"
    "\n"
    "  --help              this text\n"
    "\n"
    "The cache is $XDG_CACHE_HOME/weft, else ~/.cache/weft; it may be removed at any time.\n";

struct run_wish {
    struct cli_recipe recipe;
    struct cli_script script;
    struct cli_text input; /* what standard input had */
    bool no_cache;
    bool is_verbose;
    bool prints;
    bool only_help;
};

enum { CC = 256, SANITIZE, KEEP, NO_CACHE, INPUT_TYPE };

static int run_parse(struct run_wish *wish, int argc, char **argv);
static int run_script_option(struct cli_script *script, int option);
static int run_script(struct run_wish *wish, char **arguments);
static int run_check_file(const char *file);
static bool run_knows_sanitizers(const char *list);
static int run_print(const struct cli_recipe *recipe);
static int run_program(const struct run_wish *wish, char **arguments);
static int run_cached(const struct run_wish *wish, const char *cache, char **arguments);
static int run_once(const struct cli_recipe *recipe, char **arguments);
static int run_child(const struct cli_recipe *recipe, const char *workspace, char **arguments, int *signal_number);
static int run_execute(const struct run_wish *wish, const char *program, char **arguments);
static int run_end(int status, int signal_number);

int cli_run(int argc, char **argv) {
    struct run_wish wish = {0};
    int status = run_parse(&wish, argc, argv);
    if (status == CLI_DONE && !wish.only_help) {
        const char *file = argv[optind];
        bool is_c = file && cli_path_has_suffix(cli_path_name(file), ".c");
        if (wish.script.text || !file || (wish.prints && !is_c) || strcmp(file, "-") == 0 || cli_is_script(file)) {
            status = run_script(&wish, argv + optind);
        } else {
            wish.recipe.file = argv[optind];
            status = run_check_file(wish.recipe.file);
            if (status == CLI_DONE)
                status = cli_recipe_prepare(&wish.recipe);
            if (status == CLI_DONE)
                status = wish.prints ? run_print(&wish.recipe) : run_program(&wish, argv + optind);
        }
    }
    cli_recipe_term(&wish.recipe);
    cli_words_term(&wish.script.host);
    cli_text_term(&wish.input);
    return status;
}

static int run_parse(struct run_wish *wish, int argc, char **argv) {
    static const struct option options[] = {
        {"cc", required_argument, NULL, CC},
        {"sanitize", required_argument, NULL, SANITIZE},
        {"keep", no_argument, NULL, KEEP},
        {"no-cache", no_argument, NULL, NO_CACHE},
        {"print", no_argument, NULL, 'p'},
        {"eval", required_argument, NULL, 'e'},
        {"check", no_argument, NULL, 'c'},
        {"input-type", required_argument, NULL, INPUT_TYPE},
        {"import-map", required_argument, NULL, CLI_SCRIPT_IMPORT_MAP},
        {"max-memory", required_argument, NULL, CLI_SCRIPT_MAX_MEMORY},
        {"max-stack", required_argument, NULL, CLI_SCRIPT_MAX_STACK},
        {"max-run", required_argument, NULL, CLI_SCRIPT_MAX_RUN},
        {"workers", required_argument, NULL, CLI_SCRIPT_WORKERS},
        {"help", no_argument, NULL, 'h'},
        {0},
    };
    struct cli_recipe *recipe = &wish->recipe;
    int status = CLI_DONE;
    for (int c; status == CLI_DONE && (c = getopt_long(argc, argv, "+:hpce:gO:I:D:L:l:", options, NULL)) != -1;) {
        switch (c) {
        case CC:
            recipe->compiler = optarg;
            break;
        case SANITIZE:
            recipe->sanitizers = optarg;
            break;
        case KEEP:
            wish->is_verbose = true, wish->no_cache = false;
            break;
        case NO_CACHE:
            wish->no_cache = true, wish->is_verbose = false;
            break;
        case 'p':
            wish->prints = true;
            break;
        case 'g':
            recipe->has_debug = true;
            break;
        case 'O':
            recipe->level = optarg;
            break;
        case 'I':
        case 'D':
            cli_words_add(&recipe->preprocessor, "-%c%s", c, optarg);
            break;
        case 'L':
        case 'l':
            cli_words_add(&recipe->linker, "-%c%s", c, optarg);
            break;
        case 'h':
            wish->only_help = true;
            printf("%s", cli_run_usage);
            return CLI_DONE;
        case ':':
        case '?':
            return cli_bad_option("run", c, argv);
        default:
            status = run_script_option(&wish->script, c);
        }
    }
    if (status == CLI_DONE && recipe->sanitizers && !run_knows_sanitizers(recipe->sanitizers))
        return cli_misuse("run", "run: --sanitize takes address, thread or undefined, not '%s'", recipe->sanitizers);
    if (status == CLI_DONE && optind == argc && !wish->script.text)
        return cli_misuse("run",
                          isatty(STDIN_FILENO) ? "run: which file? (to type a script: weft repl)" : "run: which file?");
    return status;
}

static int run_script_option(struct cli_script *script, int option) {
    switch (option) {
    case 'e':
        script->text = optarg;
        script->text_size = strlen(optarg);
        cli_words_add(&script->host, "--eval");
        cli_words_add(&script->host, "%s", optarg);
        return CLI_DONE;
    case 'c':
        cli_words_add(&script->host, "--check");
        return CLI_DONE;
    case INPUT_TYPE:
        if (strcmp(optarg, "module") != 0 && strcmp(optarg, "commonjs") != 0)
            return cli_misuse("run", "run: --input-type takes module or commonjs, not '%s'", optarg);
        cli_words_add(&script->host, "--input-type=%s", optarg);
        return CLI_DONE;
    default:
        return cli_script_option(script, "run", option, optarg);
    }
}

/* arguments: the file, or "-", or with --print the text; then what is the script's. */
static int run_script(struct run_wish *wish, char **arguments) {
    struct cli_script *script = &wish->script;
    if (wish->prints)
        cli_words_add(&script->host, "--print");
    script->file = script->text ? "[eval]" : arguments[0];
    script->arguments = arguments;
    if (!script->text && strcmp(script->file, "-") == 0) {
        int error = cli_fd_read(STDIN_FILENO, &wish->input);
        if (error)
            return cli_fail("cannot read standard input: %s", strerror(-error));
        script->file = "[stdin]";
        script->text = wish->input.bytes ? wish->input.bytes : "";
        script->text_size = wish->input.size;
    } else if (!script->text && wish->prints) {
        script->file = "[eval]";
        script->text = arguments[0];
        script->text_size = strlen(arguments[0]);
        script->arguments++;
    }
    return cli_script_run(script);
}

static bool run_knows_sanitizers(const char *list) {
    static const char *const known[] = {"address", "thread", "undefined"};
    for (;;) {
        size_t length = strcspn(list, ",");
        bool is_known = false;
        for (size_t i = 0; i < sizeof known / sizeof *known; i++)
            is_known |= strlen(known[i]) == length && strncmp(known[i], list, length) == 0;
        if (!is_known)
            return false;
        if (!list[length])
            return true;
        list += length + 1;
    }
}

static int run_check_file(const char *file) {
    if (cli_directory_exists(file))
        return cli_fail("cannot run %s: it is a directory", file);
    if (access(file, R_OK) != 0)
        return cli_fail("cannot read %s: %s", file, strerror(errno));
    if (!cli_path_has_suffix(cli_path_name(file), ".c"))
        return cli_fail("cannot run %s: it is not a C file, its name does not end in .c", file);
    return CLI_DONE;
}

static int run_print(const struct cli_recipe *recipe) {
    struct cli_words command = {0};
    struct cli_text line = {0};
    cli_recipe_command(recipe, recipe->name, NULL, &command);
    cli_text_add_quoted(&line, &command);
    puts(line.bytes);
    cli_text_term(&line);
    cli_words_term(&command);
    return CLI_DONE;
}

static int run_program(const struct run_wish *wish, char **arguments) {
    if (wish->no_cache)
        return run_once(&wish->recipe, arguments);
    const char *why;
    char *cache = cli_cache_open(&why);
    if (!cache) {
        cli_note("the program is not kept, as there is no cache: %s", why);
        return run_once(&wish->recipe, arguments);
    }
    int status = run_cached(wish, cache, arguments);
    free(cache);
    return status;
}

/* Returns only when something went wrong or the program could not be kept. */
static int run_cached(const struct run_wish *wish, const char *cache, char **arguments) {
    const struct cli_recipe *recipe = &wish->recipe;
    char key[CLI_SHA256_HEX];
    int error = cli_recipe_key(recipe, key);
    if (error)
        return cli_fail("cannot read %s: %s", recipe->file, strerror(-error));
    char *program = cli_cache_find(cache, key, recipe->name);
    if (program) {
        int status = run_execute(wish, program, arguments);
        free(program);
        return status;
    }

    char *workspace = cli_cache_workspace(cache);
    if (!workspace)
        return cli_fail("cannot make a directory in %s: %s", cache, strerror(errno));
    struct timespec started;
    clock_gettime(CLOCK_REALTIME, &started);
    int signal_number = 0;
    int status = cli_recipe_compile(recipe, workspace, &signal_number);
    if (status == CLI_DONE) {
        char *fresh = cli_format("%s/%s", workspace, recipe->name), *rule = cli_format("%s/rule", workspace);
        program = cli_cache_store(cache, key, recipe->name, fresh, rule, started);
        free(rule);
        free(fresh);
        if (!program)
            status = run_child(recipe, workspace, arguments, &signal_number);
    }
    cli_directory_remove(workspace);
    free(workspace);
    if (program) {
        cli_cache_prune(cache);
        status = run_execute(wish, program, arguments);
        free(program);
    }
    return run_end(status, signal_number);
}

static int run_once(const struct cli_recipe *recipe, char **arguments) {
    const char *base = getenv("TMPDIR");
    char *workspace = cli_format("%s/weft-XXXXXX", base && *base ? base : "/tmp");
    if (!mkdtemp(workspace)) {
        int status = cli_fail("cannot make the directory %s: %s", workspace, strerror(errno));
        free(workspace);
        return status;
    }
    int signal_number = 0;
    int status = cli_recipe_compile(recipe, workspace, &signal_number);
    if (status == CLI_DONE)
        status = run_child(recipe, workspace, arguments, &signal_number);
    cli_directory_remove(workspace);
    free(workspace);
    return run_end(status, signal_number);
}

static int run_child(const struct cli_recipe *recipe, const char *workspace, char **arguments, int *signal_number) {
    struct cli_words words = {0};
    char *program = cli_format("%s/%s", workspace, recipe->name);
    cli_words_add(&words, "%s", recipe->name);
    for (char **argument = arguments + 1; *argument; argument++)
        cli_words_add(&words, "%s", *argument);
    int status = cli_program_run(program, &words, NULL, signal_number);
    if (status < 0 && status != -EINTR)
        status = cli_fail("cannot start %s: %s", program, strerror(-status));
    cli_words_term(&words);
    free(program);
    return status;
}

static int run_execute(const struct run_wish *wish, const char *program, char **arguments) {
    if (wish->is_verbose)
        cli_note("the program is %s", program);
    fflush(NULL);
    arguments[0] = wish->recipe.name;
    execv(program, arguments);
    return cli_fail("cannot start %s: %s", program, strerror(errno));
}

/* The end of a child, or of the compiler, becomes ours; but it has left its core file already. */
static int run_end(int status, int signal_number) {
    if (!signal_number)
        return status;
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    signal(signal_number, SIG_DFL);
    raise(signal_number);
    return CLI_FAILED;
}
