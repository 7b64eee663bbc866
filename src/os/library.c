/* SPDX-License-Identifier: MIT
 *
 * os/library.c - the dynamic loader.
 *
 * dlopen has no error numbers. What it has are words that end in those of the system's error, if there was one, and
 * glibc translates them when they are asked for, not when the error happens. So only dlerror runs under the C locale,
 * and code of the library never notices. The C locale is a constant: making it takes no memory.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "os/library.h"

#include <dlfcn.h>
#include <errno.h>
#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "os/fault.h"

static int refused_by_test(int fault, char *why, size_t size);
static int explain(char *why, size_t size, int otherwise);
static bool ends_with(const char *text, const char *end);

int wf_os_library_open(void **out, const char *path, char *why, size_t size) {
    int fault = wf_fault(WF_CALL_LIBRARY_OPEN);
    if (fault)
        return refused_by_test(fault, why, size);
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        return explain(why, size, -EINVAL);
    *out = handle;
    return 0;
}

static int refused_by_test(int fault, char *why, size_t size) {
    snprintf(why, size, "%s", strerror(-fault));
    return fault;
}

static int explain(char *why, size_t size, int otherwise) {
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    locale_t before = uselocale(plain);
    const char *words = dlerror();
    snprintf(why, size, "%s", words ? words : "the loader does not say why");
    int error = !words                                          ? otherwise
                : ends_with(words, "No such file or directory") ? -ENOENT
                : ends_with(words, "Cannot allocate memory")    ? -ENOMEM
                                                                : otherwise;
    uselocale(before);
    freelocale(plain);
    return error;
}

static bool ends_with(const char *text, const char *end) {
    size_t length = strlen(text);
    return length >= strlen(end) && strcmp(text + length - strlen(end), end) == 0;
}

int wf_os_library_find(void **out, void *handle, const char *name, char *why, size_t size) {
    int fault = wf_fault(WF_CALL_LIBRARY_FIND);
    if (fault)
        return refused_by_test(fault, why, size);
    dlerror(); /* forgets an older error: a symbol may be null without one */
    void *address = dlsym(handle, name);
    if (!address)
        return explain(why, size, -ENOENT);
    *out = address;
    return 0;
}

void wf_os_library_close(void *handle) {
    (void)dlclose(handle);
}
