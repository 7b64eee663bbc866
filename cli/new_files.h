/* SPDX-License-Identifier: MIT
 *
 * cli/new_files.h - the files of a new project.
 *
 * In each template @NAME@ stands for the project's name. The list ends with a null name.
 */
#ifndef CLI_NEW_FILES_H
#define CLI_NEW_FILES_H

struct cli_new_file {
    const char *name;
    const char *template;
};

extern const struct cli_new_file cli_new_files[];

#endif
