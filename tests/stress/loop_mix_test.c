/* SPDX-License-Identifier: MIT
 *
 * stress/loop_mix_test.c - everything that can be done to a loop, at once, by chance.
 *
 * Threads and callbacks set and clear timers, intervals and immediates, submit to every phase, add and remove descriptors,
 * promise something, keep the loop and let it go, wake and stop it, change how it sleeps, run other loops inside it, while its
 * owner runs it in every mode. Everything accepted has an account. At the
 * end, when the loop has ended because nothing was alive: a timer that was cleared with success has not fired, every other one
 * has fired once; an interval that was cleared has not started again; what was submitted has run once; nothing was early.
 */
#include <sys/eventfd.h>
#include <unistd.h>

#include "stress/loop.h"
#include "weft/loop_promise.h"

enum { ACTORS = 4, ACCOUNTS = 200000, RECENT = 64, PANICS = 5, NESTED = 3, BOARD = 16 };

enum kind { TIMEOUT, INTERVAL, IMMEDIATE, SUBMIT, REACTION, KINDS };

struct account {
    enum kind kind; /* constant once id is there, and for its callback */
    weft_time not_before;
    _Atomic uint64_t id; /* 0: not accepted yet */
    atomic_int fired;
    atomic_int cleared;
    atomic_int fired_when_cleared;
    atomic_int was_unkept; /* at some time: it need not fire */
};

static struct account accounts[ACCOUNTS];
static atomic_long next_account, steps_left;
static atomic_int next_actor, panics_made;
static int panics_told; /* the owner's */
static weft_loop *mixed;
static bool has_runtime; /* the owner is a fiber */
static uint64_t seed;

/* Descriptors that are added and removed, again and again; every other one is readable. */
static int board[BOARD];
static atomic_int added[BOARD], removed[BOARD], calls[BOARD];

static void act(uint64_t *random, bool is_callback);
static void clear_account(struct account *account);

static uint64_t random_of(uint64_t number) {
    uint64_t random = seed ^ ((number + 1) * 0x9E3779B97F4A7C15u);
    return random ? random : 1;
}

/* ---- What fires ---- */

static void fire(void *opaque) {
    struct account *account = opaque;
    int before = atomic_fetch_add(&account->fired, 1);
    uint64_t random = random_of((uint64_t)(account - accounts) * 31 + (uint64_t)before);
    CHECK(weft_loop_current() == mixed);
    CHECK(account->kind == INTERVAL || before == 0);
    if (account->kind == TIMEOUT || account->kind == INTERVAL)
        CHECK_GE(weft_now(), account->not_before);
    if (account->kind == INTERVAL && (atomic_load(&steps_left) <= 0 || random_below(&random, 8) == 0))
        clear_account(account);
    act(&random, true);
    if (account->kind != REACTION && random_below(&random, 100) == 0 && atomic_fetch_add(&panics_made, 1) < PANICS)
        weft_panic("account %ld, on purpose", (long)(account - accounts));
}

static void failed(weft_loop *loop, const weft_loop_failure *failure, void *arg) {
    CHECK(loop == mixed && strstr(failure->message, "on purpose") && !arg);
    panics_told++;
}

/* ---- What is done ---- */

static struct account *account_new(enum kind kind, int64_t delay) {
    long number = atomic_fetch_add(&next_account, 1);
    CHECK(number < ACCOUNTS);
    accounts[number].kind = kind;
    accounts[number].not_before = weft_after(delay);
    return &accounts[number];
}

static void accepted(struct account *account, int status, uint64_t id) {
    CHECK_EQ(status, 0);
    CHECK_NE(id, 0);
    atomic_store(&account->id, id);
}

static void set_timer(uint64_t *random, enum kind kind) {
    weft_loop_timer timer = {0};
    int64_t delay = (int64_t)random_below(random, 300) * WEFT_MICROSECOND;
    struct account *account = account_new(kind, delay);
    int status = kind == TIMEOUT ? weft_set_timeout(mixed, &timer, delay, fire, account)
                                 : weft_set_interval(mixed, &timer, delay, fire, account);
    accepted(account, status, timer.bits);
}

static void set_immediate(void) {
    weft_immediate immediate = {0};
    struct account *account = account_new(IMMEDIATE, 0);
    int status = weft_set_immediate(mixed, &immediate, fire, account);
    accepted(account, status, immediate.bits);
}

static void submit(uint64_t *random) {
    int (*const ways[])(weft_loop *, weft_loop_fn, void *) = {
        weft_loop_submit,         weft_loop_submit_internal, weft_loop_microtask,   weft_loop_next_tick,
        weft_loop_checkpoint_end, weft_loop_close_callback,  weft_loop_submit_poll,
    };
    struct account *account = account_new(SUBMIT, 0);
    accepted(account, ways[random_below(random, 7)](mixed, fire, account), 1);
}

/* One of the last, whose set has returned; or NULL. */
static struct account *any_account(uint64_t *random) {
    long number = atomic_load(&next_account) - 1 - (long)random_below(random, RECENT);
    return number >= 0 && atomic_load(&accounts[number].id) ? &accounts[number] : NULL;
}

static void note_cleared(struct account *account) {
    atomic_store(&account->fired_when_cleared, atomic_load(&account->fired));
    CHECK_EQ(atomic_fetch_add(&account->cleared, 1), 0);
}

static void clear_account(struct account *account) {
    uint64_t id = atomic_load(&account->id);
    if (account->kind > IMMEDIATE)
        return;
    int status = account->kind == IMMEDIATE ? weft_clear_immediate(mixed, (weft_immediate){id})
                                            : weft_clear_timer(mixed, (weft_loop_timer){id});
    CHECK(status == 0 || status == -ESTALE);
    if (status == 0)
        note_cleared(account);
}

static void clear_several(uint64_t *random) {
    enum { MOST = 5 };
    struct account *chosen[MOST];
    weft_loop_timer timers[MOST];
    int results[MOST], cleared = 0;
    size_t count = 0;
    for (int i = 0; i < MOST; i++) {
        struct account *account = any_account(random);
        if (!account || account->kind > INTERVAL)
            continue;
        chosen[count] = account;
        timers[count++].bits = atomic_load(&account->id);
    }
    int told = weft_clear_timers(mixed, timers, results, count);
    for (size_t i = 0; i < count; i++) {
        CHECK(results[i] == 0 || results[i] == -ESTALE);
        cleared += results[i] == 0;
        if (results[i] == 0)
            note_cleared(chosen[i]);
    }
    CHECK_EQ(told, cleared);
}

static void change(uint64_t *random) {
    struct account *account = any_account(random);
    if (!account || account->kind > IMMEDIATE)
        return;
    uint64_t id = atomic_load(&account->id);
    weft_loop_timer timer = {id};
    bool keeps = random_below(random, 2);
    int status;
    switch (random_below(random, 3)) {
    case 0:
        status = account->kind == IMMEDIATE ? 0 : weft_loop_timer_refresh(mixed, timer);
        break;
    case 1:
        status = account->kind == IMMEDIATE ? 0 : weft_loop_timer_keeps(mixed, timer);
        break;
    default:
        if (!keeps)
            atomic_store(&account->was_unkept, 1);
        status = account->kind == IMMEDIATE ? weft_immediate_keep(mixed, (weft_immediate){id}, keeps)
                                            : weft_loop_timer_keep(mixed, timer, keeps);
    }
    CHECK(status == 0 || status == 1 || status == -ESTALE);
}

static void keep_for_a_while(void) {
    CHECK_EQ(weft_loop_keep(mixed), 0);
    weft_yield();
    CHECK(weft_loop_is_alive(mixed));
    weft_loop_unkeep(mixed);
}

/* ---- Promises ---- */

static weft_reply react(void *value, void *opaque) {
    CHECK(value == opaque);
    fire(opaque);
    return weft_reply_value(NULL);
}

static weft_reply work(void *opaque) {
    weft_yield();
    return weft_reply_value(opaque);
}

static void promise_something(uint64_t *random, bool is_callback) {
    struct account *account = account_new(REACTION, 0);
    weft_promise *promise = NULL, *derived = NULL;
    bool is_work = has_runtime && is_callback && random_below(random, 2);
    CHECK_EQ(is_work ? weft_loop_promisify(mixed, &promise, NULL, work, account) : weft_loop_promise(mixed, &promise),
             0);
    accepted(account, weft_loop_then(mixed, promise, random_below(random, 2) ? &derived : NULL, react, NULL, account),
             1);
    if (!is_work)
        CHECK_EQ(weft_promise_resolve(promise, account), 0);
    weft_promise_unref(derived);
    weft_promise_unref(promise);
}

/* ---- Descriptors ---- */

static void remove_one(int place) {
    int status = weft_loop_fd_remove(mixed, board[place]);
    CHECK(status == 0 || status == -ENOENT);
    if (status == 0)
        atomic_fetch_add(&removed[place], 1);
}

static void ready(int fd, unsigned events, void *opaque) {
    int place = (int)((int *)opaque - board);
    CHECK_EQ(fd, board[place]);
    CHECK_EQ(events, WEFT_FD_READ);
    CHECK_EQ(place % 2, 1);
    uint64_t random = random_of(3000000 + (uint64_t)atomic_fetch_add(&calls[place], 1));
    if (random_below(&random, 2) || atomic_load(&steps_left) <= 0)
        remove_one(place);
    act(&random, true);
}

/* Callbacks do not add any: so there is an end. */
static void watch_something(uint64_t *random, bool is_callback) {
    int place = (int)random_below(random, BOARD), status = 0;
    switch (random_below(random, is_callback ? 2 : 4)) {
    case 0:
        remove_one(place);
        return;
    case 1:
        status = weft_loop_fd_modify(mixed, board[place], random_below(random, 2) ? WEFT_FD_READ : 0);
        CHECK(status == 0 || status == -ENOENT);
        return;
    case 2:
        status = weft_loop_set_fast(mixed, (weft_loop_fast)random_below(random, 3));
        CHECK(status == 0 || status == -ENOTSUP);
        return;
    default:
        status = weft_loop_fd_add(mixed, board[place], WEFT_FD_READ, ready, &board[place]);
        CHECK(status == 0 || status == -EEXIST || status == -ENOTSUP);
        if (status == 0)
            atomic_fetch_add(&added[place], 1);
    }
}

static void board_open(void) {
    for (int i = 0; i < BOARD; i++) {
        board[i] = eventfd(i % 2, EFD_CLOEXEC | EFD_NONBLOCK);
        CHECK_GE(board[i], 0);
        atomic_store(&added[i], 0);
        atomic_store(&removed[i], 0);
        atomic_store(&calls[i], 0);
    }
}

static void board_close(void) {
    for (int i = 0; i < BOARD; i++) {
        CHECK_EQ(atomic_load(&added[i]), atomic_load(&removed[i]));
        close(board[i]);
    }
}

/* ---- Other loops ---- */

static void count_nested(void *opaque) {
    ++*(int *)opaque;
}

/* Inside a callback, so its owner runs another loop to its end meanwhile. */
static void run_another(void) {
    weft_loop *inner = NULL;
    int count = 0;
    CHECK_EQ(weft_loop_run(mixed, WEFT_LOOP_NO_WAIT, WEFT_NOW), -EDEADLK);
    CHECK_EQ(weft_loop_new(&inner, NULL), 0);
    for (int i = 0; i < NESTED; i++) {
        CHECK_EQ(weft_set_timeout(inner, NULL, i * 10 * WEFT_MICROSECOND, count_nested, &count), 0);
        CHECK_EQ(weft_loop_microtask(inner, count_nested, &count), 0);
        CHECK_EQ(weft_loop_submit(inner, count_nested, &count), 0);
    }
    CHECK_EQ(weft_loop_run(inner, WEFT_LOOP_UNTIL_QUIET, WEFT_NEVER), 0);
    CHECK_EQ(count, 3 * NESTED);
    CHECK(weft_loop_current() == mixed);
    weft_loop_unref(inner);
}

static void act(uint64_t *random, bool is_callback) {
    if (atomic_fetch_sub(&steps_left, 1) <= 0)
        return;
    struct account *account = NULL;
    switch (random_below(random, 18)) {
    case 0:
    case 1:
    case 2:
        set_timer(random, TIMEOUT);
        break;
    case 3:
        set_timer(random, INTERVAL);
        break;
    case 4:
        set_immediate();
        break;
    case 5:
    case 6:
        submit(random);
        break;
    case 7:
    case 8:
        account = any_account(random);
        if (account)
            clear_account(account);
        break;
    case 9:
        clear_several(random);
        break;
    case 10:
    case 11:
        change(random);
        break;
    case 12:
        keep_for_a_while();
        break;
    case 13:
        CHECK_EQ(random_below(random, 2) ? weft_loop_wake(mixed) : weft_loop_stop(mixed), 0);
        break;
    case 14:
        promise_something(random, is_callback);
        break;
    case 15:
        watch_something(random, is_callback);
        break;
    case 16:
        if (is_callback && random_below(random, 4) == 0)
            run_another();
        break;
    default:
        weft_yield();
    }
}

/* ---- Who does it ---- */

static void *act_until_enough(void *arg) {
    uint64_t random = random_of(1000000 + (uint64_t)atomic_fetch_add(&next_actor, 1));
    while (atomic_load(&steps_left) > 0)
        act(&random, false);
    return arg;
}

static int run_in_every_mode(void *opaque) {
    struct owner *owner = opaque;
    uint64_t random = random_of(2000000);
    while (weft_loop_get_state(mixed) != WEFT_LOOP_TERMINATED) {
        weft_loop_mode mode = (weft_loop_mode)random_below(&random, 3);
        weft_time deadline = WEFT_NEVER;
        if (mode != WEFT_LOOP_ONCE && random_below(&random, 2))
            deadline = weft_after((int64_t)random_below(&random, 2000) * WEFT_MICROSECOND);
        int status = weft_loop_run(mixed, mode, deadline);
        CHECK(status == 0 || status == 1 || (status == -ETIMEDOUT && mode != WEFT_LOOP_NO_WAIT));
        owner->status = status;
    }
    return 0;
}

static void check_accounts(void) {
    long counts[KINDS] = {0}, cleared_in_all = 0, most = atomic_load(&next_account);
    for (long i = 0; i < most; i++) {
        struct account *account = &accounts[i];
        int fired = atomic_load(&account->fired), cleared = atomic_load(&account->cleared);
        bool need_not = atomic_load(&account->was_unkept);
        bool is_right = fired + cleared == 1 || (need_not && fired + cleared == 0);
        if (account->kind == INTERVAL)
            is_right = cleared ? fired <= atomic_load(&account->fired_when_cleared) + 1 : need_not;
        if (!is_right)
            fprintf(stderr, "account %ld: kind %d, fired %d, cleared %d, unkept %d\n", i, account->kind, fired, cleared,
                    need_not);
        CHECK(is_right);
        counts[account->kind]++;
        cleared_in_all += cleared;
    }
    printf("    %ld timeouts, %ld intervals, %ld immediates, %ld submits, %ld reactions; %ld cleared, %d panics\n",
           counts[TIMEOUT], counts[INTERVAL], counts[IMMEDIATE], counts[SUBMIT], counts[REACTION], cleared_in_all,
           panics_told);
}

static void mix(int way, long steps) {
    struct owner owner;
    pthread_t actors[ACTORS];
    memset(accounts, 0, sizeof accounts[0] * (size_t)atomic_load(&next_account));
    atomic_store(&next_account, 0);
    atomic_store(&steps_left, steps);
    atomic_store(&panics_made, 0);
    panics_told = 0;
    has_runtime = way & 2;
    board_open();
    mixed = loop_of(way, (weft_loop_options){.name = "mixed", .on_failure = failed});
    CHECK_EQ(weft_loop_keep(mixed), 0);
    owner_start_with(&owner, mixed, way, run_in_every_mode);
    for (int i = 0; i < ACTORS; i++)
        actors[i] = thread_start(act_until_enough, NULL);
    for (int i = 0; i < ACTORS; i++)
        thread_join(actors[i]);
    for (int i = 0; i < BOARD; i++)
        remove_one(i);
    weft_loop_unkeep(mixed);
    owner_join(&owner);
    check_accounts();
    board_close();
    int made = atomic_load(&panics_made);
    CHECK_EQ(panics_told, made < PANICS ? made : PANICS);
}

TEST(whatever_is_done_to_a_loop_everything_fires_once_or_was_cleared) {
    long rounds = amount(2, 1, 25);
    seed = wf_test_seed();
    for (long round = 0; round < rounds; round++)
        for (int way = 0; way < WAYS; way++, seed++)
            mix(way, amount(20000, 1500, 200000));
}
