/* SPDX-License-Identifier: MIT
 *
 * os/ares.h - c-ares, whose system calls are made here.
 *
 * A channel belongs to one caller and shares nothing with others. Its sockets are made, used and closed by functions of ours, so
 * that they do not block, are closed on exec, and can be made to fail by tests.
 */
#ifndef WF_OS_ARES_H
#define WF_OS_ARES_H

#ifdef WF_CARES

/* Newer ones would rather have other names for what is used here, which older ones do not know. */
#define CARES_NO_DEPRECATED
#include <ares.h>

/* A channel with these options and the system's settings, which are read from files: blocks. *failure, which must outlive the
 * channel, becomes the error of the last socket that could not be had for want of something: -EMFILE or -ENOMEM. Returns 0;
 * -ENOMEM; -EMFILE; -EAGAIN when the settings cannot be read. */
int wf_os_ares_open(ares_channel *out, struct ares_options *options, int mask, int *failure);

#endif

#endif
