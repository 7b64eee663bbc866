/* SPDX-License-Identifier: MIT
 *
 * pool/states.c - the machines of the pool: see pool/pool.h for what the states mean.
 */
#include "pool/pool.h"

WF_MACHINE_DEFINE(pool, WF_POOL_STATES)
WF_MACHINE_DEFINE(work, WF_WORK_PHASES)
