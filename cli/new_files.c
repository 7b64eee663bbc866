/* SPDX-License-Identifier: MIT
 *
 * cli/new_files.c - what "weft new" writes.
 *
 * The program is small but whole: it splits work over fibers, joins each one it started, also when a later one could
 * not be started, and says what went wrong. People build on what they are given, so it must not teach a shortcut.
 *
 * These files belong to whoever makes the project, so they carry no licence line.
 */
#include "new_files.h"

#include <stddef.h>

static const char new_main[] =
    "/* @NAME@: counts the primes below a limit, with one fiber for each part of the range.\n"
    " *\n"
    " *     @NAME@ [LIMIT]\n"
    " */\n"
    "#include <stdbool.h>\n"
    "#include <stdio.h>\n"
    "#include <stdlib.h>\n"
    "#include <string.h>\n"
    "\n"
    "#include <weft.h>\n"
    "\n"
    "enum { PARTS = 16 };\n"
    "\n"
    "struct part {\n"
    "    long first, end; /* the numbers from first to before end */\n"
    "    long primes;     /* how many of them are prime: written by the fiber, read after joining it */\n"
    "};\n"
    "\n"
    "static bool is_prime(long number) {\n"
    "    if (number < 2)\n"
    "        return false;\n"
    "    for (long divisor = 2; divisor <= number / divisor; divisor++)\n"
    "        if (number % divisor == 0)\n"
    "            return false;\n"
    "    return true;\n"
    "}\n"
    "\n"
    "static void *count_primes(void *arg) {\n"
    "    struct part *part = arg;\n"
    "    for (long number = part->first; number < part->end; number++)\n"
    "        part->primes += is_prime(number);\n"
    "    return NULL;\n"
    "}\n"
    "\n"
    "/* The first fiber: starts the others, waits for them and adds up what they found. */\n"
    "static int app(void *arg) {\n"
    "    long limit = *(long *)arg, total = 0;\n"
    "    struct part parts[PARTS];\n"
    "    weft_fiber fibers[PARTS];\n"
    "    int started = 0, error = 0;\n"
    "\n"
    "    while (started < PARTS) {\n"
    "        struct part *part = &parts[started];\n"
    "        bool is_last = started == PARTS - 1;\n"
    "        part->first = limit / PARTS * started;\n"
    "        part->end = is_last ? limit : limit / PARTS * (started + 1);\n"
    "        part->primes = 0;\n"
    "        error = weft_spawn(&fibers[started], count_primes, part);\n"
    "        if (error)\n"
    "            break;\n"
    "        started++;\n"
    "    }\n"
    "    for (int i = 0; i < started; i++) {\n"
    "        weft_join(fibers[i], NULL, WEFT_NEVER);\n"
    "        total += parts[i].primes;\n"
    "    }\n"
    "    if (error) {\n"
    "        fprintf(stderr, \"@NAME@: cannot start a fiber: %s\\n\", strerror(-error));\n"
    "        return 1;\n"
    "    }\n"
    "    printf(\"%ld primes below %ld, counted by %d fibers\\n\", total, limit, PARTS);\n"
    "    return 0;\n"
    "}\n"
    "\n"
    "int main(int argc, char **argv) {\n"
    "    char *end = \"\";\n"
    "    long limit = argc > 1 ? strtol(argv[1], &end, 10) : 1000000;\n"
    "    if (argc > 2 || *end || limit < 0) {\n"
    "        fprintf(stderr, \"usage: @NAME@ [LIMIT]\\n\");\n"
    "        return 2;\n"
    "    }\n"
    "    int status = weft_run(NULL, app, &limit);\n"
    "    if (status < 0)\n"
    "        fprintf(stderr, \"@NAME@: weft does not start: %s\\n\", strerror(-status));\n"
    "    return status < 0 ? 1 : status;\n"
    "}\n";

static const char new_makefile[] =
    "# Builds @NAME@ against the weft that pkg-config finds. For one outside the usual places:\n"
    "#     make PKG_CONFIG_PATH=/path/to/lib/pkgconfig\n"
    "CC ?= cc\n"
    "CFLAGS ?= -O2 -g -Wall -Wextra\n"
    "PKG_CONFIG ?= pkg-config\n"
    "export PKG_CONFIG_PATH\n"
    "\n"
    "# The library's directory goes into the program, so that it is found there at run time as well.\n"
    "@NAME@: main.c\n"
    "\t@$(PKG_CONFIG) --print-errors --exists weft\n"
    "\t$(CC) -std=gnu11 $(CPPFLAGS) $(CFLAGS) $$($(PKG_CONFIG) --cflags weft) -o $@ main.c $(LDFLAGS) \\\n"
    "\t\t$$($(PKG_CONFIG) --libs weft) -Wl,-rpath,$$($(PKG_CONFIG) --variable=libdir weft) -pthread\n"
    "\n"
    "run: @NAME@\n"
    "\t./@NAME@\n"
    "\n"
    "clean:\n"
    "\trm -f @NAME@\n"
    "\n"
    ".PHONY: run clean\n";

static const char new_cmake[] = "cmake_minimum_required(VERSION 3.16)\n"
                                "project(@NAME@ LANGUAGES C)\n"
                                "\n"
                                "# For a weft outside the usual places: cmake -DCMAKE_PREFIX_PATH=/path/to/prefix\n"
                                "find_package(weft REQUIRED)\n"
                                "\n"
                                "add_executable(@NAME@ main.c)\n"
                                "target_compile_features(@NAME@ PRIVATE c_std_11)\n"
                                "target_compile_options(@NAME@ PRIVATE -Wall -Wextra)\n"
                                "target_link_libraries(@NAME@ PRIVATE weft::weft)\n";

static const char new_readme[] =
    "# @NAME@\n"
    "\n"
    "Counts primes with weft, a concurrency runtime for C: the range is split into parts, a fiber counts each part, "
    "and\n"
    "the first fiber joins them and adds up.\n"
    "\n"
    "| command | does |\n"
    "|---|---|\n"
    "| `weft run main.c` | compiles and runs in one step, nothing to set up |\n"
    "| `make run` | builds with make and pkg-config, then runs |\n"
    "| `cmake -B build && cmake --build build` | builds with CMake; the program is `build/@NAME@` |\n"
    "\n"
    "`weft doctor` tells what this machine offers; `man weft` has the rest.\n";

static const char new_gitignore[] = "/@NAME@\n"
                                    "/build/\n";

const struct cli_new_file cli_new_files[] = {
    {"main.c", new_main},      {"Makefile", new_makefile},    {"CMakeLists.txt", new_cmake},
    {"README.md", new_readme}, {".gitignore", new_gitignore}, {NULL, NULL},
};
