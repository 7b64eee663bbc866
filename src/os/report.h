/* SPDX-License-Identifier: MIT
 *
 * os/report.h - words on standard error from any state of the process: fatal messages, backtraces, names of functions.
 *
 * Everything here works inside a signal handler and on a small stack: no allocation, no stdio, no locks of our own. One
 * line is one write, so that lines of several threads do not mix. Messages say what happened in the program's terms and
 * name the rule that was broken.
 */
#ifndef WF_OS_REPORT_H
#define WF_OS_REPORT_H

#include <stdarg.h>
#include <stddef.h>

/* One write of "weft: " and the formatted line (cut at 511 bytes). */
void wf_report(const char *format, ...) __attribute__((format(printf, 1, 2)));
void wf_report_list(const char *format, va_list arguments);

/* Reports "fatal: ..." and aborts. */
_Noreturn void wf_fatal(const char *format, ...) __attribute__((format(printf, 1, 2)));
_Noreturn void wf_fatal_list(const char *format, va_list arguments);

/* Name of the function that holds the address, from the symbol table of its file, static functions included; else
 * "file+0xoffset". Always terminated. */
void wf_symbol_name(const void *address, char *buffer, size_t size);

/* Reports the calling stack, at most limit frames, one a line. In a signal handler it goes on into the interrupted
 * code. */
void wf_report_backtrace(int limit);

/* The calling stack as addresses inside the functions, at most limit of them, innermost first; the caller's is the first
 * one. Returns how many. For names later: looking them up takes far longer than walking the stack. */
int wf_capture_frames(const void **frames, int limit);

/* Writes all of it, however the system cuts it up. Returns 0 or a negative error. */
int wf_write_all(int fd, const char *text, size_t length);

#endif
