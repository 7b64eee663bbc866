/* SPDX-License-Identifier: MIT
 *
 * cli/cgroup.h - the limits that control groups put on this process.
 *
 * A limit may stand at the process's own group or at any group above it, and the tightest one holds. Both hierarchies
 * are read, the unified one (v2) and the older ones by controller (v1), as a machine may have both.
 */
#ifndef CLI_CGROUP_H
#define CLI_CGROUP_H

#include "doctor.h"

/* Each returns true and sets out when there is a limit, false when there is none (or nothing that can be read). */

/* Processors worth of time: 1.5 means 150 ms in every 100 ms. */
bool cli_cgroup_processors(const struct cli_patient *patient, double *out);
/* Bytes of memory. */
bool cli_cgroup_memory(const struct cli_patient *patient, unsigned long long *out);
/* Threads and processes together. */
bool cli_cgroup_tasks(const struct cli_patient *patient, unsigned long long *out);

#endif
