/* SPDX-License-Identifier: MIT
 *
 * ffi/library.c - libraries that are loaded at run time, and their functions.
 *
 * Loading, finding and unloading are foreign calls: the loader runs code of the library and holds a lock meanwhile.
 * Unloading cannot be refused, so where no foreign call is to be had it happens in a blocking region.
 */
#ifdef WF_LIBFFI

#include <errno.h>
#include <stdio.h>

#include "base/atomic.h"
#include "ffi/dynamic.h"
#include "ffi/signature.h"
#include "os/library.h"
#include "os/memory.h"

enum { WHY_SIZE = 224 };

struct weft_ffi_library {
    void *handle;
    _Atomic uint32_t users; /* whoever opened it, and its symbols; any thread adds and subtracts */
};

struct library_search {
    const char *name; /* of the library, or of the symbol */
    void *handle;     /* where a symbol is looked for */
    void *found;
    weft_ffi_library *library; /* made for what was opened */
    int error;
    char why[WHY_SIZE];
};

static void library_open_here(void *opaque);
static void symbol_find_here(void *opaque);
static int symbol_find(weft_ffi_library *library, const char *name, void **address);
static weft_ffi_symbol *symbol_new(const char *signature, int *error);
static void library_unref(weft_ffi_library *library);
static void library_close_here(void *opaque);

int weft_ffi_open(weft_ffi_library **out, const char *path) {
    struct library_search search = {.name = path};
    if (!out)
        return wf_ffi_fail_null("the place for the library");
    if (path && !*path)
        return wf_ffi_fail(-EINVAL, "the name of the library is empty");
    int error = wf_ffi_foreign(library_open_here, &search);
    if (!error && search.error)
        error = wf_ffi_fail(search.error, "%s", search.why);
    if (error)
        return error;
    weft_ffi_library *library = search.library;
    library->handle = search.found;
    wf_store_relaxed(&library->users, 1);
    *out = library;
    return 0;
}

static void library_open_here(void *opaque) {
    struct library_search *search = opaque;
    search->library = wf_os_alloc(sizeof *search->library); /* not before: the call may have waited to be bound */
    if (!search->library) {
        search->error = -ENOMEM;
        snprintf(search->why, sizeof search->why, "out of memory");
        return;
    }
    search->error = wf_os_library_open(&search->found, search->name, search->why, sizeof search->why);
    if (search->error)
        wf_os_free(search->library);
}

void weft_ffi_close(weft_ffi_library *library) {
    if (library)
        library_unref(library);
}

/* The last one sees what all others did with the library: each subtraction pairs with the ones before it. */
static void library_unref(weft_ffi_library *library) {
    if (wf_fetch_sub_acq_rel(&library->users, 1) != 1)
        return;
    if (wf_ffi_foreign(library_close_here, library) != 0) {
        weft_blocking_begin();
        library_close_here(library);
        weft_blocking_end();
    }
    wf_os_free(library);
}

static void library_close_here(void *opaque) {
    weft_ffi_library *library = opaque;
    wf_os_library_close(library->handle);
}

int weft_ffi_find(void **out, weft_ffi_library *library, const char *name) {
    if (!out || !library || !name)
        return wf_ffi_fail_null(!out ? "the place for the address" : !library ? "the library" : "the name");
    return symbol_find(library, name, out);
}

int weft_ffi_bind_symbol(weft_ffi_symbol **out, weft_ffi_library *library, const char *name, const char *signature) {
    int error = 0;
    if (!out || !library || !name || !signature)
        return wf_ffi_fail_null(!out       ? "the place for the symbol"
                                : !library ? "the library"
                                : !name    ? "the name"
                                           : "the signature");
    void *address = NULL;
    error = symbol_find(library, name, &address); /* first: it may wait to be bound, and never come back */
    weft_ffi_symbol *symbol = error ? NULL : symbol_new(signature, &error);
    if (!symbol)
        return error;
    symbol->address = address;
    wf_fetch_add_relaxed(&library->users, 1); /* the caller has it open */
    symbol->library = library;
    *out = symbol;
    return 0;
}

static int symbol_find(weft_ffi_library *library, const char *name, void **address) {
    struct library_search search = {.name = name, .handle = library->handle};
    int error = wf_ffi_foreign(symbol_find_here, &search);
    if (error)
        return error;
    if (search.error)
        return wf_ffi_fail(search.error, "%s", search.why);
    *address = search.found;
    return 0;
}

static void symbol_find_here(void *opaque) {
    struct library_search *search = opaque;
    search->error = wf_os_library_find(&search->found, search->handle, search->name, search->why, sizeof search->why);
}

int weft_ffi_bind_address(weft_ffi_symbol **out, void *address, const char *signature) {
    int error = 0;
    if (!out || !address || !signature)
        return wf_ffi_fail_null(!out ? "the place for the symbol" : !address ? "the address" : "the signature");
    weft_ffi_symbol *symbol = symbol_new(signature, &error);
    if (!symbol)
        return error;
    symbol->address = address;
    *out = symbol;
    return 0;
}

static weft_ffi_symbol *symbol_new(const char *signature, int *error) {
    struct wf_signature *parsed = NULL;
    *error = wf_signature_new(&parsed, signature, WF_SIGNATURE_CALL);
    if (!parsed)
        return NULL;
    weft_ffi_symbol *symbol = wf_os_alloc(sizeof *symbol);
    if (!symbol) {
        wf_os_free(parsed);
        *error = wf_ffi_fail_memory();
        return NULL;
    }
    symbol->signature = parsed;
    return symbol;
}

void weft_ffi_symbol_free(weft_ffi_symbol *symbol) {
    if (!symbol)
        return;
    if (symbol->library)
        library_unref(symbol->library);
    wf_os_free(symbol->signature);
    wf_os_free(symbol);
}

#endif

typedef int wf_ffi_library_unit_is_not_empty;
