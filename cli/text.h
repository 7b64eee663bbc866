/* SPDX-License-Identifier: MIT
 *
 * cli/text.h - text that grows, and lists of words for argument vectors.
 *
 * Both start as {0} and own what they hold. Growing never fails: without memory the process ends with a message, as a
 * command has nothing better to do then. Contents are always terminated (a zero byte, a null pointer), so bytes can be
 * handed to C and list to execv; both are null only as long as nothing was added.
 */
#ifndef CLI_TEXT_H
#define CLI_TEXT_H

#include <stdarg.h>
#include <stddef.h>

#include "weft/base.h"

struct cli_text {
    char *bytes;
    size_t size; /* without the terminating zero */
    size_t capacity;
};

struct cli_words {
    char **list;
    size_t count; /* without the terminating null */
    size_t capacity;
};

void cli_text_add(struct cli_text *text, const char *format, ...) WEFT_PRINTF(2, 3);
void cli_text_add_bytes(struct cli_text *text, const void *bytes, size_t size);
/* Room for at least size more bytes; returns where they go. The caller then raises text->size and sets the zero. */
char *cli_text_reserve(struct cli_text *text, size_t size);
void cli_text_term(struct cli_text *text);

/* A formatted copy, to be freed. */
char *cli_format(const char *format, ...) WEFT_PRINTF(1, 2);

/* Adds a formatted word. */
void cli_words_add(struct cli_words *words, const char *format, ...) WEFT_PRINTF(2, 3);
/* Adds copies of all words of another list. */
void cli_words_add_all(struct cli_words *words, const struct cli_words *more);
/* Adds the words of a line: blanks part them, a backslash takes the next character as it is. No quotes and no
 * expansion: this reads $CC and what pkg-config prints, and must not become a shell. */
void cli_words_add_line(struct cli_words *words, const char *line);
void cli_words_term(struct cli_words *words);

/* The words as a line that a shell reads back as the same words. */
void cli_text_add_quoted(struct cli_text *text, const struct cli_words *words);

#endif
