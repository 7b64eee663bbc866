/* SPDX-License-Identifier: MIT
 *
 * lines.c - a server that answers line by line, and three clients, all in one process over TCP.
 *
 * Each connection has a fiber, and each fiber reads and writes as if it had a thread: no callbacks, no states. A reader and a
 * writer with buffers make lines of what comes in pieces, and few system calls of many small writes. The server says good-bye
 * after "quit", so the program ends by itself.
 */
#include <stdio.h>
#include <string.h>
#include <weft.h>
#include <weft/buffer.h>
#include <weft/net.h>

enum { CLIENTS = 3, LINES = 4 };

#define PATIENCE (10 * WEFT_SECOND)

static weft_fd listener;

/* Answers every line with its length, until the other side quits or says nothing for too long. */
static void *serve(void *arg) {
    weft_fd fd = {(uintptr_t)arg};
    weft_reader *reader = NULL;
    weft_writer *writer = NULL;
    char *line;
    size_t length;
    if (weft_reader_new(&reader, fd, 0) == 0 && weft_writer_new(&writer, fd, 0) == 0) {
        while (weft_reader_line(reader, &line, &length, 1024, weft_after(PATIENCE)) > 0) {
            if (strcmp(line, "quit") == 0)
                break;
            weft_writer_printf(writer, weft_after(PATIENCE), "%zu: %s\r\n", length, line);
            if (weft_reader_buffered(reader) == 0) /* answers to lines that came together go together */
                weft_writer_flush(writer, weft_after(PATIENCE));
        }
        weft_writer_flush(writer, weft_after(PATIENCE));
    }
    weft_reader_free(reader);
    weft_writer_free(writer);
    weft_close(fd);
    return NULL;
}

static void *serve_all(void *arg) {
    weft_fd fd;
    (void)arg;
    while (weft_accept(listener, &fd, NULL, WEFT_NEVER) == 0) /* until it is closed */
        if (weft_go(serve, (void *)(uintptr_t)fd.bits) != 0)
            weft_close(fd);
    return NULL;
}

static int talk(weft_fd fd, int number) {
    weft_reader *reader = NULL;
    weft_writer *writer = NULL;
    char *line;
    int answers = 0;
    if (weft_reader_new(&reader, fd, 0) == 0 && weft_writer_new(&writer, fd, 0) == 0) {
        for (int i = 0; i < LINES; i++)
            weft_writer_printf(writer, WEFT_NEVER, "client %d says %.*s\n", number, i + 1, "many things");
        weft_writer_printf(writer, WEFT_NEVER, "quit\n");
        if (weft_writer_flush(writer, weft_after(PATIENCE)) == 0)
            while (answers < LINES && weft_reader_line(reader, &line, NULL, 0, weft_after(PATIENCE)) > 0) {
                printf("%d <- %s\n", number, line);
                answers++;
            }
    }
    weft_reader_free(reader);
    weft_writer_free(writer);
    return answers;
}

static void *be_client(void *arg) {
    weft_address address;
    weft_fd fd;
    if (weft_local_address(listener, &address) != 0 || weft_connect(&fd, &address, NULL, weft_after(PATIENCE)) != 0)
        return NULL;
    intptr_t answers = talk(fd, (int)(intptr_t)arg);
    weft_close(fd);
    return (void *)answers;
}

static int app(void *arg) {
    weft_fiber server, clients[CLIENTS];
    weft_address address;
    intptr_t answers = 0;
    (void)arg;
    weft_address_parse(&address, "127.0.0.1:0");
    if (weft_listen(&listener, &address, NULL) != 0 || weft_spawn(&server, serve_all, NULL) != 0)
        return 1;
    for (int i = 0; i < CLIENTS; i++)
        if (weft_spawn(&clients[i], be_client, (void *)(intptr_t)i) != 0)
            return 1;
    for (int i = 0; i < CLIENTS; i++) {
        void *result;
        weft_join(clients[i], &result, WEFT_NEVER);
        answers += (intptr_t)result;
    }
    weft_close(listener);
    weft_join(server, NULL, WEFT_NEVER);
    printf("%d answers\n", (int)answers);
    return answers == CLIENTS * LINES ? 0 : 1;
}

int main(void) {
    return weft_run(NULL, app, NULL);
}
