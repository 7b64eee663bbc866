/* SPDX-License-Identifier: MIT
 *
 * io/whole.c - files as a whole: read, replaced, copied.
 *
 * A file is replaced by making another one beside it and giving that its name, which the kernel does in one step. The bytes are
 * synced before, so that after a crash the name never leads to a file without them, and the folder after, so that the caller
 * can rely on it. Both are named relative to the open folder: it may be moved meanwhile, and paths do not get longer.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "io/file.h"
#include "os/memory.h"

enum { COPY_BUFFER = 128 << 10, UNKNOWN_SIZE = 4096 };

/* What has been read so far. One byte more than capacity is allocated, for the zero. */
struct whole {
    char *bytes;
    size_t size;
    size_t capacity;
};

/* A path in two: the folder, open, and the name in it. */
struct whole_place {
    int folder;
    const char *name;
};

static int read_path(const char *path, size_t limit, struct whole *whole);
static int read_number(int number, size_t limit, struct whole *whole);
static int whole_reserve(struct whole *whole, size_t capacity);
static int place_open(struct whole_place *place, const char *path);
static int write_path(const char *path, const char *bytes, size_t size, unsigned mode);
static int write_new(const struct whole_place *place, char *name, const char *bytes, size_t size, unsigned mode);
static int write_pieces(int number, const char *bytes, size_t size);
static int copy_path(const char *from, const char *to, unsigned flags);
static int copy_into(int source, const struct stat *about, const char *to, bool must_be_new);
static int copy_bytes(int from, int to);
static int copy_by_hand(int from, int to);

/* ---- Reading ---- */

int weft_file_read_whole(const char *path, void **bytes, size_t *size, size_t limit) {
    struct whole whole = {0};
    int error;
    if (!path || !bytes || !size)
        return -EINVAL;
    WF_FILE_CALL(error, read_path(path, limit ? limit : SIZE_MAX - 1, &whole));
    if (error) {
        wf_os_free(whole.bytes);
        return error;
    }
    *bytes = whole.bytes;
    *size = whole.size;
    return 0;
}

void weft_file_free(void *bytes) {
    wf_os_free(bytes);
}

static int read_path(const char *path, size_t limit, struct whole *whole) {
    int number = wf_os_open(AT_FDCWD, path, O_RDONLY | O_NONBLOCK, 0);
    if (number < 0)
        return number;
    int error = read_number(number, limit, whole);
    wf_os_close_checked(number);
    return error;
}

/* The first room is for all that the file says to have, and one byte to find its end. */
static int read_number(int number, size_t limit, struct whole *whole) {
    struct stat about;
    int error = wf_os_stat_fd(number, &about);
    if (!error && !S_ISREG(about.st_mode))
        error = S_ISDIR(about.st_mode) ? -EISDIR : -EINVAL;
    if (!error && (uint64_t)about.st_size > limit)
        error = -EFBIG;
    if (!error)
        error = whole_reserve(whole, about.st_size > 0 ? (size_t)about.st_size + 1 : UNKNOWN_SIZE);
    while (!error) {
        size_t room = wf_file_piece(whole->capacity - whole->size);
        ssize_t count = wf_os_read(number, false, whole->bytes + whole->size, room);
        if (count <= 0)
            return (int)count;
        whole->size += (size_t)count;
        if (whole->size > limit)
            error = -EFBIG;
        else if (whole->size == whole->capacity)
            error = whole_reserve(whole, 2 * whole->capacity);
        if (!error)
            error = wf_file_look();
    }
    return error;
}

static int whole_reserve(struct whole *whole, size_t capacity) {
    char *bytes = capacity < PTRDIFF_MAX ? wf_os_alloc(capacity + 1) : NULL;
    if (!bytes)
        return -ENOMEM;
    if (whole->size > 0)
        memcpy(bytes, whole->bytes, whole->size);
    wf_os_free(whole->bytes);
    whole->bytes = bytes;
    whole->capacity = capacity;
    return 0;
}

/* ---- Replacing ---- */

int weft_file_write_whole(const char *path, const void *bytes, size_t size, unsigned mode) {
    int error;
    if (!path || (!bytes && size > 0) || (mode & ~07777u))
        return -EINVAL;
    WF_FILE_CALL(error, write_path(path, bytes, size, mode));
    return error;
}

static int write_path(const char *path, const char *bytes, size_t size, unsigned mode) {
    char name[WF_FILE_RANDOM_NAME];
    struct whole_place place;
    struct stat before;
    int error = place_open(&place, path);
    if (error)
        return error;
    error = wf_os_stat(place.folder, place.name, false, &before);
    bool is_there = error == 0;
    if (error == -ENOENT)
        error = 0;
    else if (is_there && S_ISDIR(before.st_mode))
        error = -EISDIR;
    if (!error && mode == 0 && is_there && S_ISREG(before.st_mode))
        mode = before.st_mode & 07777;
    if (!error)
        error = write_new(&place, name, bytes, size, mode);
    if (!error) {
        error = wf_os_rename(place.folder, name, place.folder, place.name);
        if (error)
            wf_os_unlink(place.folder, name, false);
    }
    if (!error) {
        error = wf_os_sync(place.folder, false);
        error = error == -EINVAL ? 0 : error; /* a file system whose folders cannot be synced */
    }
    wf_os_close_checked(place.folder);
    return error;
}

static int place_open(struct whole_place *place, const char *path) {
    const char *slash = strrchr(path, '/');
    place->name = slash ? slash + 1 : path;
    if (!*path)
        return -ENOENT;
    if (!*place->name || strcmp(place->name, ".") == 0 || strcmp(place->name, "..") == 0)
        return -EISDIR;
    size_t length = slash ? (size_t)(slash - path) + 1 : 1;
    char *folder = wf_os_alloc(length + 1);
    if (!folder)
        return -ENOMEM;
    memcpy(folder, slash ? path : ".", length);
    place->folder = wf_os_open(AT_FDCWD, folder, O_RDONLY | O_DIRECTORY, 0);
    wf_os_free(folder);
    return place->folder < 0 ? place->folder : 0;
}

/* After an error there is no such file. */
static int write_new(const struct whole_place *place, char *name, const char *bytes, size_t size, unsigned mode) {
    int number = wf_file_make_random(place->folder, name, mode ? 0600 : 0666);
    if (number < 0)
        return number;
    int error = write_pieces(number, bytes, size);
    if (!error && mode)
        error = wf_os_set_mode_fd(number, mode);
    if (!error)
        error = wf_os_sync(number, false);
    int close_error = wf_os_close_checked(number);
    if (!error)
        error = close_error;
    if (error)
        wf_os_unlink(place->folder, name, false);
    return error;
}

static int write_pieces(int number, const char *bytes, size_t size) {
    int error = 0;
    for (size_t done = 0; done < size && !error;) {
        ssize_t count = wf_os_write(number, false, bytes + done, wf_file_piece(size - done));
        if (count < 0)
            return (int)count;
        done += (size_t)count;
        error = wf_file_look();
    }
    return error;
}

/* ---- Copying ---- */

int weft_file_copy(const char *from, const char *to, unsigned flags) {
    int error;
    if (!from || !to || (flags & ~(unsigned)WEFT_COPY_NEW))
        return -EINVAL;
    WF_FILE_CALL(error, copy_path(from, to, flags));
    return error;
}

static int copy_path(const char *from, const char *to, unsigned flags) {
    struct stat about;
    int source = wf_os_open(AT_FDCWD, from, O_RDONLY | O_NONBLOCK, 0);
    if (source < 0)
        return source;
    int error = wf_os_stat_fd(source, &about);
    if (!error && !S_ISREG(about.st_mode))
        error = S_ISDIR(about.st_mode) ? -EISDIR : -EINVAL;
    if (!error)
        error = copy_into(source, &about, to, flags & WEFT_COPY_NEW);
    wf_os_close_checked(source);
    return error;
}

/* What is there is looked at before it is cut: it may be the source. */
static int copy_into(int source, const struct stat *about, const char *to, bool must_be_new) {
    struct stat there;
    bool is_new = true;
    int target = wf_os_open(AT_FDCWD, to, O_WRONLY | O_CREAT | O_EXCL, about->st_mode & 0777);
    if (target == -EEXIST && !must_be_new) {
        is_new = false;
        target = wf_os_open(AT_FDCWD, to, O_WRONLY | O_NONBLOCK, 0);
    }
    if (target < 0)
        return target;
    int error = is_new ? 0 : wf_os_stat_fd(target, &there);
    if (!error && !is_new) {
        bool is_same = there.st_dev == about->st_dev && there.st_ino == about->st_ino;
        error = is_same || !S_ISREG(there.st_mode) ? -EINVAL : wf_os_truncate(target, 0);
    }
    if (!error)
        error = copy_bytes(source, target);
    if (!error)
        error = wf_os_set_mode_fd(target, about->st_mode & 0777);
    int close_error = wf_os_close_checked(target);
    if (!error)
        error = close_error;
    if (error && is_new)
        wf_os_unlink(AT_FDCWD, to, false);
    return error;
}

/* The kernel refuses between some file systems, and finds nothing in files that do not know their size: reading tells. */
static int copy_bytes(int from, int to) {
    ssize_t count;
    bool is_first = true;
    int error;
    do {
        count = wf_os_copy_range(from, to, WF_FILE_PIECE);
        if (count <= 0 && is_first)
            return copy_by_hand(from, to);
        is_first = false;
        error = wf_file_look();
    } while (count > 0 && !error);
    return count < 0 ? (int)count : error;
}

static int copy_by_hand(int from, int to) {
    char *buffer = wf_os_alloc(COPY_BUFFER);
    if (!buffer)
        return -ENOMEM;
    ssize_t count;
    int error = 0;
    do {
        count = wf_os_read(from, false, buffer, COPY_BUFFER);
        if (count > 0)
            error = write_pieces(to, buffer, (size_t)count);
    } while (count > 0 && !error);
    wf_os_free(buffer);
    return count < 0 ? (int)count : error;
}
