/* SPDX-License-Identifier: MIT
 *
 * weft/file.h - files, folders, and news of what happens to them.
 *
 *     weft_fd log;
 *     weft_file_open(&log, "app.log", WEFT_OPEN_APPEND | WEFT_OPEN_CREATE, 0);
 *     weft_write_all(log, line, strlen(line), WEFT_NEVER);
 *     weft_close(log);
 *
 *     char *text;
 *     size_t size;
 *     if (weft_file_read_whole("app.conf", (void **)&text, &size, 1 << 20) == 0) {      // ends with a zero
 *         parse(text);
 *         weft_file_free(text);
 *     }
 *
 * An open file is a weft_fd: read, write and close it by weft/io.h. Disks cannot be waited for, so each call here keeps its
 * thread until it is done, and the fiber is inside a blocking region meanwhile (weft/thread.h): the others go on. That is why
 * these calls have no deadline. A cancelled fiber gets -ECANCELED before anything is done, and between the pieces, of 1 MiB,
 * of what is long; clean up inside a shield (weft/scope.h). All of them may be called by fibers and by plain threads.
 *
 * A path is any bytes but zero, as the kernel takes it. Those of a fiber are relative to the current folder of the process.
 * Besides what is said below every call may return the errors of the kernel: -ENOENT, -EACCES, -EPERM, -ENOTDIR, -ELOOP,
 * -ENAMETOOLONG, -ENOSPC, -EROFS, -EIO and so on; -ECANCELED; -ENOMEM; and -EINVAL for null where something has to be.
 */
#ifndef WEFT_FILE_H
#define WEFT_FILE_H

#include "weft/io.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Files ---- */

/* How a file is opened: at least one of the first three. */
enum {
    WEFT_OPEN_READ = 1,
    WEFT_OPEN_WRITE = 2,
    WEFT_OPEN_APPEND = 4,     /* to write: each write goes to where the end is then, whoever else writes */
    WEFT_OPEN_CREATE = 8,     /* is made if it is not there */
    WEFT_OPEN_NEW = 16,       /* is made, and -EEXIST if it is there */
    WEFT_OPEN_EMPTY = 32,     /* what was in it goes; to write */
    WEFT_OPEN_SYNC = 64,      /* a write returns when its bytes are on the disk */
    WEFT_OPEN_NO_FOLLOW = 128 /* -ELOOP if it is a symbolic link */
};

/* Opens a file; mode is for one that is made, less the umask, 0: 0666. It is closed on exec. Nobody is waited for: a FIFO opens
 * for reading at once, and the first weft_read waits until somebody has written to it, or has opened and closed it; for writing
 * it is -ENXIO while nobody reads. Returns 0; -EISDIR for a folder that is to be written; -EAGAIN when another process has a lease
 * on it; -EMFILE, -ENFILE; -EINVAL for flags that make no sense. */
WEFT_API int weft_file_open(weft_fd *out, const char *path, unsigned flags, unsigned mode);

/* A new file in that folder, to read and write, that nobody else has: mode 0600. folder null: where TMPDIR says, or /tmp. With a
 * null path it has no name and goes when it is closed; otherwise its path is written there, and it stays until it is removed.
 * Returns 0; -ENOSPC when size is too small for the path. */
WEFT_API int weft_file_temporary(weft_fd *out, const char *folder, char *path, size_t size);

/* At a place of their own; where the file stands does not matter and does not change. To a file that is open for appending
 * they write at the end even so. Return how many bytes, 0 at the end; -EBADF; -ESPIPE for what has no places; -EINVAL for one
 * below 0. */
WEFT_API ssize_t weft_pread(weft_fd fd, void *buffer, size_t size, off_t offset);
WEFT_API ssize_t weft_pwrite(weft_fd fd, const void *bytes, size_t size, off_t offset);
/* Go on until all of it is read, or the end comes; until all of it is written. As weft_read_full and weft_write_all_done. */
WEFT_API ssize_t weft_pread_full(weft_fd fd, void *buffer, size_t size, off_t offset, size_t *done);
WEFT_API int weft_pwrite_all(weft_fd fd, const void *bytes, size_t size, off_t offset, size_t *done);

/* Returns when all that was written is on the disk; data: without what is not needed to read it again, such as times. Of a
 * folder: its names. */
WEFT_API int weft_file_sync(weft_fd fd);
WEFT_API int weft_file_sync_data(weft_fd fd);
/* Cuts it off there, or fills it up with zeroes. */
WEFT_API int weft_file_truncate(weft_fd fd, off_t size);

/* ---- What a path leads to ---- */

enum {
    WEFT_FILE_OTHER,
    WEFT_FILE_PLAIN,
    WEFT_FILE_FOLDER,
    WEFT_FILE_LINK, /* symbolic */
    WEFT_FILE_FIFO,
    WEFT_FILE_SOCKET,
    WEFT_FILE_CHARACTERS, /* devices */
    WEFT_FILE_BLOCKS
};

typedef struct weft_file_info {
    int kind;      /* WEFT_FILE_... */
    unsigned mode; /* permissions, with the bits above them: 07777 */
    uint64_t size; /* in bytes; of a link: of what it says */
    uint64_t used; /* bytes that it takes on the disk */
    uint64_t device;
    uint64_t number; /* on that device: the same two are the same file */
    uint64_t links;
    uint32_t user;
    uint32_t group;
    int64_t modified_ns; /* since 1970 */
    int64_t changed_ns;  /* the file or what is said about it */
    int64_t accessed_ns;
} weft_file_info;

/* About what the path leads to; about the link itself, if it is one; about what is open. */
WEFT_API int weft_file_stat(const char *path, weft_file_info *out);
WEFT_API int weft_file_stat_link(const char *path, weft_file_info *out);
WEFT_API int weft_file_stat_fd(weft_fd fd, weft_file_info *out);

/* Gives a file, or a folder, another name: what had it before is replaced, in one step. -EXDEV between two file systems. */
WEFT_API int weft_file_rename(const char *from, const char *to);
/* Removes a name, and the file with its last one. Not a folder. Links are removed, and not what they lead to. */
WEFT_API int weft_file_remove(const char *path);
/* Another name for a file; -EEXIST. */
WEFT_API int weft_file_link(const char *path, const char *also);
/* A symbolic link that says text. */
WEFT_API int weft_file_symlink(const char *text, const char *path);
/* What a symbolic link says. Returns its length without the zero; -ENOSPC when size is too small; -EINVAL for what is none. */
WEFT_API ssize_t weft_file_read_link(const char *path, char *text, size_t size);
/* Sets the permissions of what the path leads to. */
WEFT_API int weft_file_set_mode(const char *path, unsigned mode);

/* ---- Whole files ---- */

/* Reads all of it into memory that weft_file_free takes back; a zero stands after the last byte. Files that grow meanwhile, and
 * those that do not know their size, are read to the end. Returns 0; -EFBIG for more than limit bytes, 0: no limit; -EISDIR;
 * -EINVAL for FIFOs, sockets and devices. */
WEFT_API int weft_file_read_whole(const char *path, void **bytes, size_t *size, size_t limit);
WEFT_API void weft_file_free(void *bytes);

/* Replaces the file by one with these bytes, or makes it. Whoever opens it finds the old ones or the new ones, never a part: also
 * after a crash, since they are on the disk before they get the name; a crash may leave a file ".weft-..." beside it. mode as
 * it stands; 0: that of the file there was, or 0666 less the umask. A link at that path is replaced, and not what it leads
 * to. After an error the file is as before; only if the folder cannot be synced it may be the new one. */
WEFT_API int weft_file_write_whole(const char *path, const void *bytes, size_t size, unsigned mode);

enum { WEFT_COPY_NEW = 1 };
/* Copies a file and its permissions, inside the kernel where that can be. One that is there gets the new bytes, or with
 * WEFT_COPY_NEW it is -EEXIST. After an error, one that was made is removed again; one that was there has a part of
 * them. Returns 0; -EISDIR; -EINVAL when either is not a plain file, when both are the same, and for unknown flags. */
WEFT_API int weft_file_copy(const char *from, const char *to, unsigned flags);

/* ---- Folders ---- */

/* Makes a folder; mode 0: 0777, less the umask. make_all makes those above it too, and does not mind what is there already. */
WEFT_API int weft_folder_make(const char *path, unsigned mode);
WEFT_API int weft_folder_make_all(const char *path, unsigned mode);
/* Removes a folder that is empty; -ENOTEMPTY. */
WEFT_API int weft_folder_remove(const char *path);
/* Removes whatever the path leads to, a folder with all that is in it. Links are removed and never followed, also when somebody
 * puts them there meanwhile. Returns 0, also when there was nothing; the first error, and what was not reached stays; -EINVAL
 * for a path that ends in "." or "..". */
WEFT_API int weft_folder_remove_all(const char *path);

/* A folder that is being read. Used by one caller at a time. */
typedef struct weft_folder weft_folder;

typedef struct weft_folder_entry {
    const char *name; /* until the next call */
    int kind;         /* WEFT_FILE_..., of the entry itself: links are not followed */
    uint64_t number;  /* as in weft_file_info */
} weft_folder_entry;

WEFT_API int weft_folder_open(weft_folder **out, const char *path);
/* The next entry, in no order; "." and ".." are left out. What is made or removed meanwhile may be told or not. Returns 1; 0 after
 * the last one. */
WEFT_API int weft_folder_next(weft_folder *folder, weft_folder_entry *out);
/* Null is allowed. */
WEFT_API void weft_folder_close(weft_folder *folder);

/* ---- News ---- */

/* Tells what happens to files and in folders, whoever does it. Its descriptor is for waiting only: weft_on_readable(watch.fd) is
 * its case of weft_select. */
typedef struct weft_watch {
    weft_fd fd;
} weft_watch;

enum {
    WEFT_WATCH_MADE = 1, /* these four: in the folder that is watched, the entry with that name */
    WEFT_WATCH_REMOVED = 2,
    WEFT_WATCH_LEFT = 4, /* by a rename; the same cookie tells of both sides */
    WEFT_WATCH_CAME = 8,
    WEFT_WATCH_WRITTEN = 16,  /* the file, or one in the folder: bytes, or its size */
    WEFT_WATCH_CLOSED = 32,   /* it was open for writing, and is not any more */
    WEFT_WATCH_CHANGED = 64,  /* what is said about it: permissions, times, links */
    WEFT_WATCH_GONE = 128,    /* what is watched was removed */
    WEFT_WATCH_MOVED = 256,   /* what is watched has another name */
    WEFT_WATCH_ENDED = 65536, /* told without being asked for: no more comes from this id */
    WEFT_WATCH_LOST = 131072  /* and that more happened than could be kept; the id is 0 */
};

typedef struct weft_watch_event {
    int id;
    unsigned what; /* one WEFT_WATCH_..., mostly */
    bool is_folder;
    uint32_t cookie;
    char name[256]; /* in the folder; empty: it is what is watched itself */
} weft_watch_event;

/* Nothing is watched by it yet. Returns 0; -EMFILE when the user has no more of them, and for descriptors. */
WEFT_API int weft_watch_open(weft_watch *out);
/* Watches what the path leads to from now on, but not what is in folders below it; what 0: all of them. Returns its id, above 0:
 * the same one, with the new what, if it is watched already. -ENOSPC when the user watches too much; -EBADF. */
WEFT_API int weft_watch_add(weft_watch watch, const char *path, unsigned what);
/* Returns 0; -EINVAL for what is not watched. */
WEFT_API int weft_watch_remove(weft_watch watch, int id);
/* Waits for the next event; each is told once, to whoever comes first. Returns 0; -ETIMEDOUT, -ECANCELED, -EBADF, -ENOMEM. */
WEFT_API int weft_watch_next(weft_watch watch, weft_watch_event *out, weft_time deadline);
static inline int weft_watch_close(weft_watch watch) {
    return weft_close(watch.fd);
}

#ifdef __cplusplus
}
#endif

#endif
