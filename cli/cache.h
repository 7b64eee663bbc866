/* SPDX-License-Identifier: MIT
 *
 * cli/cache.h - compiled programs, kept under a name that says what they were made from.
 *
 * The directory is $XDG_CACHE_HOME/weft, else ~/.cache/weft. It holds:
 *
 *     KEY.inputs      the files that the compiler read for this key (source and headers), one path a line
 *     NAME-DIGEST     the program; DIGEST covers the key and the contents of all those files
 *     new-XXXXXX/     where somebody compiles just now
 *
 * The key is a hash of all that is known before compiling: source, options, compiler, library. Which headers belong to
 * it is known only afterwards, hence the second step: a changed header gives another digest, so a program that is out of
 * date is never found and none is ever overwritten with something else. New files are written beside their final place
 * and renamed, so any number of processes may use the cache at once.
 */
#ifndef CLI_CACHE_H
#define CLI_CACHE_H

#include <time.h>

#include "text.h"

/* Opens the directory, making it where necessary. Returns NULL, with why set, when it cannot be trusted or written to.
 * To be freed. */
char *cli_cache_open(const char **why);

/* The program for that key, or NULL. name is what its file is to begin with. To be freed. */
char *cli_cache_find(const char *cache, const char *key, const char *name);

/* A directory to compile in, inside the cache so that a rename can take the result over, or NULL. To be freed; whoever
 * made it removes it. */
char *cli_cache_workspace(const char *cache);

/* Moves a fresh program into the cache. rule is the file in which the compiler wrote down what it read (a make rule);
 * started is when the compiler was started: a file that changed since then was perhaps read in its old form, and the
 * program is not kept. Returns the new path, to be freed, or NULL when the cache did not take it. */
char *cli_cache_store(const char *cache, const char *key, const char *name, const char *program, const char *rule,
                      struct timespec started);

/* Removes what nobody has used for a month. */
void cli_cache_prune(const char *cache);

#endif
