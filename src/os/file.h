/* SPDX-License-Identifier: MIT
 *
 * os/file.h - system calls on files, folders and what happens to them.
 *
 * Each returns a count or 0, or a negative error; -EINTR never, the call is made again. They may block for as long as the disk
 * takes. A folder is the descriptor that a path is relative to: AT_FDCWD for the current one. Flags are those of fcntl.h.
 */
#ifndef WF_OS_FILE_H
#define WF_OS_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/* A descriptor that is closed on exec. */
int wf_os_open(int folder, const char *path, int flags, unsigned mode);
/* Of one that was opened with these flags, O_NONBLOCK among them: without it. */
int wf_os_file_unset_nonblocking(int fd, int flags);

ssize_t wf_os_pread(int fd, void *buffer, size_t size, off_t offset);
ssize_t wf_os_pwrite(int fd, const void *bytes, size_t size, off_t offset);
int wf_os_sync(int fd, bool is_data_only);
int wf_os_truncate(int fd, off_t size);
/* From where one stands to where the other stands, inside the kernel. */
ssize_t wf_os_copy_range(int from, int to, size_t size);

int wf_os_stat(int folder, const char *path, bool follows, struct stat *out);
int wf_os_stat_fd(int fd, struct stat *out);
int wf_os_set_mode(const char *path, unsigned mode);
int wf_os_set_mode_fd(int fd, unsigned mode);

int wf_os_make_folder(const char *path, unsigned mode);
int wf_os_unlink(int folder, const char *path, bool is_folder);
int wf_os_rename(int from_folder, const char *from, int to_folder, const char *to);
int wf_os_link(const char *path, const char *also);
int wf_os_symlink(const char *text, const char *path);
ssize_t wf_os_read_link(const char *path, char *text, size_t size);

/* Entries of a folder into a buffer that is aligned to 8; bytes, 0 at the end. */
ssize_t wf_os_folder_read(int fd, void *buffer, size_t size);
int wf_os_folder_rewind(int fd);

struct wf_os_entry {
    const char *name;
    uint64_t number;
    unsigned format; /* as in st_mode; 0: not known */
    size_t bytes;    /* from here to the next one */
};
struct wf_os_entry wf_os_folder_entry(const void *at);

/* A number that nobody has guessed, for a name. */
uint64_t wf_os_file_random(void);

/* os/inotify.c. Masks are those of sys/inotify.h. */
int wf_os_inotify_open(void);
int wf_os_inotify_add(int fd, const char *path, uint32_t mask);
int wf_os_inotify_remove(int fd, int id);

struct wf_os_notice {
    int id;
    uint32_t mask;
    uint32_t cookie;
    char name[256];
};
/* One event; -EAGAIN when there is none. By one caller at a time. */
int wf_os_inotify_read(int fd, struct wf_os_notice *out);

#endif
