/* SPDX-License-Identifier: MIT
 *
 * base/point.c - the hook behind WF_POINT.
 *
 * Present in test builds only; a product build has no object here and no branch at the points themselves. A test sets it
 * while no runtime runs and clears it before it ends. The hook is called on whatever stack reached the point: a fiber's,
 * a worker's or a plain thread's, so it must be short and must not suspend a fiber.
 */
#include "base/point.h"

#ifdef WF_TESTING
void (*volatile wf_point_hook)(const char *name);
#endif

typedef int wf_point_unit_is_not_empty;
