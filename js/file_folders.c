/* SPDX-License-Identifier: MIT
 *
 * js/file_folders.c - calls on folders: making, listing and removing them, and news of what happens in them. See js/file.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "file.h"

/* ---- Making ---- */

/* It may be there already, or be something else. is_above: others were to be made in it. */
static int make_one(const char *path, mode_t mode, bool is_above) {
    struct stat about;
    if (mkdir(path, mode) == 0)
        return 1;
    int error = -errno;
    if (error == -ENOENT || error == -ENOTDIR || error == -EACCES || error == -EPERM || error == -ENOSPC)
        return error;
    if (stat(path, &about) != 0)
        return -errno;
    return S_ISDIR(about.st_mode) ? 0 : is_above ? -ENOTDIR : -EEXIST;
}

/* Upwards to what is there, then down again; the slash after what is made is a zero meanwhile. The first that was made is
 * call->bytes. */
static int make_all(struct wf_js_file_call *call, char *path, mode_t mode) {
    size_t length = strlen(path), end = length;
    int made = make_one(path, mode, false);
    while (made == -ENOENT) {
        char *slash = memrchr(path, '/', end);
        if (!slash || slash == path)
            return made;
        end = (size_t)(slash - path);
        path[end] = 0;
        made = make_one(path, mode, true);
    }
    while (made >= 0) {
        if (made && !call->bytes && !(call->bytes = strdup(path)))
            return -ENOMEM;
        if (end == length)
            return 0;
        path[end] = '/';
        end += strlen(path + end);
        made = make_one(path, mode, end < length);
    }
    return made;
}

/* mkdir(path, mode, with those above it) -> the first that was made */
static ssize_t run_mkdir(struct wf_js_file_call *call) {
    mode_t mode = (mode_t)call->numbers[0];
    if (!call->numbers[1])
        return mkdir(call->path, mode) == 0 ? 0 : -errno;
    char *path = strdup(call->path);
    int error = path ? make_all(call, path, mode) : -ENOMEM;
    free(path);
    return error;
}

static JSValue give_made(JSContext *context, struct wf_js_file_call *call) {
    return call->bytes ? wf_js_new_text(context, call->bytes, strlen(call->bytes)) : JS_UNDEFINED;
}

/* mkdtemp(prefix, as bytes) -> path */
static ssize_t run_mkdtemp(struct wf_js_file_call *call) {
    static const char random[] = "XXXXXX";
    size_t length = strlen(call->path);
    char *path = malloc(length + sizeof random);
    if (!path)
        return -ENOMEM;
    memcpy(path, call->path, length);
    memcpy(path + length, random, sizeof random);
    call->bytes = path;
    if (mkdtemp(path))
        return 0;
    int error = -errno;
    memcpy(path + length, random, sizeof random);
    call->bytes = NULL;
    return wf_js_file_fail(call, error, "mkdtemp", path);
}

static JSValue give_temporary(JSContext *context, struct wf_js_file_call *call) {
    size_t size = strlen(call->bytes);
    if (!call->numbers[0])
        return wf_js_new_text(context, call->bytes, size);
    char *bytes = call->bytes;
    call->bytes = NULL;
    return wf_js_give_bytes(context, bytes, size);
}

/* ---- Listing ---- */

static int listing_add(struct wf_js_listing *listing, const weft_folder_entry *entry, int32_t home) {
    if (listing->count == listing->room) {
        int32_t room = listing->room ? 2 * listing->room : 32;
        struct wf_js_entry *longer = room > 0 ? realloc(listing->entries, (size_t)room * sizeof *longer) : NULL;
        if (!longer)
            return -ENOMEM;
        listing->entries = longer;
        listing->room = room;
    }
    char *name = strdup(entry->name);
    if (!name)
        return -ENOMEM;
    listing->entries[listing->count++] = (struct wf_js_entry){.name = name, .kind = entry->kind, .home = home};
    return 0;
}

static void listing_free(struct wf_js_listing *listing) {
    for (int32_t i = 0; i < listing->count; i++)
        free(listing->entries[i].name);
    free(listing->entries);
}

static int by_name(const void *one, const void *other) {
    return strcmp(((const struct wf_js_entry *)one)->name, ((const struct wf_js_entry *)other)->name);
}

/* The path of an entry, below a folder if there is one; made by malloc. */
static char *entry_path(const struct wf_js_listing *listing, const char *folder, int32_t index) {
    size_t size = folder ? strlen(folder) + 1 : 0;
    for (int32_t i = index; i >= 0; i = listing->entries[i].home)
        size += strlen(listing->entries[i].name) + 1;
    char *path = malloc(size + 1), *at = path ? path + size : NULL;
    if (!path)
        return NULL;
    *at = 0;
    for (int32_t i = index; i >= 0; i = listing->entries[i].home) {
        size_t length = strlen(listing->entries[i].name);
        if (at < path + size)
            *--at = '/';
        at -= length;
        memcpy(at, listing->entries[i].name, length);
    }
    if (folder) {
        *--at = '/';
        at -= strlen(folder);
        memcpy(at, folder, strlen(folder));
    }
    memmove(path, at, strlen(at) + 1);
    return path;
}

/* Adds what is in one folder, in order of names. On an error the path is told. */
static int list_one(struct wf_js_file_call *call, char *path, int32_t home) {
    struct wf_js_listing *listing = &call->listing;
    int32_t first = listing->count;
    weft_folder *folder;
    weft_folder_entry entry;
    int error = weft_folder_open(&folder, path);
    if (!error) {
        while ((error = weft_folder_next(folder, &entry)) > 0)
            if ((error = listing_add(listing, &entry, home)) != 0)
                break;
        weft_folder_close(folder);
    }
    if (error)
        return wf_js_file_fail(call, error, call->numbers[3] ? "opendir" : "scandir", path);
    if (listing->count > first)
        qsort(listing->entries + first, (size_t)(listing->count - first), sizeof *listing->entries, by_name);
    free(path);
    return 0;
}

/* Whether to go into it. Links are followed where that is asked for; a circle of them ends where the kernel ends it. */
static bool is_gone_into(const struct wf_js_listing *listing, int32_t index, const char *path, bool follows) {
    weft_file_info about;
    int kind = listing->entries[index].kind;
    return kind == WEFT_FILE_FOLDER ||
           (follows && kind == WEFT_FILE_LINK && weft_file_stat(path, &about) == 0 && about.kind == WEFT_FILE_FOLDER);
}

enum { LIST_ALL = 1, LIST_FOLLOWS = 2, LIST_LAST_FIRST = 4 };

/* Folders wait in line, the first to come or the last to come first. */
static int list_all(struct wf_js_file_call *call, unsigned how) {
    struct wf_js_listing *listing = &call->listing;
    int32_t *line = NULL, begin = 0, end = 0, room = 0, seen = 0;
    int error = 0;
    while (!error) {
        for (; seen < listing->count && !error; seen++) {
            char *path = entry_path(listing, call->path, seen);
            bool is_folder = path && is_gone_into(listing, seen, path, how & LIST_FOLLOWS);
            error = path ? wf_js_file_look(call) : -ENOMEM;
            free(path);
            if (is_folder && end == room) {
                int32_t *longer = realloc(line, (size_t)(room = 2 * room + 16) * sizeof *line);
                if (!longer) {
                    error = -ENOMEM;
                    break;
                }
                line = longer;
            }
            if (is_folder)
                line[end++] = seen;
        }
        if (error || begin == end)
            break;
        int32_t next = how & LIST_LAST_FIRST ? line[--end] : line[begin++];
        char *path = entry_path(listing, call->path, next);
        error = path ? list_one(call, path, next) : -ENOMEM;
    }
    free(line);
    return error;
}

/* list(path, how, kinds too, as bytes, as opendir) -> [paths], or [names, kinds, folders below the path] */
static ssize_t run_list(struct wf_js_file_call *call) {
    unsigned how = (unsigned)call->numbers[0];
    char *path = strdup(call->path);
    int error = path ? list_one(call, path, -1) : -ENOMEM;
    if (!error && how & LIST_ALL)
        error = list_all(call, how);
    if (error)
        listing_free(&call->listing);
    return error;
}

static JSValue text_or_bytes(JSContext *context, const char *name, bool is_bytes) {
    return is_bytes ? JS_NewUint8ArrayCopy(context, (const uint8_t *)name, strlen(name))
                    : wf_js_new_text(context, name, strlen(name));
}

static JSValue relative_path(JSContext *context, const struct wf_js_listing *listing, int32_t index, bool is_bytes) {
    if (index < 0)
        return JS_NewString(context, "");
    char *path = entry_path(listing, NULL, index);
    JSValue value = path ? text_or_bytes(context, path, is_bytes) : JS_ThrowOutOfMemory(context);
    free(path);
    return value;
}

static bool put(JSContext *context, JSValueConst list, int32_t index, JSValue value) {
    return !JS_IsException(value) && JS_SetPropertyUint32(context, list, (uint32_t)index, value) >= 0;
}

static JSValue give_list(JSContext *context, struct wf_js_file_call *call) {
    struct wf_js_listing *listing = &call->listing;
    bool has_kinds = call->numbers[1] != 0, is_bytes = call->numbers[2] != 0;
    JSValue parts[3] = {JS_NewArray(context), JS_NewArray(context), JS_NewArray(context)}, list = JS_NewArray(context);
    bool is_good = !JS_IsException(list);
    for (int i = 0; i < 3; i++)
        is_good = is_good && !JS_IsException(parts[i]);
    for (int32_t i = 0; i < listing->count; i++) {
        const struct wf_js_entry *entry = &listing->entries[i];
        if (is_good && has_kinds)
            is_good = put(context, parts[0], i, text_or_bytes(context, entry->name, is_bytes)) &&
                      put(context, parts[1], i, JS_NewInt32(context, entry->kind)) &&
                      put(context, parts[2], i, relative_path(context, listing, entry->home, false));
        else if (is_good)
            is_good = put(context, parts[0], i, relative_path(context, listing, i, is_bytes));
    }
    listing_free(listing);
    for (int i = 0; i < 3; i++) {
        if (!is_good)
            JS_FreeValue(context, parts[i]);
        else
            is_good = put(context, list, i, parts[i]);
    }
    if (is_good)
        return list;
    JS_FreeValue(context, list);
    return JS_EXCEPTION;
}

/* ---- Removing ---- */

static ssize_t run_rmdir(struct wf_js_file_call *call) {
    return weft_folder_remove(call->path);
}

/* remove(path, with what is in it, whether it need not be there) */
static ssize_t run_remove(struct wf_js_file_call *call) {
    bool is_deep = call->numbers[0] != 0, is_forced = call->numbers[1] != 0;
    weft_file_info about = {0};
    int error = weft_file_stat_link(call->path, &about);
    if (error == -ENOENT && is_forced)
        return 0;
    if (error && !is_forced) {
        call->failed_call = "lstat";
        return error;
    }
    bool is_folder = about.kind == WEFT_FILE_FOLDER;
    call->failed_call = !is_folder ? "unlink" : is_deep ? "rmdir" : "rm";
    if (is_folder)
        return is_deep ? weft_folder_remove_all(call->path) : -EISDIR;
    error = weft_file_remove(call->path);
    return error == -ENOENT && is_forced ? 0 : error;
}

/* ---- News ---- */

/* watch() -> handle */
static ssize_t run_watch(struct wf_js_file_call *call) {
    weft_watch watch;
    int error = weft_watch_open(&watch);
    if (!error)
        call->fd = watch.fd;
    return error;
}

static JSValue give_watch(JSContext *context, struct wf_js_file_call *call) {
    return wf_js_file_give(context, call->fd, false);
}

/* watchAdd(handle, path, what) -> its id */
static ssize_t run_watch_add(struct wf_js_file_call *call) {
    return weft_watch_add((weft_watch){.fd = call->file->fd}, call->path, (unsigned)call->numbers[0]);
}

/* watchRemove(handle, id) */
static ssize_t run_watch_remove(struct wf_js_file_call *call) {
    return weft_watch_remove((weft_watch){.fd = call->file->fd}, (int)call->numbers[0]);
}

static JSValue give_id(JSContext *context, struct wf_js_file_call *call) {
    return JS_NewInt64(context, call->count);
}

/* watchNext(handle) -> [id, what, name, is a folder, cookie] */
static ssize_t run_watch_next(struct wf_js_file_call *call) {
    return weft_watch_next((weft_watch){.fd = call->file->fd}, &call->event, WEFT_NEVER);
}

static JSValue give_news(JSContext *context, struct wf_js_file_call *call) {
    const weft_watch_event *event = &call->event;
    JSValue list = JS_NewArray(context);
    if (JS_IsException(list))
        return list;
    if (put(context, list, 0, JS_NewInt32(context, event->id)) &&
        put(context, list, 1, JS_NewInt32(context, (int32_t)event->what)) &&
        put(context, list, 2, wf_js_new_text(context, event->name, strlen(event->name))) &&
        put(context, list, 3, JS_NewBool(context, event->is_folder)) &&
        put(context, list, 4, JS_NewInt64(context, event->cookie)))
        return list;
    JS_FreeValue(context, list);
    return JS_EXCEPTION;
}

const struct wf_js_file_operation wf_js_file_folders[] = {
    {"mkdir", "pii", "mkdir", NULL, true, false, run_mkdir, give_made},
    {"mkdtemp", "pi", "mkdtemp", NULL, true, false, run_mkdtemp, give_temporary},
    {"list", "piiii", "scandir", NULL, false, false, run_list, give_list},
    {"rmdir", "p", "rmdir", NULL, false, false, run_rmdir, NULL},
    {"remove", "pii", "rm", NULL, false, false, run_remove, NULL},
    {"watch", "", "watch", "watch", false, false, run_watch, give_watch},
    {"watchAdd", "fpi", "watch", "watch", false, false, run_watch_add, give_id},
    {"watchRemove", "fi", "watch", "watch", false, false, run_watch_remove, NULL},
    {"watchNext", "f", "watch", "watch", false, false, run_watch_next, give_news},
    {0},
};
