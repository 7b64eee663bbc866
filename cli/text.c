/* SPDX-License-Identifier: MIT
 *
 * cli/text.c - growing by doubling, and the two conversions between words and a line.
 *
 * Reading a line knows the backslash only; writing one quotes for a POSIX shell, since people paste it there.
 */
#include "text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "say.h"

static char *text_format(const char *format, va_list arguments) WEFT_PRINTF(1, 0);
static void words_take(struct cli_words *words, char *word);
static bool word_is_plain(const char *word);

void cli_text_add(struct cli_text *text, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    char *piece = text_format(format, arguments);
    va_end(arguments);
    cli_text_add_bytes(text, piece, strlen(piece));
    free(piece);
}

void cli_text_add_bytes(struct cli_text *text, const void *bytes, size_t size) {
    char *end = cli_text_reserve(text, size);
    if (size)
        memcpy(end, bytes, size);
    text->size += size;
    text->bytes[text->size] = '\0';
}

char *cli_text_reserve(struct cli_text *text, size_t size) {
    size_t needed = text->size + size + 1;
    if (needed > text->capacity) {
        size_t capacity = text->capacity ? text->capacity : 64;
        while (capacity < needed)
            capacity *= 2;
        char *bytes = realloc(text->bytes, capacity);
        if (!bytes)
            cli_out_of_memory();
        text->bytes = bytes;
        text->capacity = capacity;
    }
    return text->bytes + text->size;
}

void cli_text_term(struct cli_text *text) {
    free(text->bytes);
    *text = (struct cli_text){0};
}

char *cli_format(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    char *text = text_format(format, arguments);
    va_end(arguments);
    return text;
}

static char *text_format(const char *format, va_list arguments) {
    char *text = NULL;
    if (vasprintf(&text, format, arguments) < 0)
        cli_out_of_memory();
    return text;
}

void cli_words_add(struct cli_words *words, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    words_take(words, text_format(format, arguments));
    va_end(arguments);
}

void cli_words_add_all(struct cli_words *words, const struct cli_words *more) {
    for (size_t i = 0; i < more->count; i++)
        cli_words_add(words, "%s", more->list[i]);
}

void cli_words_add_line(struct cli_words *words, const char *line) {
    while (*line) {
        struct cli_text word = {0};
        line += strspn(line, " \t\r\n");
        for (; *line && !strchr(" \t\r\n", *line); line++) {
            if (*line == '\\' && line[1])
                line++;
            cli_text_add_bytes(&word, line, 1);
        }
        if (word.bytes)
            words_take(words, word.bytes);
    }
}

void cli_words_term(struct cli_words *words) {
    for (size_t i = 0; i < words->count; i++)
        free(words->list[i]);
    free(words->list);
    *words = (struct cli_words){0};
}

static void words_take(struct cli_words *words, char *word) {
    if (words->count + 2 > words->capacity) {
        size_t capacity = words->capacity ? words->capacity * 2 : 16;
        char **list = realloc(words->list, capacity * sizeof *list);
        if (!list)
            cli_out_of_memory();
        words->list = list;
        words->capacity = capacity;
    }
    words->list[words->count++] = word;
    words->list[words->count] = NULL;
}

void cli_text_add_quoted(struct cli_text *text, const struct cli_words *words) {
    for (size_t i = 0; i < words->count; i++) {
        const char *word = words->list[i];
        if (i)
            cli_text_add(text, " ");
        if (word_is_plain(word)) {
            cli_text_add(text, "%s", word);
            continue;
        }
        cli_text_add(text, "'");
        for (; *word; word++) {
            if (*word == '\'')
                cli_text_add(text, "'\\''");
            else
                cli_text_add_bytes(text, word, 1);
        }
        cli_text_add(text, "'");
    }
}

static bool word_is_plain(const char *word) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+./,:@%";
    return *word && word[strspn(word, plain)] == '\0';
}
