/* SPDX-License-Identifier: MIT
 *
 * examples/fetcher.c - fetches pages from an unreliable server, not too fast, again when it fails, and not for ever.
 *
 * The server is a work that runs long, on a thread of its own. It takes connections, one end of a pair of sockets each, from a
 * channel, hangs up on some of them and answers the others. Each page is a work, too:
 *   - a semaphore is the rate limit: a request takes a permit, and a timer adds one every millisecond, up to a few. A work
 *     that waits for one holds no thread;
 *   - a request that fails is made again, at the end of the queue, a few times. One page never comes;
 *   - reading blocks its thread, which is said, so that another takes over. One page is never answered: when its deadline has
 *     passed, the system call in which it blocks is interrupted.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <weft.h>

enum { PAGES = 24, DEAD_PAGE = 7, SLOW_PAGE = 11, BURST = 4, RETRIES = 4 };
#define PERIOD WEFT_MILLISECOND
#define PATIENCE (150 * WEFT_MILLISECOND)

struct site {
    weft_chan *connections; /* of descriptors: the server's ends */
    weft_semaphore permits;
    weft_timer refill;
    atomic_int requests;
    int answered;     /* by the server */
    int hung_up;      /* by the server */
    int tries[PAGES]; /* so many requests for each; the server's */
    int kept;         /* the connection that is never answered, or -1 */
};

struct page {
    struct site *site;
    int number;
    weft_work work;
    char text[32];
};

static void must(int error, const char *what) {
    if (error)
        weft_fatal("%s: error %d", what, -error);
}

/* Pages fail as often as their number says, modulo 3, before they come. */
static int failures_of(int number) {
    return number == DEAD_PAGE ? RETRIES + 1 : number % 3;
}

static void serve_one(struct site *site, int connection) {
    int number;
    if (recv(connection, &number, sizeof number, MSG_WAITALL) != sizeof number || number < 0 || number >= PAGES) {
        close(connection);
        return;
    }
    if (number == SLOW_PAGE && site->kept < 0) {
        site->kept = connection;
        return;
    }
    if (site->tries[number]++ < failures_of(number)) {
        site->hung_up++;
    } else {
        char text[32] = {0};
        snprintf(text, sizeof text, "page %d", number);
        site->answered += send(connection, text, sizeof text, MSG_NOSIGNAL) == sizeof text;
    }
    close(connection);
}

static int serve(void *arg) {
    struct site *site = arg;
    int connection;
    while (weft_chan_recv(site->connections, &connection, WEFT_NEVER) == 0)
        serve_one(site, connection);
    if (site->kept >= 0)
        close(site->kept);
    return 0;
}

/* Blocks, and says so. The descriptor is ours to close. */
static int ask(int connection, struct page *page) {
    ssize_t length;
    int error;
    weft_blocking_begin();
    send(connection, &page->number, sizeof page->number, MSG_NOSIGNAL); /* if it fails, so does what follows */
    do {
        length = recv(connection, page->text, sizeof page->text, MSG_WAITALL);
        error = length < 0 ? -errno : length == sizeof page->text ? 0 : -ECONNRESET;
    } while (error == -EINTR && !weft_work_is_stopping()); /* a stop by force makes the call return */
    weft_blocking_end();
    return error;
}

static int fetch(void *arg) {
    struct page *page = arg;
    struct site *site = page->site;
    int ends[2];
    int error = weft_semaphore_acquire(&site->permits, 1, WEFT_NEVER);
    if (error)
        return error;
    atomic_fetch_add(&site->requests, 1);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return -EMFILE;
    error = weft_chan_send(site->connections, &ends[1], WEFT_NEVER);
    if (error)
        close(ends[1]);
    else
        error = ask(ends[0], page);
    close(ends[0]);
    return error;
}

/* Late expirations are not made up for, so there are never more permits than time allows. */
static void *refill(void *arg) {
    struct site *site = arg;
    if (weft_semaphore_permits(&site->permits) < BURST)
        weft_semaphore_release(&site->permits, 1);
    return NULL;
}

static void submit_pages(weft_pool *pool, struct site *site, weft_group *group, struct page *pages) {
    for (int i = 0; i < PAGES; i++) {
        pages[i] = (struct page){.site = site, .number = i};
        weft_work_options options = {
            .group = group,
            .retry = WEFT_RETRY_REQUEUE,
            .max_retries = RETRIES,
            .store_result = true,
            .timeout_action = WEFT_TIMEOUT_FORCE,
            .deadline = i == SLOW_PAGE ? weft_after(PATIENCE) : 0,
        };
        must(weft_pool_submit_with(pool, &pages[i].work, &options, fetch, &pages[i]), "cannot submit");
    }
}

static bool check_page(weft_pool *pool, const struct page *page) {
    weft_result result;
    char wanted[32];
    snprintf(wanted, sizeof wanted, "page %d", page->number);
    must(weft_pool_poll_work(pool, page->work, &result), "a result is missing");
    if (page->number == SLOW_PAGE)
        return result.status == WEFT_WORK_TIMED_OUT && result.error == -ETIMEDOUT;
    if (page->number == DEAD_PAGE)
        return result.status == WEFT_WORK_FAILED && result.error == -ECONNRESET && result.attempts == RETRIES + 1;
    return result.status == WEFT_WORK_SUCCEEDED && result.attempts == (unsigned)failures_of(page->number) + 1 &&
           strcmp(page->text, wanted) == 0;
}

static int app(void *arg) {
    static struct site site = {.permits = WEFT_SEMAPHORE_INIT(BURST), .kept = -1};
    static struct page pages[PAGES];
    weft_pool *pool = arg;
    weft_group *group;
    must(weft_chan_new(&site.connections, sizeof(int), 0), "cannot make a channel");
    must(weft_group_new(&group, pool, "pages"), "cannot make a group");
    weft_work_options long_running = {.long_running = true};
    must(weft_pool_submit_with(pool, NULL, &long_running, serve, &site), "cannot submit");
    weft_time began = weft_now();
    must(weft_timer_start(&site.refill, weft_after(PERIOD), PERIOD, refill, &site), "cannot start a timer");

    submit_pages(pool, &site, group, pages);
    must(weft_group_wait(group, WEFT_NEVER), "cannot wait"); /* the server goes on */
    int64_t took = weft_now() - began;
    weft_timer_stop(site.refill);
    must(weft_chan_close(site.connections), "cannot close");
    must(weft_pool_wait(pool, WEFT_NEVER), "cannot wait");

    bool is_good = true;
    for (int i = 0; i < PAGES; i++)
        is_good = check_page(pool, &pages[i]) && is_good;
    int requests = atomic_load(&site.requests);
    printf("%d pages, %d requests, %d answered, %d hung up on\n", PAGES, requests, site.answered, site.hung_up);
    is_good = is_good && site.answered == PAGES - 2 && took >= (requests - BURST) * PERIOD;
    weft_group_free(group);
    weft_chan_free(site.connections);
    return is_good ? 0 : 1;
}

int main(void) {
    weft_pool *pool;
    weft_pool_options options = {.name = "fetch", .threads = 4};
    must(weft_pool_new(&pool, &options), "cannot make a pool");
    int status = weft_run(NULL, app, pool);
    weft_pool_free(pool);
    return status;
}
