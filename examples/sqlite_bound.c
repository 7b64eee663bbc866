/* SPDX-License-Identifier: MIT
 *
 * examples/sqlite_bound.c - a library that must stay on one thread, shared by many fibers.
 *
 * The database is opened without SQLite's own locks, so no two threads may use it at a time. One bound fiber owns it: it
 * opens it, executes what comes over a channel, and closes it, all as foreign calls on the thread that is its own. Any number
 * of light fibers send statements and await the promise that comes with each.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>

#include <weft.h>

enum { CUSTOMERS = 50, DEPOSITS = 20 };

/* One statement with up to two numbers in it. Its result is the first number of the first row, or 0. */
struct statement {
    const char *text;
    int64_t values[2];
    weft_promise *reply;
};

struct bank {
    WEFT_CHAN(struct statement) statements;
    sqlite3 *database;
    pthread_t thread;
};

static void must(int error, const char *what) {
    if (error)
        weft_fatal("%s: error %d", what, -error);
}

/* What a foreign call works on: the functions of SQLite see the thread's own stack. */
struct work {
    struct bank *bank;
    struct statement statement;
    int status;
    int64_t result;
};

static void open_database(void *arg) {
    struct work *work = arg;
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MEMORY | SQLITE_OPEN_NOMUTEX;
    work->bank->thread = pthread_self();
    work->status = sqlite3_open_v2(":memory:", &work->bank->database, flags, NULL);
}

static void execute(void *arg) {
    struct work *work = arg;
    sqlite3_stmt *prepared = NULL;
    if (!pthread_equal(work->bank->thread, pthread_self()))
        weft_fatal("the database is used by another thread");
    work->result = 0;
    work->status = sqlite3_prepare_v2(work->bank->database, work->statement.text, -1, &prepared, NULL);
    if (work->status != SQLITE_OK)
        return;
    for (int i = 0; i < sqlite3_bind_parameter_count(prepared); i++)
        sqlite3_bind_int64(prepared, i + 1, work->statement.values[i]);
    if (sqlite3_step(prepared) == SQLITE_ROW)
        work->result = sqlite3_column_int64(prepared, 0);
    work->status = sqlite3_finalize(prepared);
}

static void close_database(void *arg) {
    struct work *work = arg;
    work->status = sqlite3_close(work->bank->database);
}

/* The fiber that owns the database. */
static void *serve(void *arg) {
    struct bank *bank = arg;
    struct work work = {.bank = bank};
    must(weft_ffi_call(open_database, &work), "foreign call");
    if (work.status != SQLITE_OK)
        weft_fatal("cannot open a database");
    while (WEFT_CHAN_RECV(&bank->statements, &work.statement, WEFT_NEVER) == 0) {
        weft_promise *reply = work.statement.reply;
        must(weft_ffi_call(execute, &work), "foreign call");
        if (work.status == SQLITE_OK)
            weft_promise_resolve(reply, (void *)(intptr_t)work.result);
        else
            weft_promise_reject(reply, -EIO, sqlite3_errmsg(bank->database));
        weft_promise_unref(reply);
    }
    must(weft_ffi_call(close_database, &work), "foreign call");
    return work.status == SQLITE_OK && weft_is_bound() ? NULL : arg;
}

/* From any fiber: has it executed and waits for what comes of it. */
static int64_t query(struct bank *bank, const char *text, int64_t first, int64_t second) {
    struct statement statement = {.text = text, .values = {first, second}};
    weft_outcome outcome;
    must(weft_promise_new(&statement.reply), "cannot make a promise");
    weft_promise *reply = weft_promise_ref(statement.reply); /* the other reference goes to the owner */
    must(WEFT_CHAN_SEND(&bank->statements, &statement, WEFT_NEVER), "cannot send");
    must(weft_promise_await(reply, &outcome, WEFT_NEVER), "cannot wait");
    weft_promise_unref(reply);
    if (outcome.state != WEFT_PROMISE_RESOLVED)
        weft_panic("%s: %s", text, outcome.text);
    return (intptr_t)outcome.value;
}

struct customer {
    struct bank *bank;
    int64_t number;
};

static void *deposit(void *arg) {
    struct customer *self = arg;
    for (int64_t i = 1; i <= DEPOSITS; i++)
        query(self->bank, "INSERT INTO deposits VALUES (?, ?)", self->number, i * self->number);
    int64_t sum = query(self->bank, "SELECT sum(amount) FROM deposits WHERE customer = ?", self->number, 0);
    return sum == self->number * DEPOSITS * (DEPOSITS + 1) / 2 ? NULL : arg;
}

static int app(void *arg) {
    struct bank bank = {.database = NULL};
    struct customer customers[CUSTOMERS];
    weft_fiber owner, fibers[CUSTOMERS];
    weft_spawn_options options = {.name = "owner of the database", .bound = true};
    void *failed = arg;
    bool is_well = true;
    must(WEFT_CHAN_NEW(&bank.statements, 0), "cannot make a channel");
    must(weft_spawn_with(&owner, &options, serve, &bank), "cannot spawn");
    query(&bank, "CREATE TABLE deposits (customer INTEGER, amount INTEGER)", 0, 0);
    for (int i = 0; i < CUSTOMERS; i++) {
        customers[i] = (struct customer){&bank, i + 1};
        must(weft_spawn(&fibers[i], deposit, &customers[i]), "cannot spawn");
    }
    for (int i = 0; i < CUSTOMERS; i++) {
        must(weft_join(fibers[i], &failed, WEFT_NEVER), "cannot join");
        is_well = is_well && !failed;
    }
    int64_t count = query(&bank, "SELECT count(*) FROM deposits", 0, 0);
    int64_t total = query(&bank, "SELECT sum(amount) FROM deposits", 0, 0);
    must(WEFT_CHAN_CLOSE(&bank.statements), "cannot close");
    must(weft_join(owner, &failed, WEFT_NEVER), "cannot join");
    WEFT_CHAN_FREE(&bank.statements);
    printf("%d fibers made %" PRId64 " deposits of %" PRId64 " in all\n", CUSTOMERS, count, total);
    int64_t wanted = INT64_C(1) * CUSTOMERS * (CUSTOMERS + 1) / 2 * DEPOSITS * (DEPOSITS + 1) / 2;
    return is_well && !failed && count == CUSTOMERS * DEPOSITS && total == wanted ? 0 : 1;
}

int main(void) {
    return weft_run(NULL, app, NULL);
}
