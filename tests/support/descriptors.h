/* SPDX-License-Identifier: MIT
 *
 * support/descriptors.h - how many descriptors the process has, give or take those that it takes to count them.
 *
 * To be compared before and after.
 */
#ifndef WF_SUPPORT_DESCRIPTORS_H
#define WF_SUPPORT_DESCRIPTORS_H

#include <dirent.h>

static inline int count_descriptors(void) {
    DIR *folder = opendir("/proc/self/fd");
    int count = 0;
    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}

#endif
