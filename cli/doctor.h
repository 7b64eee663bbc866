/* SPDX-License-Identifier: MIT
 *
 * cli/doctor.h - what a check of "weft doctor" is.
 *
 * A check looks at one thing and leaves one finding: a status, what it saw, and what the user may do about it. Checks
 * are data, in one table a topic, so that the report, its JSON form and the exit status need to know none of them:
 *
 *     ok        weft does its best with it
 *     warn      weft works, but slower or within narrower bounds
 *     missing   it is not there; weft does without, unless the check is essential
 *
 * Facts that the kernel writes into files are read below sysroot, so that the files of another machine, or made-up ones
 * in a test, can be looked at. Facts that only a system call tells are always those of the running kernel.
 */
#ifndef CLI_DOCTOR_H
#define CLI_DOCTOR_H

#include "text.h"

enum cli_status { CLI_OK, CLI_WARN, CLI_MISSING };

struct cli_finding {
    enum cli_status status;
    char value[200];
    char advice[280]; /* empty: nothing to do */
};

struct cli_patient {
    const char *sysroot; /* "" for the running system */
};

struct cli_check {
    const char *topic; /* "kernel", "machine", ... */
    const char *name;
    void (*run)(const struct cli_patient *patient, struct cli_finding *out);
    bool is_essential; /* weft does not run without it */
};

/* Each ends with a check whose name is null. */
extern const struct cli_check cli_kernel_checks[];
extern const struct cli_check cli_machine_checks[];
extern const struct cli_check cli_limit_checks[];
extern const struct cli_check cli_debug_checks[];
extern const struct cli_check cli_weft_checks[];

/* Sets status and value. */
void cli_found(struct cli_finding *out, enum cli_status status, const char *format, ...) WEFT_PRINTF(3, 4);
/* Sets the advice. */
void cli_advise(struct cli_finding *out, const char *format, ...) WEFT_PRINTF(2, 3);

/* The first line of a file below sysroot, cut to size, without its newline. Returns false, with an empty line, when the
 * file cannot be read. */
bool cli_patient_line(const struct cli_patient *patient, const char *path, char *line, size_t size);
/* The number that a file below sysroot begins with. */
bool cli_patient_number(const struct cli_patient *patient, const char *path, long long *out);

/* A number of bytes in words: "512 MiB", "23.4 GiB". Returns buffer. */
enum { CLI_BYTES_TEXT = 32 };
char *cli_bytes_text(unsigned long long bytes, char buffer[CLI_BYTES_TEXT]);

/* Processors this process may run on (its affinity), at least 1. */
int cli_processors_allowed(void);

#endif
