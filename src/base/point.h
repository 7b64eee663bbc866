/* SPDX-License-Identifier: MIT
 *
 * base/point.h - named places where a test can step between two instructions.
 *
 * WF_POINT("park.before_commit") does nothing in a product build. In a test build it calls the function that the test
 * has put into wf_point_hook, with the name, so that a bad interleaving is forced instead of hoped for: the hook may
 * wake somebody, block on a gate of the test, or yield the thread.
 *
 * The hook is the one mutable global of the runtime; it exists in test builds only and is set while nothing runs.
 */
#ifndef WF_BASE_POINT_H
#define WF_BASE_POINT_H

#ifdef WF_TESTING
extern void (*volatile wf_point_hook)(const char *name);
#define WF_POINT(name) \
    do { \
        if (wf_point_hook) \
            wf_point_hook(name); \
    } while (0)
#else
#define WF_POINT(name) \
    do { \
    } while (0)
#endif

#endif
