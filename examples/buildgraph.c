/* SPDX-License-Identifier: MIT
 *
 * examples/buildgraph.c - builds what can be built: targets are works that come after others.
 *
 * The rules are read from a text, "target: what it needs". Every target becomes a work with its name as id, which comes after
 * the works with the names it needs, submitted or not yet. What does not depend on each other is built at the same time. One
 * source has an error: what needs it, directly or not, is not begun and names it as the cause; everything else is built. Two
 * targets that need each other are refused, and what needs a target that nobody makes is found waiting for ever.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <weft.h>

enum { TARGETS_MAX = 32, NEEDS_MAX = 8, NAME_SIZE = 16 };

/* "!" marks a target whose recipe fails. */
static const char rules[] = "all: editor viewer docs\n"
                            "editor: main.o undo.o libtext.a\n"
                            "viewer: view.o libtext.a\n"
                            "stats: count.o libbase.a\n"
                            "docs: manual.html\n"
                            "libtext.a: utf8.o lines.o libbase.a\n"
                            "libbase.a: list.o heap.o\n"
                            "main.o:\n"
                            "undo.o:\n"
                            "view.o:\n"
                            "utf8.o!:\n"
                            "lines.o:\n"
                            "list.o:\n"
                            "heap.o:\n"
                            "count.o:\n"
                            "manual.html: manual.txt\n"
                            "manual.txt:\n"
                            "hen: egg\n"
                            "egg: hen\n";

struct target {
    char name[NAME_SIZE];
    char needs[NEEDS_MAX][NAME_SIZE];
    size_t need_count;
    bool is_broken;
    weft_work work;
    int submit_error;
    int built_as; /* its place in the order, from 1; 0: not built */
};

struct build {
    struct target targets[TARGETS_MAX];
    size_t count;
    weft_mutex lock;
    int built;
};

static struct build build = {.lock = WEFT_MUTEX_INIT};

static void must(int error, const char *what) {
    if (error)
        weft_fatal("%s: error %d", what, -error);
}

static void read_rules(const char *text) {
    char line[128];
    for (const char *end; (end = strchr(text, '\n')); text = end + 1) {
        snprintf(line, sizeof line, "%.*s", (int)(end - text), text);
        struct target *target = &build.targets[build.count++];
        char *rest = strchr(line, ':');
        *rest++ = 0;
        target->is_broken = line[strlen(line) - 1] == '!';
        snprintf(target->name, sizeof target->name, "%.*s", (int)strcspn(line, "!"), line);
        char *place;
        for (char *need = strtok_r(rest, " ", &place); need; need = strtok_r(NULL, " ", &place))
            snprintf(target->needs[target->need_count++], NAME_SIZE, "%s", need);
    }
}

static struct target *find_target(const char *name) {
    for (size_t i = 0; i < build.count; i++)
        if (strcmp(build.targets[i].name, name) == 0)
            return &build.targets[i];
    return NULL;
}

static struct target *target_of(weft_work work) {
    for (size_t i = 0; i < build.count; i++)
        if (build.targets[i].work.bits == work.bits)
            return &build.targets[i];
    return NULL;
}

/* The recipe: would call a compiler. */
static int compile(void *arg) {
    struct target *target = arg;
    if (target->is_broken)
        return -ENOEXEC;
    int error = weft_mutex_lock(&build.lock, WEFT_NEVER); /* if it has to wait, its thread builds something else */
    if (error)
        return error;
    target->built_as = ++build.built;
    weft_mutex_unlock(&build.lock);
    return 0;
}

static void submit_target(weft_pool *pool, struct target *target) {
    weft_work_id needs[NEEDS_MAX];
    for (size_t i = 0; i < target->need_count; i++)
        needs[i] = (weft_work_id){.text = target->needs[i]};
    weft_work_options options = {
        .id.text = target->name,
        .after_ids = needs,
        .after_id_count = target->need_count,
    };
    target->submit_error = weft_pool_submit_with(pool, &target->work, &options, compile, target);
    if (target->submit_error == -ELOOP)
        printf("%s needs itself, and is left out\n", target->name);
    else
        must(target->submit_error, "cannot submit");
}

/* Says what became of it. False: not what had to. */
static bool check_target(weft_pool *pool, struct target *target) {
    weft_result result;
    if (target->submit_error)
        return strcmp(target->name, "egg") == 0;
    must(weft_pool_poll_work(pool, target->work, &result), "a result is missing");
    if (result.status == WEFT_WORK_CANCELLED)
        return strcmp(target->name, "hen") == 0 && result.attempts == 0;
    if (result.status == WEFT_WORK_SUCCEEDED) {
        bool is_good = target->built_as > 0;
        for (size_t i = 0; i < target->need_count; i++) {
            int before = find_target(target->needs[i])->built_as;
            is_good = is_good && before > 0 && before < target->built_as;
        }
        return is_good;
    }
    const struct target *cause = result.cause.bits ? target_of(result.cause) : target;
    if (cause == target)
        printf("%s: failed\n", target->name);
    else
        printf("%s: not built, because of %s\n", target->name, cause ? cause->name : "?");
    return result.status == WEFT_WORK_FAILED && target->built_as == 0 && cause && cause->is_broken &&
           result.error == (target->is_broken ? -ENOEXEC : -ENOENT);
}

int main(void) {
    weft_pool *pool;
    weft_pool_options options = {.name = "build", .suspended = true, .store_results = true};
    read_rules(rules);
    must(weft_pool_new(&pool, &options), "cannot make a pool");
    for (size_t i = 0; i < build.count; i++)
        submit_target(pool, &build.targets[i]);
    must(weft_pool_start(pool), "cannot start");

    /* Everything that could be built is, and the hen waits for an egg that was refused. */
    int status = weft_pool_wait(pool, WEFT_NEVER);
    weft_work left[TARGETS_MAX];
    size_t left_count = weft_pool_list(pool, WEFT_WORK_PENDING, left, TARGETS_MAX);
    for (size_t i = 0; i < left_count; i++)
        printf("%s waits for what nobody makes\n", target_of(left[i])->name);
    bool is_good = status == -EDEADLK && left_count == 1 && weft_pool_control_all(pool, WEFT_CANCEL) == 1;
    must(weft_pool_wait(pool, WEFT_NEVER), "cannot wait");

    weft_pool_stats stats;
    must(weft_pool_get_stats(pool, &stats), "no statistics");
    for (size_t i = 0; i < build.count; i++)
        is_good = check_target(pool, &build.targets[i]) && is_good;
    printf("%llu built, %llu not\n", (unsigned long long)stats.succeeded, (unsigned long long)stats.failed);
    is_good = is_good && stats.succeeded == 12 && stats.failed == 5 && stats.cancelled == 1 && stats.is_idle;
    weft_pool_free(pool);
    return is_good ? 0 : 1;
}
