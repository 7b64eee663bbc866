/* SPDX-License-Identifier: MIT
 *
 * pool/states.c - the machines of the pool, as data.
 *
 * What the states mean: pool/pool.h for the pool, pool/word.h for a work, pool/fork.c for a job. Debug builds check every
 * move against these tables, and docs/design/states.md is drawn from them.
 */
#include "pool/pool.h"

WF_MACHINE_DEFINE(pool, WF_POOL_STATES)
WF_MACHINE_DEFINE(work, WF_WORK_PHASES)
