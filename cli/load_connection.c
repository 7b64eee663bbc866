/* SPDX-License-Identifier: MIT
 *
 * cli/load_connection.c - one connection of "weft load": asks, reads the answer, asks again.
 *
 * Requests have numbers, the tickets, which all connections draw from one counter. With a rate ticket n is due n / rate seconds
 * after the start, whatever became of those before it, and its latency counts from then: when the server stalls, those who would
 * have come meanwhile are late too, and show it. Without a rate latency counts from the moment that the request is sent.
 *
 * Rejected: the client of weft/http_client.h. It makes a request once more when a kept connection has gone, follows redirects
 * and unpacks bodies, all of which hides what is to be measured; and it parses the URL, formats the header and takes the lock
 * of its pool each time, where here the same bytes go out again and again.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "load.h"
#include "weft/buffer.h"

/* Somebody who refuses is not asked again at once. */
#define PAUSE_NS (10 * WEFT_MILLISECOND)

struct connection {
    struct load *load;
    weft_fd fd; /* WEFT_NO_FD: none */
    weft_reader *reader;
    weft_time deadline; /* of the request that is under way */
};

/* The head of an answer, as far as its end depends on it. */
struct answer {
    int status;
    bool keeps; /* the connection stays */
    bool is_chunked;
    int64_t length; /* -1: none was given */
};

static bool take_ticket(struct load *load, weft_time *due);
static int ask(struct connection *connection, weft_time due);
static int connection_open(struct connection *connection);
static void connection_close(struct connection *connection);
static ssize_t read_counted(void *source, void *buffer, size_t size, weft_time deadline);
static int read_answer(struct connection *connection, struct answer *answer);
static int read_line(struct connection *connection, char **line);
static int read_head(struct connection *connection, struct answer *answer);
static bool parse_status(const char *line, struct answer *answer);
static int parse_field(char *line, struct answer *answer);
static int skip_chunks(struct connection *connection);
static int skip_bytes(struct connection *connection, uint64_t size);
static int skip_to_end(struct connection *connection);
static enum load_error error_kind(int error);

int load_connection(void *arg) {
    struct load *load = arg;
    struct connection connection = {.load = load};
    weft_time due;
    if (atomic_fetch_add(&load->numbered, 1) == 0)
        connection.fd = load->first;
    while (take_ticket(load, &due)) {
        int error = ask(&connection, due);
        if (error == -ECANCELED)
            break;
        if (error) {
            bool is_refused = connection.fd.bits == 0;
            connection_close(&connection);
            atomic_fetch_add(&load->errors[is_refused ? LOAD_CONNECT : error_kind(error)], 1);
            if (is_refused && weft_sleep(weft_after(PAUSE_NS)) != 0)
                break;
        }
    }
    connection_close(&connection);
    if (atomic_fetch_sub(&load->left, 1) == 1)
        (void)weft_signals_close(load->signals); /* ends the one who watches */
    return 0;
}

/* Waits until the next request is due. False: there is none any more. */
static bool take_ticket(struct load *load, weft_time *due) {
    uint64_t ticket = atomic_fetch_add(&load->next, 1);
    weft_time now = weft_now();
    *due = 0;
    if (ticket >= load->plan.limit || now >= load->end)
        return false;
    if (load->plan.rate == 0)
        return true;
    double after = (double)ticket / load->plan.rate * 1e9;
    if (after >= (double)load->plan.duration)
        return false;
    *due = load->start + (weft_time)after;
    return *due <= now || weft_sleep(*due) == 0;
}

static int ask(struct connection *connection, weft_time due) {
    struct load *load = connection->load;
    struct answer answer = {.length = -1};
    connection->deadline = weft_after(load->plan.timeout);
    int error = connection_open(connection);
    weft_time begun = due ? due : weft_now();
    if (!error)
        error = weft_write_all(connection->fd, load->plan.request.bytes, load->plan.request.size, connection->deadline);
    if (!error)
        error = read_answer(connection, &answer);
    if (error)
        return error;
    cli_histogram_add(&load->latency, weft_now() - begun);
    atomic_fetch_add(&load->answered, 1);
    atomic_fetch_add(&load->statuses[answer.status], 1);
    if (!answer.keeps)
        connection_close(connection);
    return 0;
}

static int connection_open(struct connection *connection) {
    const struct load_plan *plan = &connection->load->plan;
    if (connection->reader)
        return 0;
    if (connection->fd.bits == 0) {
        int error = weft_dial(&connection->fd, plan->host, plan->port, NULL, connection->deadline);
        if (error) {
            connection->fd = WEFT_NO_FD;
            return error;
        }
    }
    atomic_fetch_add(&connection->load->connects, 1);
    return weft_reader_new_from(&connection->reader, read_counted, connection, 0);
}

static void connection_close(struct connection *connection) {
    weft_reader_free(connection->reader);
    connection->reader = NULL;
    if (connection->fd.bits != 0)
        (void)weft_close(connection->fd);
    connection->fd = WEFT_NO_FD;
}

static ssize_t read_counted(void *source, void *buffer, size_t size, weft_time deadline) {
    struct connection *connection = source;
    ssize_t count = weft_read(connection->fd, buffer, size, deadline);
    if (count > 0)
        atomic_fetch_add(&connection->load->received, (uint64_t)count);
    return count;
}

static int read_answer(struct connection *connection, struct answer *answer) {
    int error;
    do
        error = read_head(connection, answer);
    while (!error && answer->status < 200); /* "100 Continue" and the like precede the answer */
    if (error)
        return error;
    if (connection->load->plan.has_no_body || answer->status == 204 || answer->status == 304)
        return 0;
    if (answer->is_chunked)
        return skip_chunks(connection);
    if (answer->length >= 0)
        return skip_bytes(connection, (uint64_t)answer->length);
    answer->keeps = false;
    return skip_to_end(connection);
}

static int read_line(struct connection *connection, char **line) {
    int status = weft_reader_line(connection->reader, line, NULL, 0, connection->deadline);
    return status > 0 ? 0 : status == 0 ? -ECONNRESET : status == -EMSGSIZE ? -EBADMSG : status;
}

static int read_head(struct connection *connection, struct answer *answer) {
    char *line;
    int error = read_line(connection, &line);
    *answer = (struct answer){.length = -1};
    if (!error && !parse_status(line, answer))
        error = -EBADMSG;
    while (!error) {
        error = read_line(connection, &line);
        if (!error && !*line)
            return 0;
        if (!error)
            error = parse_field(line, answer);
    }
    return error;
}

/* "HTTP/1.1 200 OK" */
static bool parse_status(const char *line, struct answer *answer) {
    if (strncmp(line, "HTTP/1.", 7) != 0 || (line[7] != '0' && line[7] != '1') || line[8] != ' ')
        return false;
    char *end;
    long status = strtol(line + 9, &end, 10);
    if (end != line + 12 || (*end && *end != ' ') || status < 100 || status >= LOAD_STATUSES || status == 101)
        return false;
    answer->status = (int)status;
    answer->keeps = line[7] == '1';
    return true;
}

static int parse_field(char *line, struct answer *answer) {
    char *colon = strchr(line, ':'), *end;
    if (!colon)
        return -EBADMSG;
    *colon = 0;
    char *value = colon + 1 + strspn(colon + 1, " \t");
    if (strcasecmp(line, "Content-Length") == 0) {
        answer->length = strtoll(value, &end, 10);
        if (end == value || answer->length < 0 || *(end + strspn(end, " \t")))
            return -EBADMSG;
    } else if (strcasecmp(line, "Transfer-Encoding") == 0) {
        answer->is_chunked = strcasestr(value, "chunked") != NULL;
    } else if (strcasecmp(line, "Connection") == 0) {
        answer->keeps = strcasestr(value, "close") ? false : answer->keeps || strcasestr(value, "keep-alive");
    }
    return 0;
}

static int skip_chunks(struct connection *connection) {
    for (;;) {
        char *line, *end;
        int error = read_line(connection, &line);
        if (error)
            return error;
        unsigned long long size = strtoull(line, &end, 16);
        if (end == line || *line == '-' || size > INT64_MAX)
            return -EBADMSG;
        if (size == 0)
            break;
        error = skip_bytes(connection, size + 2); /* and the end of its last line */
        if (error)
            return error;
    }
    for (;;) { /* trailers, up to an empty line */
        char *line;
        int error = read_line(connection, &line);
        if (error || !*line)
            return error;
    }
}

static int skip_bytes(struct connection *connection, uint64_t size) {
    ssize_t count = weft_reader_skip(connection->reader, size, NULL, connection->deadline);
    return count < 0 ? (int)count : (uint64_t)count < size ? -ECONNRESET : 0;
}

static int skip_to_end(struct connection *connection) {
    enum { PIECE = 1 << 20 };
    for (;;) {
        ssize_t count = weft_reader_skip(connection->reader, PIECE, NULL, connection->deadline);
        if (count < PIECE)
            return count < 0 ? (int)count : 0;
    }
}

static enum load_error error_kind(int error) {
    switch (-error) {
    case ETIMEDOUT:
        return LOAD_TIMEOUT;
    case ECONNRESET:
    case EPIPE:
        return LOAD_CLOSED;
    case EBADMSG:
        return LOAD_MALFORMED;
    default:
        return LOAD_OTHER;
    }
}
