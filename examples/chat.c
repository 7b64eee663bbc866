/* SPDX-License-Identifier: MIT
 *
 * examples/chat.c - a chat server on one loop.
 *
 *     chat          starts itself on a port that is free, lets guests talk to each other, checks what they saw, and ends
 *     chat 4000     serves on that port until it gets SIGINT or SIGTERM; try: nc localhost 4000
 *
 * A guest sends lines: "join NAME", "say TEXT", "leave". It is sent lines: "* NAME joined", "NAME: TEXT", "! what was wrong".
 *
 * Everything about the server happens on the loop's one owner, so it has no locks. Descriptors tell when they can be read and,
 * while something is left to be sent, written; a timer hangs up on guests who do not say who they are; a guest who has gone is
 * freed in the close phase, when nobody can be in the middle of a list that has it. When the server no longer listens
 * and the last guest has gone, nothing keeps the loop alive, and it ends.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <weft.h>

enum { NAME_SIZE = 24, LINE_SIZE = 256, OUT_MAX = 64 * 1024 };
#define PATIENCE (10 * WEFT_SECOND)

struct server {
    weft_loop *loop;
    int listener;
    int signals; /* a descriptor, or -1 */
    int64_t patience;
    struct guest *guests;
    int served;
};

/* Somebody who is connected. */
struct guest {
    struct server *server;
    struct guest *next;
    int fd;
    weft_loop_timer patience;
    bool is_leaving; /* as soon as all is sent */
    bool has_gone;
    char name[NAME_SIZE]; /* empty: has not joined */
    char in[LINE_SIZE];
    size_t in_used;
    char *out; /* what could not be sent yet */
    size_t out_used;
};

static void guest_leave(struct guest *guest);

static int must(int status, const char *what) {
    if (status < 0)
        weft_fatal("%s: error %d", what, -status);
    return status;
}

/* Sends what can be sent now and keeps the rest. */
static void guest_send(struct guest *guest, const char *text, size_t length) {
    if (guest->has_gone || guest->is_leaving)
        return;
    ssize_t sent = guest->out_used ? 0 : send(guest->fd, text, length, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0)
        sent = 0; /* a connection that is broken is found so by its next event */
    if ((size_t)sent == length)
        return;
    size_t rest = length - (size_t)sent;
    char *out = guest->out_used + rest <= OUT_MAX ? realloc(guest->out, guest->out_used + rest) : NULL;
    if (!out) {
        guest_leave(guest); /* it does not listen */
        return;
    }
    memcpy(out + guest->out_used, text + sent, rest);
    guest->out = out;
    guest->out_used += rest;
    must(weft_loop_fd_modify(guest->server->loop, guest->fd, WEFT_FD_READ | WEFT_FD_WRITE), "cannot watch");
}

static void guest_flush(struct guest *guest) {
    ssize_t sent = send(guest->fd, guest->out, guest->out_used, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent <= 0)
        return;
    guest->out_used -= (size_t)sent;
    memmove(guest->out, guest->out + sent, guest->out_used);
    if (guest->out_used == 0)
        must(weft_loop_fd_modify(guest->server->loop, guest->fd, WEFT_FD_READ), "cannot watch");
}

static void tell(struct guest *guest, const char *first, const char *second, const char *third) {
    char line[NAME_SIZE + LINE_SIZE + 32];
    int length = snprintf(line, sizeof line, "%s%s%s\n", first, second, third);
    guest_send(guest, line, (size_t)length);
}

/* All who have joined. Some may go because of it, but their memory is there until the close phase. */
static void tell_all(struct server *server, const char *first, const char *second, const char *third) {
    for (struct guest *guest = server->guests; guest; guest = guest->next)
        if (guest->name[0])
            tell(guest, first, second, third);
}

static void guest_free(void *arg) {
    struct guest *guest = arg;
    struct guest **at = &guest->server->guests;
    while (*at != guest)
        at = &(*at)->next;
    *at = guest->next;
    free(guest->out);
    free(guest);
}

static void guest_leave(struct guest *guest) {
    struct server *server = guest->server;
    if (guest->has_gone)
        return;
    guest->has_gone = true;
    weft_clear_timer(server->loop, guest->patience); /* it may have fired */
    must(weft_loop_fd_remove(server->loop, guest->fd), "cannot stop watching");
    close(guest->fd);
    if (guest->name[0])
        tell_all(server, "* ", guest->name, " left");
    must(weft_loop_close_callback(server->loop, guest_free, guest), "cannot free later");
}

static void on_impatience(void *arg) {
    struct guest *guest = arg;
    if (guest->name[0])
        return;
    tell(guest, "! ", "too late", "");
    guest_leave(guest);
}

static void guest_join(struct guest *guest, const char *name) {
    struct server *server = guest->server;
    if (guest->name[0] || !name[0] || strlen(name) >= NAME_SIZE) {
        tell(guest, "! ", "one name, once, and not a long one", "");
        return;
    }
    for (struct guest *other = server->guests; other; other = other->next) {
        if (!other->has_gone && strcmp(other->name, name) == 0) {
            tell(guest, "! ", name, " is somebody else");
            return;
        }
    }
    weft_clear_timer(server->loop, guest->patience);
    for (struct guest *other = server->guests; other; other = other->next)
        if (!other->has_gone && other->name[0])
            tell(guest, "* ", other->name, " is here");
    memcpy(guest->name, name, strlen(name) + 1);
    server->served++;
    tell_all(server, "* ", guest->name, " joined");
}

static void guest_line(struct guest *guest, const char *line) {
    if (strncmp(line, "join ", 5) == 0) {
        guest_join(guest, line + 5);
    } else if (strcmp(line, "leave") == 0) {
        guest->is_leaving = true;
    } else if (strncmp(line, "say ", 4) == 0 && guest->name[0]) {
        char speaker[NAME_SIZE + 2];
        snprintf(speaker, sizeof speaker, "%s: ", guest->name);
        tell_all(guest->server, speaker, line + 4, "");
    } else {
        tell(guest, "! ", "join NAME, say TEXT, leave", "");
    }
}

/* False: the other side has gone, or sends a line without end. */
static bool guest_read(struct guest *guest) {
    ssize_t length = recv(guest->fd, guest->in + guest->in_used, sizeof guest->in - guest->in_used, MSG_DONTWAIT);
    if (length < 0)
        return errno == EAGAIN || errno == EINTR;
    if (length == 0)
        return false;
    guest->in_used += (size_t)length;
    char *line = guest->in, *end;
    size_t rest = guest->in_used;
    while (!guest->has_gone && !guest->is_leaving && (end = memchr(line, '\n', rest))) {
        *end = '\0';
        if (end > line && end[-1] == '\r')
            end[-1] = '\0';
        guest_line(guest, line);
        rest -= (size_t)(end + 1 - line);
        line = end + 1;
    }
    memmove(guest->in, line, rest);
    guest->in_used = rest;
    return rest < sizeof guest->in;
}

static void on_guest(int fd, unsigned events, void *arg) {
    struct guest *guest = arg;
    bool is_good = true;
    if (events & WEFT_FD_WRITE)
        guest_flush(guest);
    if (!guest->is_leaving && (events & (WEFT_FD_READ | WEFT_FD_HANGUP | WEFT_FD_ERROR)))
        is_good = guest_read(guest);
    bool is_cut = guest->is_leaving && (events & (WEFT_FD_HANGUP | WEFT_FD_ERROR));
    if (!is_good || is_cut || (guest->is_leaving && guest->out_used == 0))
        guest_leave(guest);
    else if (guest->is_leaving)
        must(weft_loop_fd_modify(guest->server->loop, fd, WEFT_FD_WRITE), "cannot watch");
}

static void on_connection(int fd, unsigned events, void *arg) {
    struct server *server = arg;
    (void)events;
    int connection = accept4(fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (connection < 0)
        return; /* it has gone again, or there are too many */
    struct guest *guest = calloc(1, sizeof *guest);
    if (!guest || weft_loop_fd_add(server->loop, connection, WEFT_FD_READ, on_guest, guest) != 0) {
        free(guest);
        close(connection);
        return;
    }
    guest->server = server;
    guest->fd = connection;
    guest->next = server->guests;
    server->guests = guest;
    must(weft_set_timeout(server->loop, &guest->patience, server->patience, on_impatience, guest),
         "cannot set a timer");
}

/* Nobody comes any more. Those who are there may stay, and the loop lives as long as they do. */
static void stop_listening(void *arg) {
    struct server *server = arg;
    if (server->listener < 0)
        return;
    must(weft_loop_fd_remove(server->loop, server->listener), "cannot stop watching");
    close(server->listener);
    server->listener = -1;
}

static void on_signal(int fd, unsigned events, void *arg) {
    struct server *server = arg;
    (void)events;
    must(weft_loop_fd_remove(server->loop, fd), "cannot stop watching");
    stop_listening(server);
    tell_all(server, "* ", "the server", " goes home");
    for (struct guest *guest = server->guests; guest; guest = guest->next)
        guest_leave(guest);
}

/* The port on which it listens. */
static unsigned server_open(struct server *server, unsigned port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    socklen_t size = sizeof address;
    int yes = 1;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    server->listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (server->listener < 0 || setsockopt(server->listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0 ||
        bind(server->listener, (struct sockaddr *)&address, size) != 0 || listen(server->listener, 64) != 0 ||
        getsockname(server->listener, (struct sockaddr *)&address, &size) != 0)
        weft_fatal("cannot listen on port %u: %s", port, strerror(errno));
    weft_loop_options options = {.name = "chat"};
    must(weft_loop_new(&server->loop, &options), "cannot make a loop");
    must(weft_loop_fd_add(server->loop, server->listener, WEFT_FD_READ, on_connection, server), "cannot watch");
    return ntohs(address.sin_port);
}

static int serve(unsigned port) {
    struct server server = {.patience = PATIENCE};
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    port = server_open(&server, port);
    server.signals = must(signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC), "cannot wait for signals");
    must(weft_loop_fd_add(server.loop, server.signals, WEFT_FD_READ, on_signal, &server), "cannot watch");
    printf("chat on port %u\n", port);
    fflush(stdout);
    int status = weft_loop_run(server.loop, WEFT_LOOP_UNTIL_QUIET, WEFT_NEVER);
    close(server.signals);
    weft_loop_unref(server.loop);
    printf("%d guests were served\n", server.served);
    return status;
}

/* What follows plays the guests, each on a thread of its own with plain blocking calls. */
enum { PLAYERS = 6, LINES = 20, SAID_SIZE = 8192 };

struct player {
    int number;
    unsigned port;
    bool is_content;
    char said[SAID_SIZE]; /* everything that was said, as it was heard */
    size_t said_used;
};

static FILE *call_server(unsigned port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address) != 0)
        weft_fatal("cannot connect: %s", strerror(errno));
    FILE *stream = fdopen(fd, "r");
    if (!stream)
        weft_fatal("cannot read from a connection");
    return stream;
}

/* True: the line was something that somebody said. */
static bool note_if_said(struct player *player, const char *line) {
    size_t length = strlen(line);
    if (line[0] == '*' || line[0] == '!' || player->said_used + length >= sizeof player->said)
        return false;
    memcpy(player->said + player->said_used, line, length + 1);
    player->said_used += length;
    return true;
}

/* Joins, waits until all are there, talks, listens until everybody has said everything, and leaves. */
static void *be_guest(void *arg) {
    struct player *player = arg;
    FILE *stream = call_server(player->port);
    char line[LINE_SIZE];
    int present = 0, heard = 0;
    dprintf(fileno(stream), "join player-%d\n", player->number);
    while (present < PLAYERS && fgets(line, sizeof line, stream)) {
        present += strstr(line, " joined") || strstr(line, " is here");
        heard += note_if_said(player, line);
    }
    for (int i = 0; i < LINES; i++)
        dprintf(fileno(stream), "say line %d\n", i);
    while (heard < PLAYERS * LINES && fgets(line, sizeof line, stream))
        heard += note_if_said(player, line);
    dprintf(fileno(stream), "leave\n");
    while (fgets(line, sizeof line, stream)) {
    } /* others leave, too; then the server hangs up */
    player->is_content = heard == PLAYERS * LINES && feof(stream);
    fclose(stream);
    return NULL;
}

/* The lines of each speaker are there in order. */
static bool check_lines(const struct player *player) {
    for (int speaker = 0; speaker < PLAYERS; speaker++) {
        const char *at = player->said;
        for (int i = 0; i < LINES && at; i++) {
            char wanted[64];
            snprintf(wanted, sizeof wanted, "player-%d: line %d\n", speaker, i);
            at = strstr(at, wanted);
        }
        if (!at)
            return false;
    }
    return true;
}

struct play {
    struct server *server;
    unsigned port;
    weft_semaphore done;
    bool is_good;
};

static void lose_patience(void *arg) {
    struct play *play = arg;
    play->server->patience = WEFT_MILLISECOND;
    weft_semaphore_release(&play->done, 1);
}

/* Somebody who says nothing is hung up on. */
static bool stay_silent(struct play *play) {
    char line[LINE_SIZE] = "";
    must(weft_loop_submit(play->server->loop, lose_patience, play), "cannot submit");
    must(weft_semaphore_acquire(&play->done, 1, WEFT_NEVER), "cannot wait");
    FILE *stream = call_server(play->port);
    bool is_good = fgets(line, sizeof line, stream) && strcmp(line, "! too late\n") == 0 && !fgets(line, 2, stream);
    fclose(stream);
    return is_good;
}

static void *direct(void *arg) {
    static struct player players[PLAYERS];
    struct play *play = arg;
    pthread_t threads[PLAYERS];
    for (int i = 0; i < PLAYERS; i++) {
        players[i] = (struct player){.number = i, .port = play->port};
        if (pthread_create(&threads[i], NULL, be_guest, &players[i]) != 0)
            weft_fatal("cannot start a thread");
    }
    play->is_good = true;
    for (int i = 0; i < PLAYERS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < PLAYERS; i++)
        play->is_good = play->is_good && players[i].is_content && check_lines(&players[i]) &&
                        strcmp(players[i].said, players[0].said) == 0; /* one owner: one order for all */
    play->is_good = stay_silent(play) && play->is_good;
    must(weft_loop_submit(play->server->loop, stop_listening, play->server), "cannot submit");
    return NULL;
}

static int demonstrate(void) {
    static struct server server = {.patience = PATIENCE, .signals = -1};
    struct play play = {.server = &server, .done = WEFT_SEMAPHORE_INIT(0)};
    pthread_t director;
    play.port = server_open(&server, 0);
    if (pthread_create(&director, NULL, direct, &play) != 0)
        weft_fatal("cannot start a thread");
    int status = weft_loop_run(server.loop, WEFT_LOOP_UNTIL_QUIET, WEFT_NEVER);
    pthread_join(director, NULL);
    weft_loop_unref(server.loop);
    printf("%d guests said %d lines each, and all heard the same\n", server.served, LINES);
    return status == 0 && play.is_good && server.served == PLAYERS && !server.guests ? 0 : 1;
}

int main(int argc, char **argv) {
    return argc > 1 ? serve((unsigned)atoi(argv[1])) : demonstrate();
}
