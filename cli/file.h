/* SPDX-License-Identifier: MIT
 *
 * cli/file.h - whole files and directories.
 *
 * Errors are returned as negative errno values and said by the caller, who knows what the file was for.
 */
#ifndef CLI_FILE_H
#define CLI_FILE_H

#include <sys/types.h>

#include "text.h"

/* Adds the whole file to the text. Reads to the end, whatever size the file claims to have, so /proc works too. */
int cli_file_read(const char *path, struct cli_text *out);
/* The same for what is left to read of an open file or pipe. */
int cli_fd_read(int fd, struct cli_text *out);

/* Writes a file that must not exist yet. */
int cli_file_write_new(const char *path, const void *bytes, size_t size, mode_t mode);

bool cli_file_exists(const char *path);
bool cli_directory_exists(const char *path);

/* Makes the directory and all that are missing above it, each with that mode. */
int cli_directory_make(const char *path, mode_t mode);

/* Whether it holds nothing: 1, 0, or a negative errno value. */
int cli_directory_is_empty(const char *path);

/* Removes the directory and the files in it; one that has directories in it stays. */
void cli_directory_remove(const char *path);

/* The path up to its last slash, "." without one, "/" at the top. To be freed. */
char *cli_path_parent(const char *path);
/* What follows the last slash: a part of path itself. */
const char *cli_path_name(const char *path);
/* Whether the name ends that way. */
bool cli_path_has_suffix(const char *path, const char *suffix);

#endif
