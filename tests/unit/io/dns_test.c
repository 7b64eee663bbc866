/* SPDX-License-Identifier: MIT
 *
 * unit/io/dns_test.c - what is kept of names and for how long; /etc/hosts; and every failure on the way to an answer.
 *
 * Time is told to the cache, so nothing here waits for an answer to grow old.
 */
#include "io/dns.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "os/clock.h"
#include "os/fault.h"
#include "os/memory.h"
#include "support/child.h"
#include "support/dns_server.h"
#include "support/io.h"

enum { ROOM = 64 };

static weft_address found[ROOM];
static const struct wf_dns_out out = {found, ROOM, 80};

static struct wf_dns_question ask_for(const char *name, const char *servers) {
    struct wf_dns_question question;
    CHECK_EQ(wf_dns_question_init(&question, name, 0, servers), 0);
    return question;
}

/* An answer with that many addresses. */
static struct wf_dns_answer *answer_of(uint32_t count, int64_t lifetime_ns) {
    struct wf_dns_answer *answer = calloc(1, sizeof *answer + count * sizeof answer->addresses[0]);
    answer->lifetime_ns = lifetime_ns;
    answer->count = count;
    for (uint32_t i = 0; i < count; i++)
        answer->addresses[i].bytes[3] = (uint8_t)i;
    return answer;
}

/* Asks for a name, and is answered. */
static void keep(const char *name, uint32_t count, int64_t lifetime_ns, int64_t now_ns) {
    struct wf_dns_question question = ask_for(name, NULL);
    struct wf_dns_asker asker = {NULL};
    struct wf_dns_answer *answer = answer_of(count, lifetime_ns);
    CHECK_EQ(wf_dns_cache_enter(&asker, &question, true, &out, WEFT_NEVER), 0);
    CHECK(asker.place != NULL);
    wf_dns_cache_leave(&asker, 0, answer, now_ns);
    CHECK(asker.place == NULL);
    free(answer);
}

static int kept_at(const char *name, int64_t now_ns) {
    struct wf_dns_question question = ask_for(name, NULL);
    return wf_dns_cache_find(&question, &out, now_ns);
}

/* ---- The cache ---- */

TEST(an_answer_is_kept_as_long_as_it_says) {
    weft_resolve_forget(NULL);
    keep("a.test", 2, 10 * WEFT_SECOND, 1000);
    CHECK_EQ(kept_at("a.test", 1000), 2);
    CHECK_EQ(kept_at("A.TEST", 1000 + 10 * WEFT_SECOND - 1), 2);
    CHECK_EQ(kept_at("a.test", 1000 + 10 * WEFT_SECOND), 0);
    CHECK_EQ(kept_at("a.test", 999), 0);   /* the clock of a replay */
    CHECK_EQ(kept_at("a.test.", 1000), 0); /* another question */
    CHECK_EQ(kept_at("b.test", 1000), 0);
    weft_resolve_forget(NULL);
    CHECK_EQ(kept_at("a.test", 1000), 0);
}

TEST(no_lifetime_is_too_short_or_too_long) {
    weft_resolve_forget(NULL);
    keep("short.test", 1, 0, 0);
    CHECK_EQ(kept_at("short.test", WF_DNS_SHORTEST_NS - 1), 1);
    CHECK_EQ(kept_at("short.test", WF_DNS_SHORTEST_NS), 0);
    keep("long.test", 1, INT32_MAX * WEFT_SECOND, 0);
    CHECK_EQ(kept_at("long.test", WF_DNS_LONGEST_NS - 1), 1);
    CHECK_EQ(kept_at("long.test", WF_DNS_LONGEST_NS), 0);
    keep("none.test", 0, INT32_MAX * WEFT_SECOND, 0);
    CHECK_EQ(kept_at("none.test", WF_DNS_NEGATIVE_NS - 1), -ENOENT);
    CHECK_EQ(kept_at("none.test", WF_DNS_NEGATIVE_NS), 0);
    weft_resolve_forget(NULL);
}

TEST(an_answer_that_is_too_long_is_not_kept) {
    weft_resolve_forget(NULL);
    keep("a.test", WF_DNS_KEPT_ADDRESSES, WEFT_SECOND, 0);
    CHECK_EQ(kept_at("a.test", 0), WF_DNS_KEPT_ADDRESSES);
    keep("b.test", WF_DNS_KEPT_ADDRESSES + 1, WEFT_SECOND, 0);
    CHECK_EQ(kept_at("b.test", 0), 0);
    weft_resolve_forget(NULL);
}

TEST(families_and_servers_are_kept_apart) {
    char servers[WF_DNS_SERVERS + 1];
    struct wf_dns_asker asker = {NULL};
    weft_resolve_forget(NULL);
    keep("a.test", 1, WEFT_SECOND, 0);
    struct wf_dns_question question = ask_for("a.test", "127.0.0.1");
    CHECK_EQ(wf_dns_cache_find(&question, &out, 0), 0);
    question = ask_for("a.test", NULL);
    question.family = AF_INET6;
    CHECK_EQ(wf_dns_cache_find(&question, &out, 0), 0);
    memset(servers, '1', sizeof servers);
    servers[WF_DNS_SERVERS] = 0;
    question = ask_for("a.test", servers); /* too long for a place */
    CHECK_EQ(wf_dns_cache_enter(&asker, &question, false, &out, WEFT_NEVER), 0);
    CHECK(asker.place == NULL);
    wf_dns_cache_leave(&asker, -EAGAIN, NULL, 0);
    weft_resolve_forget(NULL);
}

static const char *numbered(int number) {
    static char name[32];
    snprintf(name, sizeof name, "n%d.test", number);
    return name;
}

TEST(the_name_used_longest_ago_goes_first) {
    int64_t now = wf_os_now();
    weft_resolve_forget(NULL);
    for (int i = 0; i < WF_DNS_KEPT_NAMES; i++)
        keep(numbered(i), 1, WF_DNS_LONGEST_NS, now);
    for (int i = 0; i < WF_DNS_KEPT_NAMES; i++)
        CHECK_EQ(kept_at(numbered(i), now), 1);
    CHECK_EQ(kept_at(numbered(0), now), 1); /* used again */
    keep("more.test", 1, WF_DNS_LONGEST_NS, now);
    CHECK_EQ(kept_at(numbered(0), now), 1);
    CHECK_EQ(kept_at(numbered(1), now), 0);
    CHECK_EQ(kept_at(numbered(2), now), 1);
    weft_resolve_forget(numbered(5)); /* its place is the next one */
    keep("another.test", 1, WF_DNS_LONGEST_NS, now);
    CHECK_EQ(kept_at(numbered(3), now), 1);
    weft_resolve_forget(NULL);
    for (int i = 0; i < WF_DNS_KEPT_NAMES; i++)
        CHECK_EQ(kept_at(numbered(i), now), 0);
}

/* Somebody asks at every place: whoever comes then asks alone, and nobody's place is taken away. */
TEST(a_table_full_of_questions_lets_others_ask_alone) {
    static struct wf_dns_asker askers[WF_DNS_KEPT_NAMES];
    struct wf_dns_asker late = {NULL};
    struct wf_dns_answer *answer = answer_of(1, WEFT_SECOND);
    weft_resolve_forget(NULL);
    for (int i = 0; i < WF_DNS_KEPT_NAMES; i++) {
        struct wf_dns_question question = ask_for(numbered(i), NULL);
        CHECK_EQ(wf_dns_cache_enter(&askers[i], &question, false, &out, WEFT_NEVER), 0);
        CHECK(askers[i].place != NULL);
    }
    struct wf_dns_question question = ask_for("late.test", NULL);
    CHECK_EQ(wf_dns_cache_enter(&late, &question, false, &out, WEFT_NEVER), 0);
    CHECK(late.place == NULL);
    wf_dns_cache_leave(&late, 0, answer, 0);
    CHECK_EQ(kept_at("late.test", 0), 0);
    weft_resolve_forget(NULL);
    for (int i = 0; i < WF_DNS_KEPT_NAMES; i++)
        wf_dns_cache_leave(&askers[i], i % 2 ? 0 : -ETIMEDOUT, answer, 0);
    for (int i = 0; i < WF_DNS_KEPT_NAMES; i++)
        CHECK_EQ(kept_at(numbered(i), 0), i % 2);
    weft_resolve_forget(NULL);
    free(answer);
}

/* The one who wants it fresh asks; what is kept is good for the others meanwhile, and afterwards if nothing came. */
TEST(what_is_kept_survives_a_fresh_question_without_an_answer) {
    struct wf_dns_asker asker = {NULL};
    weft_resolve_forget(NULL);
    keep("a.test", 1, WEFT_SECOND, 0);
    struct wf_dns_question question = ask_for("a.test", NULL);
    CHECK_EQ(wf_dns_cache_enter(&asker, &question, true, &out, WEFT_NEVER), 0);
    CHECK_EQ(kept_at("a.test", 0), 1);
    wf_dns_cache_leave(&asker, -EAGAIN, NULL, 0);
    CHECK_EQ(kept_at("a.test", 0), 1);
    CHECK_EQ(wf_dns_cache_enter(&asker, &question, true, &out, WEFT_NEVER), 0);
    weft_resolve_forget("a.test");
    CHECK_EQ(kept_at("a.test", 0), 0);
    wf_dns_cache_leave(&asker, -EAGAIN, NULL, 0);
    CHECK_EQ(kept_at("a.test", 0), 0);
    weft_resolve_forget(NULL);
}

struct waiting {
    const struct wf_dns_question *question;
    struct wf_dns_asker asker;
    int status;
    weft_time deadline;
};

static void *wait_main(void *opaque) {
    struct waiting *waiting = opaque;
    weft_address one;
    struct wf_dns_out here = {&one, 1, 80};
    waiting->status = wf_dns_cache_enter(&waiting->asker, waiting->question, false, &here, waiting->deadline);
    return NULL;
}

/* Each of them is told in its way: no answer, a turn, an answer. */
static void body_waiting(void) {
    static const int statuses[] = {-EAGAIN, -ECANCELED, 0};
    struct wf_dns_question question = ask_for("a.test", NULL);
    struct wf_dns_answer *answer = answer_of(1, WF_DNS_LONGEST_NS);
    for (int i = 0; i < 3; i++) {
        struct wf_dns_asker asker = {NULL};
        struct waiting waiting = {.question = &question, .deadline = weft_after(PATIENCE_NS)};
        struct waiting late = {.question = &question, .deadline = weft_after(1)};
        weft_resolve_forget(NULL);
        CHECK_EQ(wf_dns_cache_enter(&asker, &question, false, &out, WEFT_NEVER), 0);
        weft_fiber fiber = spawn_parked(wait_main, &waiting);
        wait_main(&late);
        CHECK_EQ(late.status, -ETIMEDOUT);
        CHECK(late.asker.place == NULL);
        wf_dns_cache_leave(&asker, statuses[i], answer, wf_os_now());
        JOIN(fiber, NULL);
        CHECK_EQ(waiting.status, i == 0 ? -EAGAIN : i == 1 ? 0 : 1);
        CHECK_EQ(waiting.asker.place != NULL, i == 1);
        wf_dns_cache_leave(&waiting.asker, -ETIMEDOUT, NULL, 0);
    }
    weft_resolve_forget(NULL);
    free(answer);
}

TEST(who_waits_is_told_how_it_ended) {
    run_fibers(body_waiting);
}

static void in_the_child(void *arg) {
    (void)arg;
    wf_dns_after_fork();
    CHECK_EQ(kept_at("kept.test", 0), 0);
    keep("asked.test", 1, WEFT_SECOND, 0);
    CHECK_EQ(kept_at("asked.test", 0), 1);
}

TEST(the_child_of_a_fork_begins_anew) {
    struct wf_dns_asker asker = {NULL};
    struct wf_dns_question question = ask_for("asked.test", NULL);
    weft_resolve_forget(NULL);
    keep("kept.test", 1, WEFT_SECOND, 0);
    CHECK_EQ(wf_dns_cache_enter(&asker, &question, false, &out, WEFT_NEVER), 0);
    struct child_end end = child_run(in_the_child, NULL);
    CHECK_CHILD_WELL(&end);
    wf_dns_cache_leave(&asker, -ECANCELED, NULL, 0);
    weft_resolve_forget(NULL);
}

/* ---- /etc/hosts ---- */

static char path[64];

/* Written anew, as if some seconds ago, so that it is old enough to be kept in mind. */
static void write_hosts(const char *text, int64_t seconds_ago) {
    snprintf(path, sizeof path, "/tmp/weft_hosts_%d", (int)getpid());
    unlink(path);
    FILE *file = fopen(path, "w");
    CHECK(file != NULL);
    fputs(text, file);
    fclose(file);
    struct timespec then = {.tv_sec = (time_t)(wf_os_wall_now() / WEFT_SECOND - seconds_ago)};
    CHECK_EQ(utimensat(AT_FDCWD, path, (struct timespec[2]){then, then}, 0), 0);
}

static int in_hosts(const char *name, int family) {
    struct wf_dns_question question = ask_for(name, NULL);
    question.family = family;
    return wf_hosts_find(path, &question, &out);
}

static void check_first(const char *text) {
    char got[WEFT_ADDRESS_TEXT];
    CHECK_GE(weft_address_format(&found[0], got, sizeof got), 0);
    CHECK_TEXT(got, text);
}

TEST(hosts_are_read_line_by_line) {
    write_hosts("# 192.0.2.9 hidden\n"
                "192.0.2.1 one\tOne.Test  other # late\r\n"
                "\t192.0.2.2\tindented\n\n"
                "2001:db8::1 one\n"
                "192.0.2.3\n"
                "one 192.0.2.4\n"
                "192.0.2.300 wrong\n"
                "192.0.2.5 bad..name good\n"
                "192.0.2.6 last",
                10);
    for (int round = 0; round < 2; round++) { /* the second time from the filter */
        CHECK_EQ(in_hosts("one", 0), 2);
        check_first("192.0.2.1:80");
        CHECK_EQ(in_hosts("ONE", AF_INET6), 1);
        check_first("[2001:db8::1]:80");
        CHECK_EQ(in_hosts("one.test.", 0), 1);
        CHECK_EQ(in_hosts("other", 0), 1);
        CHECK_EQ(in_hosts("other", AF_INET6), 0);
        CHECK_EQ(in_hosts("indented", 0), 1);
        CHECK_EQ(in_hosts("good", 0), 1);
        CHECK_EQ(in_hosts("last", 0), 1);
        check_first("192.0.2.6:80");
        CHECK_EQ(in_hosts("hidden", 0), 0);
        CHECK_EQ(in_hosts("late", 0), 0);
        CHECK_EQ(in_hosts("wrong", 0), 0);
        CHECK_EQ(in_hosts("absent", 0), 0);
        CHECK_EQ(in_hosts("localhost", 0), 2);
    }
    struct wf_dns_question question = ask_for("one", NULL);
    struct wf_dns_out little = {found, 1, 80};
    CHECK_EQ(wf_hosts_find(path, &question, &little), 1);
    unlink(path);
}

TEST(hosts_are_read_only_when_they_may_say_something) {
    write_hosts("192.0.2.1 one\n", 10);
    CHECK_EQ(in_hosts("two", 0), 0);
    wf_fault_order(WF_CALL_OPEN, 0, 0, 0);
    CHECK_EQ(in_hosts("two", 0), 0);
    CHECK_EQ(wf_fault_calls(WF_CALL_OPEN), 0);
    CHECK_EQ(in_hosts("one", 0), 1);
    CHECK_EQ(wf_fault_calls(WF_CALL_OPEN), 1);
    write_hosts("192.0.2.2 two\n", 20); /* another file, of the same size */
    CHECK_EQ(in_hosts("two", 0), 1);
    CHECK_EQ(in_hosts("one", 0), 0);
    write_hosts("192.0.2.3 six\n", 0); /* just now: perhaps not for the last time */
    CHECK_EQ(in_hosts("one", 0), 0);
    wf_fault_order(WF_CALL_OPEN, 0, 0, 0);
    CHECK_EQ(in_hosts("one", 0), 0);
    CHECK_EQ(wf_fault_calls(WF_CALL_OPEN), 1);
    unlink(path);
}

TEST(hosts_that_cannot_be_read_say_nothing) {
    static const struct {
        enum wf_system_call call;
        int error, told;
    } faults[] = {{WF_CALL_ALLOC, ENOMEM, -ENOMEM}, {WF_CALL_OPEN, EMFILE, -EMFILE}, {WF_CALL_OPEN, ENFILE, -EMFILE},
                  {WF_CALL_OPEN, EACCES, 0},        {WF_CALL_READ, EIO, 0},          {WF_CALL_FSTAT, EACCES, 0}};
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        write_hosts("192.0.2.1 one\n", 10);
        wf_fault_order(faults[i].call, 1, faults[i].error, 0);
        CHECK_EQ(in_hosts("one", 0), faults[i].told);
        CHECK_EQ(wf_fault_hits(), 1);
        wf_fault_order(WF_CALL_COUNT, 0, 0, 0);
        CHECK_EQ(in_hosts("one", 0), 1);
    }
    unlink(path);
    CHECK_EQ(in_hosts("one", 0), 0);
    CHECK_EQ(in_hosts("localhost", AF_INET), 1);
    snprintf(path, sizeof path, "/tmp"); /* not a file */
    CHECK_EQ(in_hosts("one", 0), 0);
    snprintf(path, sizeof path, "/tmp/weft_fifo_%d", (int)getpid());
    CHECK_EQ(mkfifo(path, 0600), 0); /* nobody will ever write to it */
    CHECK_EQ(in_hosts("one", 0), 0);
    unlink(path);
}

/* ---- Failures on the way ---- */

static struct dns_server server;

static int look_for(const char *name, int64_t patience_ns) {
    weft_resolve_options options = {.servers = server.text, .is_fresh = true};
    return weft_resolve(name, 80, found, ROOM, &options, weft_after(patience_ns));
}

static int look(const char *name) {
    return look_for(name, PATIENCE_NS);
}

/* False in a library without c-ares. */
static bool begin(void) {
    dns_server_start(&server);
    weft_resolve_forget(NULL);
    int status = look("one.test.");
    CHECK(status == 1 || status == -ENOSYS);
    if (status == -ENOSYS)
        dns_server_stop(&server);
    return status == 1;
}

static void end(void) {
    dns_server_stop(&server);
    weft_resolve_forget(NULL);
}

/* Fails the n-th call of that kind in run n, until a run has no n-th; whatever comes is an answer or one of these errors. */
static void sweep(enum wf_system_call call, int error, const int *allowed, int64_t patience_ns) {
    long nth = 1, hits = 1;
    for (; hits > 0; nth++) {
        CHECK_LE(nth, 3000);
        wf_fault_order_here(call, nth, error, 0);
        int status = look_for("both.test.", patience_ns);
        hits = wf_fault_hits();
        wf_fault_order_here(call, 0, 0, 0);
        bool is_allowed = status == 1 || status == 2;
        for (const int *one = allowed; *one; one++)
            is_allowed |= status == *one;
        if (!is_allowed)
            fprintf(stderr, "%s %ld: %d\n", wf_fault_name(call), nth, status);
        CHECK(is_allowed);
    }
    CHECK_EQ(look("both.test."), 2);
}

TEST(every_call_may_fail_once) {
    static const int memory[] = {-ENOMEM, -EAGAIN, -ETIMEDOUT, 0}, descriptors[] = {-EMFILE, 0},
                     network[] = {-EAGAIN, 0};
    if (!begin())
        return;
    sweep(WF_CALL_SOCKET, EMFILE, descriptors, PATIENCE_NS);
    sweep(WF_CALL_CONNECT, ENETUNREACH, network, PATIENCE_NS);
    sweep(WF_CALL_SEND, ECONNREFUSED, network, PATIENCE_NS);
    sweep(WF_CALL_RECEIVE, ECONNREFUSED, network, PATIENCE_NS);
    sweep(WF_CALL_EPOLL_CTL, ENOMEM, memory, PATIENCE_NS);
    sweep(WF_CALL_ALLOC, ENOMEM, memory,
          100 * WEFT_MILLISECOND); /* c-ares gets over some by trying again after seconds */
    end();
}

TEST(every_call_may_fail_for_ever) {
    if (!begin())
        return;
    wf_fault_order_here(WF_CALL_SOCKET, 1, EMFILE, 1);
    CHECK_EQ(look("one.test."), -EMFILE);
    wf_fault_order_here(WF_CALL_SOCKET, 1, ENOBUFS, 1);
    CHECK_EQ(look("one.test."), -ENOMEM);
    wf_fault_order_here(WF_CALL_CONNECT, 1, ENETUNREACH, 1);
    CHECK_EQ(look("one.test."), -EAGAIN);
    wf_fault_order_here(WF_CALL_ALLOC, 1, ENOMEM, 1);
    CHECK_EQ(look("one.test."), -ENOMEM);
    wf_fault_order_here(WF_CALL_COUNT, 0, 0, 0);
    CHECK_EQ(look("one.test."), 1);
    end();
}
