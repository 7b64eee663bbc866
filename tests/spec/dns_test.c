/* SPDX-License-Identifier: MIT
 *
 * spec/dns_test.c - addresses of names: numbers, the machine's own names, servers that answer, lie and say nothing.
 *
 * The servers are ours, on this machine: no test needs a network.
 */
#include "weft/dns.h"

#include "support/child.h"
#include "support/dns_server.h"
#include "support/io.h"
#include "weft/scope.h"

enum { ROOM = 64, ASKERS = 20 };

static struct dns_server server;

static weft_resolve_options by_server(int family) {
    return (weft_resolve_options){.family = family, .servers = server.text};
}

static int look_until(const char *name, int family, weft_address *out, int room, weft_time deadline) {
    weft_resolve_options options = by_server(family);
    return weft_resolve(name, 80, out, room, &options, deadline);
}

static int look(const char *name, int family) {
    weft_address found[ROOM];
    return look_until(name, family, found, ROOM, weft_after(PATIENCE_NS));
}

/* Starts the server and forgets what others have left; false in a library without c-ares. */
static bool begin(void) {
    dns_server_start(&server);
    weft_resolve_forget(NULL);
    weft_address found;
    weft_resolve_options nobody = {.family = AF_INET, .servers = "127.0.0.1:1"};
    bool can_ask = weft_resolve("one.test.", 80, &found, 1, &nobody, WEFT_NEVER) != -ENOSYS;
    if (!can_ask)
        dns_server_stop(&server);
    return can_ask;
}

static void end(void) {
    dns_server_stop(&server);
}

static void check_text(const weft_address *address, const char *text) {
    char got[WEFT_ADDRESS_TEXT];
    CHECK_GE(weft_address_format(address, got, sizeof got), 0);
    CHECK_TEXT(got, text);
}

/* ---- Without a server ---- */

TEST_BOTH(a_number_is_its_own_address) {
    weft_address found[2];
    weft_resolve_options four = {.family = AF_INET}, six = {.family = AF_INET6};
    CHECK_EQ(weft_resolve("192.0.2.7", 53, found, 2, NULL, WEFT_NOW), 1);
    check_text(&found[0], "192.0.2.7:53");
    CHECK_EQ(weft_resolve("2001:db8::7", 65535, found, 2, &six, WEFT_NOW), 1);
    check_text(&found[0], "[2001:db8::7]:65535");
    CHECK_EQ(weft_resolve("192.0.2.7", 53, found, 2, &six, WEFT_NOW), -ENOENT);
    CHECK_EQ(weft_resolve("::1", 53, found, 2, &four, WEFT_NOW), -ENOENT);
}

TEST_BOTH(localhost_is_known_without_a_network) {
    weft_address found[4];
    weft_resolve_options four = {.family = AF_INET}, six = {.family = AF_INET6};
    CHECK_GE(weft_resolve("localhost", 80, found, 4, NULL, WEFT_NOW), 1);
    CHECK_EQ(weft_resolve("LocalHost.", 80, found, 1, &four, WEFT_NOW), 1);
    check_text(&found[0], "127.0.0.1:80");
    CHECK_GE(weft_resolve("localhost", 80, found, 4, &six, WEFT_NOW), 1);
    check_text(&found[0], "[::1]:80");
    CHECK_EQ(weft_resolve("db.localhost", 80, found, 4, NULL, WEFT_NOW), 2);
    CHECK_EQ(weft_resolve("db.localhost", 80, found, 1, NULL, WEFT_NOW), 1);
    CHECK_NE(weft_resolve("notlocalhost.", 80, found, 4, NULL, WEFT_NOW), 2);
}

TEST(what_is_not_a_name_is_refused) {
    char longest[256], label[80];
    weft_address found;
    memset(longest, 'a', sizeof longest);
    for (int i = 10; i < 255; i += 10)
        longest[i] = '.';
    longest[254] = 0; /* 254 bytes */
    memset(label, 'b', sizeof label);
    strcpy(label + 64, ".test");
    const char *const bad[] = {"",     ".",       "..",        "a..b", ".a", "a..",   "a b", "a\\b",
                               "a\nb", "[::1]:2", "h\xc3\xa4", "a/b",  "*",  longest, label};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        CHECK_EQ(weft_resolve(bad[i], 80, &found, 1, NULL, WEFT_NOW), -EINVAL);
    longest[253] = 0;
    CHECK_NE(weft_resolve(longest, 80, &found, 1, NULL, WEFT_NOW), -EINVAL);
    CHECK_NE(weft_resolve(label + 1, 80, &found, 1, NULL, WEFT_NOW), -EINVAL);
}

TEST(wrong_arguments_are_refused) {
    weft_address found;
    weft_resolve_options family = {.family = AF_UNIX};
    CHECK_EQ(weft_resolve(NULL, 80, &found, 1, NULL, WEFT_NOW), -EINVAL);
    CHECK_EQ(weft_resolve("::1", 80, NULL, 1, NULL, WEFT_NOW), -EINVAL);
    CHECK_EQ(weft_resolve("::1", 80, &found, 0, NULL, WEFT_NOW), -EINVAL);
    CHECK_EQ(weft_resolve("::1", 80, &found, -1, NULL, WEFT_NOW), -EINVAL);
    CHECK_EQ(weft_resolve("::1", 65536, &found, 1, NULL, WEFT_NOW), -EINVAL);
    CHECK_EQ(weft_resolve("::1", 80, &found, 1, &family, WEFT_NOW), -EINVAL);
    weft_resolve_forget("..");
    weft_resolve_forget("never.asked.for");
}

/* ---- What servers say ---- */

TEST_BOTH(servers_are_asked) {
    weft_address found[ROOM];
    if (!begin())
        return;
    CHECK_EQ(look_until("one.test.", 0, found, ROOM, WEFT_NEVER), 1);
    check_text(&found[0], "192.0.2.1:80");
    CHECK_EQ(look_until("both.test.", 0, found, ROOM, WEFT_NEVER), 2);
    CHECK_NE(found[0].storage.ss_family, found[1].storage.ss_family);
    CHECK_EQ(look_until("both-2.test.", 0, found, 1, WEFT_NEVER), 1);
    CHECK_EQ(look_until("six.test.", AF_INET6, found, ROOM, WEFT_NEVER), 1);
    check_text(&found[0], "[2001:db8::1]:80");
    CHECK_EQ(look_until("alias.test.", AF_INET, found, ROOM, WEFT_NEVER), 1);
    check_text(&found[0], "192.0.2.1:80");
    end();
}

TEST_BOTH(what_is_not_there_is_enoent) {
    if (!begin())
        return;
    CHECK_EQ(look("nx.test.", 0), -ENOENT);
    CHECK_EQ(look("none.test.", 0), -ENOENT);
    CHECK_EQ(look("six.test.", AF_INET), -ENOENT);
    end();
}

TEST_BOTH(no_answer_is_eagain) {
    if (!begin())
        return;
    CHECK_EQ(look("fails.test.", AF_INET), -EAGAIN);
    CHECK_EQ(look("fails.test.", 0), -EAGAIN);
    CHECK_EQ(look("refuses.test.", AF_INET), -EAGAIN);
    CHECK_EQ(look("broken.test.", AF_INET), -EAGAIN);
    end();
    CHECK_EQ(look("one-2.test.", AF_INET), -EAGAIN); /* nobody is there any more */
}

TEST_BOTH(an_answer_that_was_cut_short_comes_by_tcp) {
    weft_address found[ROOM];
    if (!begin())
        return;
    CHECK_EQ(look("cut.test.", AF_INET), 1);
    CHECK_EQ(atomic_load(&server.asked_tcp), 1);
    CHECK_EQ(look("cut-2.test.", 0), 1);
    CHECK_EQ(look_until("many.test.", AF_INET, found, ROOM, WEFT_NEVER), DNS_MANY);
    CHECK_EQ(look_until("many.test.", AF_INET, found, 3, WEFT_NEVER), 3);
    end();
}

TEST_BOTH(false_answers_are_not_believed) {
    weft_address found;
    if (!begin())
        return;
    CHECK_EQ(look_until("wrong.test.", AF_INET, &found, 1, WEFT_NEVER), 1);
    check_text(&found, "192.0.2.1:80");
    end();
}

TEST(servers_that_cannot_be_read_are_refused) {
    static const char *const bad[] = {"",           "nowhere", "127.0.0.1:99999", "1.2.3",         ",",
                                      "127.0.0.1,", "*:53",    "unix:/run/dns",   "127.0.0.1;::1", "[::1"};
    char many[33 * 8 + 1] = "";
    weft_address found;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        weft_resolve_options options = {.servers = bad[i]};
        CHECK_EQ(weft_resolve("::1", 80, &found, 1, &options, WEFT_NOW), -EINVAL);
    }
    for (int i = 0; i < 33; i++)
        strcat(many, i ? ",1.2.3.4" : "1.2.3.4");
    weft_resolve_options options = {.servers = many};
    CHECK_EQ(weft_resolve("::1", 80, &found, 1, &options, WEFT_NOW), -EINVAL);
    options.servers = "127.0.0.1,[::1]:5353,::1,1.2.3.4:53";
    CHECK_EQ(weft_resolve("::1", 80, &found, 1, &options, WEFT_NOW), 1);
}

/* Longer than what the cache has room for: it is asked each time. */
TEST_BOTH(servers_are_asked_in_turn) {
    char several[256];
    weft_address found;
    if (!begin())
        return;
    snprintf(several, sizeof several, "%s,%s",
             "127.0.0.1:1,127.0.0.1:1,127.0.0.1:1,127.0.0.1:1,127.0.0.1:1,127.0.0.1:1,127.0.0.1:1,[::1]:1",
             server.text);
    weft_resolve_options options = {.family = AF_INET, .servers = several};
    for (int i = 1; i <= 2; i++) {
        CHECK_EQ(weft_resolve("one.test.", 80, &found, 1, &options, WEFT_NEVER), 1);
        CHECK_EQ(dns_server_asked(&server), i);
    }
    end();
}

/* ---- Time and cancellation ---- */

TEST_BOTH(silence_lasts_until_the_deadline) {
    weft_address found;
    if (!begin())
        return;
    CHECK_EQ(look_until("one.test.", AF_INET, &found, 1, WEFT_NOW), -ETIMEDOUT);
    CHECK_EQ(dns_server_asked(&server), 0);
    CHECK_EQ(look_until("silent.test.", AF_INET, &found, 1, weft_after(5 * WEFT_MILLISECOND)), -ETIMEDOUT);
    CHECK_EQ(look_until("silent.test.", AF_INET, &found, 1, weft_now()), -ETIMEDOUT);
    CHECK_EQ(look("one.test.", AF_INET), 1);
    CHECK_EQ(look_until("one.test.", AF_INET, &found, 1, WEFT_NOW), 1);
    end();
}

struct look_up {
    const char *name;
    weft_time deadline; /* 0: patience */
    atomic_int status;
    weft_fiber fiber;
};

static void *look_main(void *opaque) {
    struct look_up *what = opaque;
    weft_address found[ROOM];
    weft_time deadline = what->deadline ? what->deadline : weft_after(PATIENCE_NS);
    atomic_store(&what->status, look_until(what->name, AF_INET, found, ROOM, deadline));
    return NULL;
}

static int look_child(void *opaque) {
    struct look_up *what = opaque;
    what->fiber = weft_self();
    look_main(opaque);
    return 0;
}

static void body_cancel(void) {
    struct look_up what = {.name = "silent.test."};
    weft_scope *scope;
    CHECK_EQ(weft_scope_open(&scope, NULL), 0);
    CHECK_EQ(weft_scope_go(scope, look_child, &what), 0);
    WAIT_UNTIL(dns_server_asked(&server) > 0);
    CHECK_EQ(weft_scope_cancel(scope, 0, NULL), 0);
    CHECK_EQ(look("one.test.", AF_INET), -ECANCELED);
    CHECK_EQ(weft_scope_close(scope), -ECANCELED);
    CHECK_EQ(atomic_load(&what.status), -ECANCELED);
}

TEST(who_is_cancelled_stops_asking) {
    if (!begin())
        return;
    run_fibers(body_cancel);
    end();
}

/* ---- What is kept ---- */

TEST_BOTH(answers_are_kept) {
    weft_address found;
    if (!begin())
        return;
    weft_resolve_options fresh = by_server(AF_INET);
    fresh.is_fresh = true;
    CHECK_EQ(look("one.test.", AF_INET), 1);
    CHECK_EQ(look("ONE.Test.", AF_INET), 1);
    CHECK_EQ(look("nx.test.", AF_INET), -ENOENT);
    CHECK_EQ(look("nx.test.", AF_INET), -ENOENT);
    CHECK_EQ(dns_server_asked(&server), 2);
    CHECK_EQ(weft_resolve("one.test.", 80, &found, 1, &fresh, WEFT_NEVER), 1);
    CHECK_EQ(weft_resolve("one.test.", 80, &found, 1, &fresh, WEFT_NOW), -ETIMEDOUT);
    CHECK_EQ(dns_server_asked(&server), 3);
    CHECK_EQ(look("fails.test.", AF_INET), -EAGAIN);
    int asked = dns_server_asked(&server);
    CHECK_EQ(look("fails.test.", AF_INET), -EAGAIN);
    CHECK_GE(dns_server_asked(&server), asked + 1);
    end();
}

TEST_BOTH(what_is_forgotten_is_asked_for_again) {
    if (!begin())
        return;
    CHECK_EQ(look("one.test.", AF_INET), 1);
    CHECK_EQ(look("one-2.test.", AF_INET), 1);
    weft_resolve_forget("One.Test");
    CHECK_EQ(look("one.test.", AF_INET), 1);
    CHECK_EQ(look("one-2.test.", AF_INET), 1);
    CHECK_EQ(dns_server_asked(&server), 3);
    weft_resolve_forget(NULL);
    CHECK_EQ(look("one.test.", AF_INET), 1);
    CHECK_EQ(look("one-2.test.", AF_INET), 1);
    CHECK_EQ(dns_server_asked(&server), 5);
    end();
}

/* ---- Many who ask at once ---- */

static void start_parked(struct look_up *what) {
    SPAWN(&what->fiber, look_main, what);
    wait_parked(what->fiber);
}

static void body_one_question(void) {
    struct look_up askers[ASKERS], second = {.name = "held-2.test."};
    struct on_thread_call thread;
    struct look_up outside = {.name = "held.test."};
    for (int i = 0; i < ASKERS; i++) {
        askers[i] = (struct look_up){.name = "held.test."};
        start_parked(&askers[i]);
    }
    on_thread_start(&thread, look_main, &outside);
    WAIT_UNTIL(dns_server_asked(&server) == 1);
    start_parked(&second);
    WAIT_UNTIL(dns_server_asked(&server) == 2);
    dns_server_release(&server);
    for (int i = 0; i < ASKERS; i++) {
        JOIN(askers[i].fiber, NULL);
        CHECK_EQ(atomic_load(&askers[i].status), 1);
    }
    JOIN(second.fiber, NULL);
    CHECK_EQ(atomic_load(&second.status), 1);
    on_thread_finish(&thread);
    CHECK_EQ(atomic_load(&outside.status), 1);
    CHECK_EQ(dns_server_asked(&server), 2);
}

TEST(who_comes_later_waits_for_the_same_answer) {
    if (!begin())
        return;
    run_fibers(body_one_question);
    end();
}

static void body_take_over(void) {
    struct look_up first = {.name = "held.test."}, others[3];
    weft_scope *scope;
    CHECK_EQ(weft_scope_open(&scope, NULL), 0);
    CHECK_EQ(weft_scope_go(scope, look_child, &first), 0);
    WAIT_UNTIL(dns_server_asked(&server) == 1);
    for (int i = 0; i < 3; i++) {
        others[i] = (struct look_up){.name = "held.test."};
        if (i == 1) /* gives up while it waits */
            others[i].deadline = weft_after(WEFT_MILLISECOND);
        SPAWN(&others[i].fiber, look_main, &others[i]);
        if (i != 1)
            wait_parked(others[i].fiber);
    }
    JOIN(others[1].fiber, NULL);
    CHECK_EQ(atomic_load(&others[1].status), -ETIMEDOUT);
    CHECK_EQ(weft_scope_cancel(scope, 0, NULL), 0);
    CHECK_EQ(weft_scope_close(scope), -ECANCELED);
    CHECK_EQ(atomic_load(&first.status), -ECANCELED);
    WAIT_UNTIL(dns_server_asked(&server) == 2);
    dns_server_release(&server);
    for (int i = 0; i < 3; i += 2) {
        JOIN(others[i].fiber, NULL);
        CHECK_EQ(atomic_load(&others[i].status), 1);
    }
    CHECK_EQ(dns_server_asked(&server), 2);
}

TEST(when_the_first_is_cancelled_the_next_one_asks) {
    if (!begin())
        return;
    run_fibers(body_take_over);
    end();
}

/* Whether the second comes in time to wait for the first or not, it has to ask. */
static void body_late(void) {
    struct look_up first = {.name = "held.test.", .deadline = weft_after(10 * WEFT_MILLISECOND)};
    struct look_up second = {.name = "held.test."};
    SPAWN(&first.fiber, look_main, &first);
    SPAWN(&second.fiber, look_main, &second);
    JOIN(first.fiber, NULL);
    CHECK_EQ(atomic_load(&first.status), -ETIMEDOUT);
    dns_server_release(&server);
    JOIN(second.fiber, NULL);
    CHECK_EQ(atomic_load(&second.status), 1);
}

TEST(when_the_first_is_late_the_next_one_asks) {
    if (!begin())
        return;
    run_fibers(body_late);
    end();
}

static void body_many_names(void) {
    struct look_up askers[ASKERS];
    char names[ASKERS][32];
    for (int i = 0; i < ASKERS; i++) {
        snprintf(names[i], sizeof names[i], "both-%d.test.", i / 2);
        askers[i] = (struct look_up){.name = names[i]};
        SPAWN(&askers[i].fiber, look_main, &askers[i]);
    }
    for (int i = 0; i < ASKERS; i++) {
        JOIN(askers[i].fiber, NULL);
        CHECK_EQ(atomic_load(&askers[i].status), 1);
    }
    CHECK_EQ(dns_server_asked(&server), ASKERS / 2);
}

TEST(many_names_are_asked_for_at_once) {
    if (!begin())
        return;
    run_fibers(body_many_names);
    end();
}

/* ---- Ends ---- */

static struct look_up dropped[3], outsider;

static int leave_them(void *arg) {
    (void)arg;
    for (int i = 0; i < 3; i++) {
        dropped[i] = (struct look_up){.name = "held.test."};
        weft_fiber fiber;
        SPAWN(&fiber, look_main, &dropped[i]);
        wait_parked(fiber);
    }
    WAIT_UNTIL(dns_server_asked(&server) == 1);
    return 0;
}

static void *outsider_main(void *opaque) {
    WAIT_UNTIL(dns_server_asked(&server) == 1);
    return look_main(opaque);
}

/* Whether the thread waits for the fiber's answer by then or asks by itself, it gets one. */
TEST(a_runtime_that_drops_its_fibers_leaves_nothing) {
    weft_options options = {.abandon = true};
    if (!begin())
        return;
    outsider = (struct look_up){.name = "held.test."};
    pthread_t thread = thread_start(outsider_main, &outsider);
    CHECK_EQ(weft_run(&options, leave_them, NULL), 0);
    WAIT_UNTIL(dns_server_asked(&server) == 2);
    dns_server_release(&server);
    thread_join(thread);
    CHECK_EQ(atomic_load(&outsider.status), 1);
    end();
}

/* Numbers still work; with no descriptor to be had nothing else does. */
static void without_descriptors(void *arg) {
    struct rlimit none = {0, 0};
    weft_address found;
    (void)arg;
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
    CHECK_EQ(weft_resolve("192.0.2.1", 80, &found, 1, NULL, WEFT_NEVER), 1);
    CHECK_EQ(look("one.test.", AF_INET), -EMFILE);
}

TEST(without_descriptors_it_is_emfile) {
    if (!begin())
        return;
    struct child_end end_of_child = child_run(without_descriptors, NULL);
    CHECK_CHILD_WELL(&end_of_child);
    CHECK_EQ(dns_server_asked(&server), 0);
    end();
}
