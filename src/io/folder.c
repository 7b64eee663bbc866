/* SPDX-License-Identifier: MIT
 *
 * io/folder.c - reading, making and removing folders.
 *
 * A tree is removed from open folder to open folder, by names with no slash in them, which are not followed: so it cannot be led
 * out of the tree, whatever is renamed or linked meanwhile. One descriptor is open for each level, TREE_DEPTH at most. A
 * folder that lies deeper is moved up to the top under a name of its own and found there later; the tree gets flatter with
 * each, so any depth is done with that many descriptors.
 *
 *     top/a/b/c/d, depth 3:   at top/a/b/c    d is moved    top/.weft-1, top/a/b/c
 */
#include <errno.h>
#include <fcntl.h>
#include <stdalign.h>
#include <string.h>

#include "io/file.h"
#include "os/memory.h"

/* A name takes at most 280 bytes of a buffer. */
enum { FOLDER_BUFFER = 32 << 10, TREE_BUFFER = 2 << 10 };
#ifdef WF_TESTING
enum { TREE_DEPTH = 3 };
#else
enum { TREE_DEPTH = 32 };
#endif
/* Something was made in it after it had been found empty, as when two remove one tree: not the tenth time in a row. */
enum { REMOVAL_TRIES = 10 };

struct weft_folder {
    int number;
    size_t at; /* in buffer; used bytes of it were read */
    size_t used;
    alignas(8) char buffer[FOLDER_BUFFER];
};

/* A folder of the tree that is being emptied. */
struct tree_level {
    int number;
    bool has_removed; /* something, since it was read from its beginning */
    size_t at;
    size_t used;
    char name[256]; /* in the level above */
    alignas(8) char buffer[TREE_BUFFER];
};

struct tree {
    unsigned depth; /* of the level that is being emptied */
    struct tree_level levels[TREE_DEPTH];
};

static int folder_open_path(weft_folder *folder, const char *path);
static int folder_refill(weft_folder *folder);
static int folder_find_kind(weft_folder *folder, weft_folder_entry *out);
static int make_all(char *path, unsigned mode);
static int accept_folder(const char *path);
static int remove_path(const char *path);
static int remove_tree(struct tree *tree, const char *path);
static int tree_step(struct tree *tree);
static int tree_remove_entry(struct tree *tree, const char *name, bool is_folder);
static int tree_go_down(struct tree *tree, const char *name);
static void tree_enter(struct tree_level *level, int number, const char *name);
static int tree_go_up(struct tree *tree);

static bool is_dots(const char *name) {
    return name[0] == '.' && (!name[1] || (name[1] == '.' && !name[2]));
}

/* ---- Reading ---- */

int weft_folder_open(weft_folder **out, const char *path) {
    int error;
    if (!out || !path)
        return -EINVAL;
    weft_folder *folder = wf_os_alloc(sizeof *folder);
    if (!folder)
        return -ENOMEM;
    WF_FILE_CALL(error, folder_open_path(folder, path));
    if (error) {
        wf_os_free(folder);
        return error;
    }
    *out = folder;
    return 0;
}

static int folder_open_path(weft_folder *folder, const char *path) {
    folder->number = wf_os_open(AT_FDCWD, path, O_RDONLY | O_DIRECTORY, 0);
    return folder->number < 0 ? folder->number : 0;
}

int weft_folder_next(weft_folder *folder, weft_folder_entry *out) {
    struct wf_os_entry entry;
    if (!folder || !out)
        return -EINVAL;
    do {
        if (folder->at == folder->used) {
            int result;
            WF_FILE_CALL(result, folder_refill(folder));
            if (result <= 0)
                return result;
        }
        entry = wf_os_folder_entry(folder->buffer + folder->at);
        folder->at += entry.bytes;
    } while (is_dots(entry.name));
    out->name = entry.name;
    out->number = entry.number;
    out->kind = wf_file_kind(entry.format);
    if (entry.format == 0)
        return folder_find_kind(folder, out);
    return 1;
}

/* Returns 1, or 0 at the end. */
static int folder_refill(weft_folder *folder) {
    ssize_t count = wf_os_folder_read(folder->number, folder->buffer, sizeof folder->buffer);
    if (count <= 0)
        return (int)count;
    folder->at = 0;
    folder->used = (size_t)count;
    return 1;
}

/* Some file systems do not tell the kind with the name. One that is removed meanwhile has none. */
static int folder_find_kind(weft_folder *folder, weft_folder_entry *out) {
    struct stat about;
    int error;
    WF_FILE_CALL(error, wf_os_stat(folder->number, out->name, false, &about));
    if (!error)
        out->kind = wf_file_kind(about.st_mode);
    return error && error != -ENOENT ? error : 1;
}

void weft_folder_close(weft_folder *folder) {
    if (!folder)
        return;
    wf_os_close_checked(folder->number);
    wf_os_free(folder);
}

/* ---- Making ---- */

int weft_folder_make(const char *path, unsigned mode) {
    int error;
    if (!path)
        return -EINVAL;
    WF_FILE_CALL(error, wf_os_make_folder(path, mode ? mode : 0777));
    return error;
}

int weft_folder_make_all(const char *path, unsigned mode) {
    int error;
    if (!path)
        return -EINVAL;
    size_t size = strlen(path) + 1;
    char *copy = wf_os_alloc(size);
    if (!copy)
        return -ENOMEM;
    memcpy(copy, path, size);
    WF_FILE_CALL(error, make_all(copy, mode ? mode : 0777));
    wf_os_free(copy);
    return error;
}

/* Upwards to what is there, then down again. The slash after what is made is a zero meanwhile. */
static int make_all(char *path, unsigned mode) {
    size_t length = strlen(path), end = length;
    int error = wf_os_make_folder(path, mode);
    while (error == -ENOENT && end > 0) {
        while (end > 0 && path[end - 1] != '/')
            end--;
        while (end > 0 && path[end - 1] == '/')
            end--;
        if (end == 0)
            return error;
        path[end] = 0;
        error = wf_os_make_folder(path, mode);
    }
    while (end < length && (!error || error == -EEXIST)) {
        path[end] = '/';
        end += strlen(path + end);
        error = wf_os_make_folder(path, mode);
    }
    return error == -EEXIST ? accept_folder(path) : error;
}

static int accept_folder(const char *path) {
    struct stat about;
    int error = wf_os_stat(AT_FDCWD, path, true, &about);
    return error ? error : S_ISDIR(about.st_mode) ? 0 : -EEXIST;
}

/* ---- Removing ---- */

int weft_folder_remove(const char *path) {
    int error;
    if (!path)
        return -EINVAL;
    WF_FILE_CALL(error, wf_os_unlink(AT_FDCWD, path, true));
    return error;
}

int weft_folder_remove_all(const char *path) {
    int error;
    if (!path)
        return -EINVAL;
    WF_FILE_CALL(error, remove_path(path));
    return error == -ENOENT && *path ? 0 : error;
}

/* What is not a folder, or is an empty one, needs no memory. */
static int remove_path(const char *path) {
    size_t end = strlen(path);
    while (end > 1 && path[end - 1] == '/')
        end--;
    size_t begin = end;
    while (begin > 0 && path[begin - 1] != '/')
        begin--;
    if ((end - begin == 1 && path[begin] == '.') || (end - begin == 2 && path[begin] == '.' && path[begin + 1] == '.'))
        return -EINVAL;
    int error = wf_os_unlink(AT_FDCWD, path, false);
    if (error != -EISDIR)
        return error;
    error = wf_os_unlink(AT_FDCWD, path, true);
    if (error != -ENOTEMPTY && error != -EEXIST)
        return error;
    struct tree *tree = wf_os_alloc(sizeof *tree);
    if (!tree)
        return -ENOMEM;
    int tries = REMOVAL_TRIES;
    do {
        error = remove_tree(tree, path);
        if (!error)
            error = wf_os_unlink(AT_FDCWD, path, true);
    } while (error == -ENOTEMPTY && --tries > 0);
    wf_os_free(tree);
    return error;
}

/* All that is in it. */
static int remove_tree(struct tree *tree, const char *path) {
    int result = wf_os_open(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
    if (result < 0)
        return result;
    tree->depth = 0;
    tree_enter(&tree->levels[0], result, "");
    do {
        result = tree_step(tree);
    } while (result > 0);
    for (unsigned i = 0; i <= tree->depth; i++)
        wf_os_close_checked(tree->levels[i].number);
    return result;
}

/* One entry, or the end of one folder. Returns 1; 0 when the top is empty. */
static int tree_step(struct tree *tree) {
    struct tree_level *level = &tree->levels[tree->depth];
    if (level->at == level->used) {
        int error = wf_file_look();
        ssize_t count = error ? error : wf_os_folder_read(level->number, level->buffer, sizeof level->buffer);
        if (count < 0)
            return (int)count;
        if (count == 0)
            return tree_go_up(tree);
        level->at = 0;
        level->used = (size_t)count;
    }
    struct wf_os_entry entry = wf_os_folder_entry(level->buffer + level->at);
    level->at += entry.bytes;
    if (is_dots(entry.name))
        return 1;
    int error = tree_remove_entry(tree, entry.name, S_ISDIR(entry.format));
    return error ? error : 1;
}

/* Its kind is taken for a hint: it may be another thing by now. */
static int tree_remove_entry(struct tree *tree, const char *name, bool is_folder) {
    struct tree_level *level = &tree->levels[tree->depth];
    int error = wf_os_unlink(level->number, name, is_folder);
    if (error == (is_folder ? -ENOTDIR : -EISDIR))
        error = wf_os_unlink(level->number, name, !is_folder);
    if (error == -ENOTEMPTY || error == -EEXIST)
        return tree_go_down(tree, name);
    level->has_removed |= !error;
    return error == -ENOENT ? 0 : error;
}

static int tree_go_down(struct tree *tree, const char *name) {
    struct tree_level *level = &tree->levels[tree->depth];
    if (tree->depth + 1 == TREE_DEPTH) {
        char moved[WF_FILE_RANDOM_NAME];
        wf_file_random_name(moved);
        int error = wf_os_rename(level->number, name, tree->levels[0].number, moved);
        level->has_removed |= !error;
        return error == -ENOENT ? 0 : error;
    }
    int number = wf_os_open(level->number, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
    if (number < 0)
        return number == -ENOENT ? 0 : number;
    tree->depth++;
    tree_enter(level + 1, number, name);
    return 0;
}

static void tree_enter(struct tree_level *level, int number, const char *name) {
    level->number = number;
    level->at = level->used = 0;
    level->has_removed = false;
    memcpy(level->name, name, strlen(name) + 1);
}

/* The folder has been read to its end. If it is not empty even so, because something was made in it meanwhile or the file system
 * has skipped something, it is read again, as long as that leads to anything. At the top that is where the deep ones are. */
static int tree_go_up(struct tree *tree) {
    struct tree_level *level = &tree->levels[tree->depth];
    int error = tree->depth == 0 ? -ENOTEMPTY : wf_os_unlink(level[-1].number, level->name, true);
    if ((error == -ENOTEMPTY || error == -EEXIST) && level->has_removed) {
        level->has_removed = false;
        error = wf_os_folder_rewind(level->number);
        return error ? error : 1;
    }
    if (tree->depth == 0)
        return 0;
    if (error && error != -ENOENT)
        return error;
    wf_os_close_checked(level->number);
    level[-1].has_removed = true;
    tree->depth--;
    return 1;
}
