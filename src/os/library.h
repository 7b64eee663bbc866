/* SPDX-License-Identifier: MIT
 *
 * os/library.h - shared libraries: loading them and finding what is in them.
 *
 * The loader explains itself in words only. They are handed over in English, whatever the locale, and the error number
 * is taken from them. Any of these may run code of the library and may wait for another thread that does: a caller that
 * is a fiber makes a foreign call of it. The words come from the calling thread, so nobody may move in between; inside
 * a foreign call nobody does.
 */
#ifndef WF_OS_LIBRARY_H
#define WF_OS_LIBRARY_H

#include <stddef.h>

/* Loads a library with everything that it needs; a null path is the program itself. Returns 0; -ENOENT when it, or one
 * that it needs, is not there; -ENOMEM; -EINVAL for everything else. On failure why gets the loader's words, cut to
 * size. */
int wf_os_library_open(void **out, const char *path, char *why, size_t size);

/* The address of a symbol. Returns 0; -ENOENT when there is none of that name, or it is null; -ENOMEM. */
int wf_os_library_find(void **out, void *handle, const char *name, char *why, size_t size);

void wf_os_library_close(void *handle);

#endif
