/* SPDX-License-Identifier: MIT
 *
 * os/beneath.h - opening what lies inside a folder, and nothing that does not.
 *
 * For paths that come from somebody else, such as the client of a server. No "..", no absolute path, no link and no change that
 * is made while the path is walked leads out of the folder.
 */
#ifndef WF_OS_BENEATH_H
#define WF_OS_BENEATH_H

/* Opens for reading, without waiting, closed on exec. path is relative, without a slash in front. Returns the descriptor; -EXDEV
 * and -ELOOP for what leads out, and every error of open. */
int wf_os_open_beneath(const char *folder, const char *path);

#endif
