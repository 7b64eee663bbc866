/* SPDX-License-Identifier: MIT
 *
 * os/fault.h - making system calls fail on purpose.
 *
 * Every call that os/ makes asks wf_fault first. In a test build a test can order the n-th call of one kind, or of any
 * kind, to fail with a chosen error, and can see how often each kind was called; so a sweep fails call 1, 2, 3, ...
 * until none fails any more. In a product build wf_fault is the constant 0 and leaves no code.
 *
 * The orders are process-wide and are changed only by the one thread that runs the test. An order may be for calls of that
 * thread alone: then those of others are neither counted nor made to fail.
 */
#ifndef WF_OS_FAULT_H
#define WF_OS_FAULT_H

/* name, the errors that the kernel or the C library gives for it and that a caller must stand */
#define WF_SYSTEM_CALLS(X) \
    X(ALLOC, "alloc") \
    X(MMAP, "mmap") \
    X(GUARD, "guard") \
    X(DISCARD, "discard") \
    X(FUTEX_WAIT, "futex_wait") \
    X(THREAD, "thread") \
    X(EPOLL_CREATE, "epoll_create") \
    X(EPOLL_CTL, "epoll_ctl") \
    X(EPOLL_WAIT, "epoll_wait") \
    X(DUPLICATE, "duplicate") \
    X(EVENTFD, "eventfd") \
    X(EVENTFD_WRITE, "eventfd_write") \
    X(EVENTFD_READ, "eventfd_read") \
    X(SIGALTSTACK, "sigaltstack") \
    X(SIGACTION, "sigaction") \
    X(INTERRUPT, "interrupt") \
    X(AFFINITY, "affinity") \
    X(POLICY, "policy") \
    X(BARRIER, "membarrier") \
    X(ATFORK, "atfork") \
    X(THREAD_COUNT, "thread_count") \
    X(THREAD_RAN, "thread_ran") \
    X(LIBRARY_OPEN, "library_open") \
    X(LIBRARY_FIND, "library_find") \
    X(CLOSURE, "closure") \
    X(WRITE, "write") \
    X(OPEN, "open") \
    X(PREAD, "pread") \
    X(PWRITE, "pwrite") \
    X(SYNC, "sync") \
    X(TRUNCATE, "truncate") \
    X(NAME, "name") \
    X(COPY, "copy") \
    X(FOLDER, "folder") \
    X(INOTIFY, "inotify") \
    X(FSTAT, "fstat") \
    X(FCNTL, "fcntl") \
    X(READ, "read") \
    X(SEND, "send") \
    X(SOCKET, "socket") \
    X(SOCKET_OPTION, "socket_option") \
    X(SOCKET_NAME, "socket_name") \
    X(BIND, "bind") \
    X(LISTEN, "listen") \
    X(ACCEPT, "accept") \
    X(CONNECT, "connect") \
    X(SHUTDOWN, "shutdown") \
    X(RECEIVE, "receive") \
    X(PIPE, "pipe") \
    X(POLL, "poll") \
    X(CLOSE, "close") \
    X(CHILD, "child") \
    X(CHILD_WAIT, "child_wait") \
    X(CHILD_SIGNAL, "child_signal")

enum wf_system_call {
#define WF_SYSTEM_CALL_ENUM(name, text) WF_CALL_##name,
    WF_SYSTEM_CALLS(WF_SYSTEM_CALL_ENUM)
#undef WF_SYSTEM_CALL_ENUM
        WF_CALL_COUNT
};

#ifdef WF_TESTING
/* 0, or the negative error that this call must pretend to have met. */
int wf_fault(enum wf_system_call call);
/* From now on the nth call (1 is the next one) of that kind fails once with -error; WF_CALL_COUNT means of any kind.
 * every: that call and all that follow. nth 0 takes the order back. Resets the counts. */
void wf_fault_order(enum wf_system_call call, long nth, int error, int every);
/* The same, for calls of this thread alone. */
void wf_fault_order_here(enum wf_system_call call, long nth, int error, int every);
long wf_fault_calls(enum wf_system_call call);
long wf_fault_hits(void);
const char *wf_fault_name(enum wf_system_call call);
#else
#define wf_fault(call) 0
#endif

#endif
